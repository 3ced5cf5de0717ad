// mastra.mjs - Mastra as a client: lists and calls every tool, over stdio and over HTTP.
import { MCPClient } from "@mastra/mcp";

import { names, play } from "./calls.mjs";
import { attempt, daemon, finish, freshStore, is, stdio } from "./lib.mjs";

console.error = console.warn = () => {}; // It prints every error of a tool with its stack.

async function run(who, server) {
    const client = new MCPClient({ id: who, servers: { loci: server } });
    const tools = await client.listTools(); // Their names begin with the server's.
    is(`${who}: all tools are listed`, names.map((name) => `loci_${name}`).sort(),
       Object.keys(tools).sort());
    await play(who, async (name, args) => {
        try {
            // It answers with the structured result alone, or says that arguments are wrong.
            const result = await tools[`loci_${name}`].execute(args, {});
            const text = result.text ?? JSON.stringify(result);
            return { structured: result, text, isError: Boolean(result.error) };
        } catch (error) {
            return { text: error.message, isError: true };
        }
    });
    await client.disconnect();
}

await attempt("stdio", () => run("Mastra, stdio", stdio(freshStore())));
await attempt("HTTP", async () => {
    const served = await daemon(freshStore());
    await run("Mastra, HTTP",
              { url: new URL(served.url), requestInit: { headers: served.headers } });
    await served.stop();
});
await finish();
