// files.mjs GOLDEN - the tool `memory` answers word for word as the reference implementation in
// Anthropic's SDK did when the transcript was recorded: one command per line, the answer below it.
import { readFileSync } from "node:fs";

import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

import { attempt, finish, freshStore, is, ok, stdio } from "./lib.mjs";

const lines = readFileSync(process.argv[2], "utf8").split("\n").filter(Boolean);
const client = new Client({ name: "loci-tests", version: "1.0.0" });
await client.connect(new StdioClientTransport({ ...stdio(freshStore()), stderr: "ignore" }));
ok("the transcript has commands", lines.length >= 40 && lines.length % 2 === 0, lines.length);
for (let at = 0; at < lines.length; at += 2) {
    await attempt(lines[at], async () => {
        const wanted = JSON.parse(lines[at + 1]);
        const result = await client.callTool({ name: "memory", arguments: JSON.parse(lines[at]) });
        const text = result.content.map((block) => block.text).join("\n");
        is(lines[at], wanted, { [result.isError ? "error" : "ok"]: text });
    });
}
await client.close();
await finish();
