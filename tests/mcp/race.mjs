// race.mjs [PEER] - writes that are sent without waiting for each other are all kept: 20 in one
// process, 40 over two. The official memory server, whose script PEER names, reads its whole file
// and writes it back for each of them; its figures are printed for comparison.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { finish, freshStore, is, loci, raw, stdio } from "./lib.mjs";

const EACH = 20;

// EACH calls per client, all sent before an answer is read. Returns how many were not refused.
async function write(clients, tool, argument) {
    const answers = await Promise.all(clients.flatMap((client, process) =>
        Array.from({ length: EACH }, (_, number) =>
            client.call(tool, argument(`${process}-${number}`)))));
    return answers.filter((answer) => answer.content && !answer.isError).length;
}

async function open(count, how) {
    const clients = Array.from({ length: count }, () => raw(how));
    await Promise.all(clients.map((client) => client.open()));
    return clients;
}

async function race(count) {
    const store = freshStore();
    const clients = await open(count, stdio(store));
    const all = count * EACH;
    is(`${all} facts are accepted`, all, await write(clients, "set_fact", (name) =>
        ({ key: `key-${name}`, value: `value ${name}` })));
    is(`${all} memories are accepted`, all, await write(clients, "remember", (name) =>
        ({ text: `Ticket ${name} belongs to customer C${name}.` })));
    is(`${all} files are accepted`, all, await write(clients, "memory", (name) =>
        ({ command: "create", path: `/memories/${name}.md`, file_text: name })));
    for (const client of clients) is("the server ends", 0, await client.exit());

    // Counted by another process, when all writers have gone.
    const [reader] = await open(1, stdio(store));
    const { structuredContent } = await reader.call("read_facts", { action: "list", limit: 50 });
    is(`${all} facts are kept`, all, structuredContent.facts.length);
    const files = await reader.call("memory", { command: "view", path: "/memories" });
    is(`${all} files are kept`, all, files.content?.[0].text.match(/\.md$/gm)?.length);
    await reader.exit();
    const memories = loci("--store", store, "memory", "list", "--limit", "100", "--json");
    is(`${all} memories are kept`, all, JSON.parse(memories).memories.length);
}

async function peerRace(script, count) {
    const file = join(freshStore(), "..", "memory.jsonl");
    const clients = await open(count, { command: process.execPath, args: [script],
                                        env: { ...process.env, MEMORY_FILE_PATH: file } });
    const accepted = await write(clients, "create_entities", (name) =>
        ({ entities: [{ name, entityType: "ticket", observations: [name] }] }));
    for (const client of clients) await client.exit();
    const kept = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n").length : 0;
    console.log(`server-memory: ${kept} of ${count * EACH} entities kept, ${accepted} accepted`);
}

for (const count of [1, 2]) {
    await race(count);
    if (process.argv[2]) await peerRace(process.argv[2], count);
}
await finish();
