// mastra.mjs - Mastra as a client: lists and calls every tool, over stdio and over HTTP.
import { MCPClient } from "@mastra/mcp";

import { play } from "./calls.mjs";
import { attempt, daemon, finish, freshStore, is, stdio } from "./lib.mjs";

const NAMES = 11;

async function run(who, server) {
    const client = new MCPClient({ id: who, servers: { loci: server } });
    const tools = await client.listTools(); // Their names begin with the server's.
    is(`${who}: all tools are listed`, NAMES, Object.keys(tools).length);
    await play(who, async (name, args) => {
        const result = await tools[`loci_${name}`].execute(args, {});
        // It answers with the structured result if there is one, otherwise with all of it.
        const text = result.content?.map((block) => block.text ?? "").join("\n");
        return result.content
            ? { structured: result.structuredContent, text, isError: result.isError }
            : { structured: result, text: JSON.stringify(result), isError: Boolean(result.error) };
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
