// frameworks.mjs - agent frameworks as clients, each with its own implementation or use of MCP:
// they list and call every tool over stdio and over HTTP.
import { createMCPClient } from "@ai-sdk/mcp";
import { Experimental_StdioMCPTransport as StdioTransport } from "@ai-sdk/mcp/mcp-stdio";
import { MultiServerMCPClient } from "@langchain/mcp-adapters";
import { MCPServerStdio, MCPServerStreamableHttp } from "@openai/agents";
import { generateText, isStepCount } from "ai";
import { MockLanguageModelV4 } from "ai/test";

import { checkTools, play } from "./calls.mjs";
import { attempt, daemon, finish, freshStore, has, is, stdio } from "./lib.mjs";

const joined = (content) => content.map((block) => block.text ?? "").join("\n");
const plain = (result) => ({
    structured: result.structuredContent,
    text: joined(result.content),
    isError: result.isError,
});

// Each: opened from {command, args, env, cwd} or {url, headers}, gives {names, tools, call, close}.
// `tools` is as in tools/list, for frameworks that show it.
const frameworks = {
    "Vercel AI SDK": async (how) => {
        const transport = how.url ? { type: "http", url: how.url, headers: how.headers }
                                  : new StdioTransport({ ...how, stderr: "ignore" });
        const client = await createMCPClient({ transport });
        const { tools } = await client.listTools();
        const callable = await client.tools();
        return {
            tools,
            names: Object.keys(callable),
            async call(name, args) {
                const options = { toolCallId: "call", messages: [] };
                return plain(await callable[name].execute(args, options));
            },
            close: () => client.close(),
        };
    },
    "LangChain": async (how) => {
        const server = how.url ? { transport: "http", url: how.url, headers: how.headers }
                               : { transport: "stdio", ...how, stderr: "ignore" };
        const client = new MultiServerMCPClient({
            mcpServers: { loci: server }, throwOnLoadError: true, useStandardContentBlocks: true,
        });
        const tools = await client.getTools();
        const callable = Object.fromEntries(tools.map((tool) => [tool.name, tool]));
        return {
            names: tools.map((tool) => tool.name),
            // A call answers with one block or a list of them; a tool's error is an exception.
            async call(name, args) {
                try {
                    const blocks = [await callable[name].invoke(args)].flat();
                    return { structured: blocks[0].structuredContent, text: joined(blocks) };
                } catch (error) {
                    // It checks arguments itself, and then the server has not said anything.
                    const isOwn = error.message.includes("did not match expected schema");
                    return { text: isOwn ? undefined : error.message, isError: true };
                }
            },
            close: () => client.close(),
        };
    },
    "OpenAI Agents": async (how) => {
        const server = how.url
            ? new MCPServerStreamableHttp({ name: "loci", url: how.url,
                                            requestInit: { headers: how.headers } })
            : new MCPServerStdio({ name: "loci", ...how });
        await server.connect();
        const tools = await server.listTools();
        return {
            tools,
            names: tools.map((tool) => tool.name),
            call: async (name, args) => plain(await server.callToolResult(name, args)),
            close: () => server.close(),
        };
    },
};

async function run(who, open, how) {
    const client = await open(how);
    if (client.tools) {
        is(`${who}: every listed tool can be called`, client.tools.map(({ name }) => name).sort(),
           [...client.names].sort());
        checkTools(who, client.tools);
    }
    await play(who, client.call, client.tools?.every((tool) => tool.outputSchema) && client.tools);
    await client.close();
}

// The loop of an agent: a model, here one that says what it is told to, asks for calls and is shown
// their results.
async function runLoop(who) {
    const client = await createMCPClient(
        { transport: new StdioTransport({ ...stdio(freshStore()), stderr: "ignore" }) });
    const say = (content, reason) => ({
        content, finishReason: { unified: reason, raw: reason }, warnings: [],
        usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } },
    });
    const call = (toolName, input) => say(
        [{ type: "tool-call", toolCallId: toolName, toolName, input: JSON.stringify(input) }],
        "tool-calls");
    const model = new MockLanguageModelV4({ doGenerate: [
        call("set_fact", { key: "city", value: "Oslo" }),
        call("read_facts", { action: "current", key: "city" }),
        say([{ type: "text", text: "Oslo." }], "stop"),
    ] });
    const { steps, text } = await generateText({
        model, tools: await client.tools(), stopWhen: isStepCount(5), prompt: "Which city?",
    });
    is(`${who}: steps`, 3, steps.length);
    is(`${who}: answer`, "Oslo.", text);
    has(`${who}: the model sees the result`, "city = Oslo",
        JSON.stringify(model.doGenerateCalls[2].prompt.at(-1)));
    await client.close();
}

await attempt("Vercel AI SDK, loop", () => runLoop("Vercel AI SDK, loop"));
await Promise.all(Object.entries(frameworks).flatMap(([name, open]) => [
    attempt(`${name}, stdio`, () => run(`${name}, stdio`, open, stdio(freshStore()))),
    attempt(`${name}, HTTP`, async () => {
        const served = await daemon(freshStore());
        await run(`${name}, HTTP`, open, { url: served.url, headers: served.headers });
        await served.stop();
    }),
]));
await finish();
