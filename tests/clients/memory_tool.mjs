// memory_tool.mjs - the memory tool in the tool loop of Anthropic's SDK, in front of a server that
// plays the model: it asks for one command after the other, and keeps the results.
import { createServer } from "node:http";
import Anthropic from "@anthropic-ai/sdk";
import { betaMemoryTool } from "@anthropic-ai/sdk/helpers/beta/memory";
import { Loci, LociError } from "loci-client";
import { MEMORY_TOOL, memoryToolHandlers, memoryToolResult } from "loci-client/memory-tool";
import { done, fails, is } from "./check.mjs";

const path = "/memories/project/notes.md";
const commands = [
    { command: "create", path, file_text: "alpha\nbeta\n" },
    { command: "str_replace", path, old_str: "beta", new_str: "gamma" },
    { command: "insert", path, insert_line: 1, insert_text: "between" },
    { command: "view", path, view_range: [1, 2] },
    { command: "rename", old_path: path, new_path: "/memories/notes.md" },
    { command: "view", path },
    { command: "view", path: "/memories" },
    { command: "delete", path: "/memories/notes.md" },
];
const results = [];
const model = createServer(async (request, answer) => {
    let text = "";
    for await (const piece of request) text += piece;
    const body = JSON.parse(text);
    const last = body.messages.at(-1);
    if (typeof last.content === "string") is("the tool is declared", [MEMORY_TOOL], body.tools);
    else results.push(...last.content.filter((each) => each.type === "tool_result"));
    const input = commands[results.length];
    answer.setHeader("content-type", "application/json");
    answer.end(JSON.stringify({
        id: "msg_1", type: "message", role: "assistant", model: "test",
        stop_reason: input ? "tool_use" : "end_turn", stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
        content: [input ? { type: "tool_use", id: `toolu_${results.length}`, name: "memory", input }
            : { type: "text", text: "done" }],
    }));
});
await new Promise((resolve) => model.listen(0, "127.0.0.1", resolve));

const loci = new Loci({ url: process.env.URL_, token: process.env.TOKEN, userId: "model" });
const baseURL = `http://127.0.0.1:${model.address().port}`;
const anthropic = new Anthropic({ apiKey: "k", baseURL });
const final = await anthropic.beta.messages.toolRunner({
    model: "test", max_tokens: 100, messages: [{ role: "user", content: "Take notes." }],
    tools: [betaMemoryTool(memoryToolHandlers(loci))],
});
is("the model ends", "done", final.content[0].text);
const texts = results.map((each) => typeof each.content === "string" ? each.content
    : each.content[0].text);
is("all commands ran", commands.length, texts.length);
is("the file is created", true, texts[0].startsWith("File created successfully"));
is("it has both edits", true, /1\talpha\n.*2\tbetween/.test(texts[3]));
is("only a missing file is an error", [5], results.flatMap((each, i) => each.is_error ? [i] : []));
is("and says so", true, texts[5].includes("does not exist"));
is("the directory lists the renamed file", true, texts[6].includes("/memories/notes.md"));
is("nothing is left", [], (await loci.file.list({ path: "/memories" })).files);

// ---- A tool loop of one's own

const block = (input) => ({ type: "tool_use", id: "toolu_x", name: "memory", input });
is("a result", { type: "tool_result", tool_use_id: "toolu_x",
    content: "File created successfully at: /memories/a.md" },
await memoryToolResult(loci, block({ command: "create", path: "/memories/a.md", file_text: "a" })));
const refused = await memoryToolResult(loci, block({ command: "view", path: "/etc/passwd" }));
is("a refused path", true, refused.is_error);
const unknown = await memoryToolResult(loci, block({ command: "constructor" }));
is("an unknown command", true, unknown.is_error);
const nobody = new Loci({ url: "http://127.0.0.1:1", retries: 0 });
is("no daemon is not for the model", true,
    await fails("it", memoryToolResult(nobody, block({ command: "view", path: "/memories" })))
        .then((error) => error instanceof LociError));
model.close();
done();
