// clients.mjs - the official SDK, v1 and v2, as clients: everything a server offers, in both
// protocol generations, over stdio and over HTTP.
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js";
import { StreamableHTTPClientTransport as HttpV1 } from
    "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { ResourceListChangedNotificationSchema, ResourceUpdatedNotificationSchema } from
    "@modelcontextprotocol/sdk/types.js";
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from
    "@modelcontextprotocol/client";
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio";

import { checkTools, play } from "./calls.mjs";
import { attempt, daemon, finish, freshStore, has, is, ok, stdio, until } from "./lib.mjs";

const INFO = { name: "loci-tests", version: "1.0.0" };
const LISTED_BYTES_MAX = 10 * 1024;

// The versions and generations of the SDK. `watch` tells of updates of one resource.
const kinds = {
    "v1": {
        client: () => new ClientV1(INFO),
        stdio: StdioV1,
        http: HttpV1,
        async watch(client, uri, heard) {
            client.setNotificationHandler(ResourceUpdatedNotificationSchema, (message) =>
                heard(message.params.uri));
            client.setNotificationHandler(ResourceListChangedNotificationSchema, () => {});
            await client.subscribeResource({ uri });
            return () => client.unsubscribeResource({ uri });
        },
    },
    "v2 legacy": {
        client: () => new ClientV2(INFO),
        stdio: StdioV2,
        http: HttpV2,
        era: "legacy",
        async watch(client, uri, heard) {
            client.setNotificationHandler("notifications/resources/updated", (message) =>
                heard(message.params.uri));
            await client.subscribeResource({ uri });
            return () => client.unsubscribeResource({ uri });
        },
    },
    "v2 auto": modern("auto"),
    "v2 modern": modern({ pin: "2026-07-28" }),
};

function modern(mode) {
    return {
        client: () => new ClientV2(INFO, { versionNegotiation: { mode } }),
        stdio: StdioV2,
        http: HttpV2,
        era: "modern",
        async watch(client, uri, heard) {
            client.setNotificationHandler("notifications/resources/updated", (message) =>
                heard(message.params.uri));
            const subscription = await client.listen({ resourceSubscriptions: [uri] });
            return () => subscription.close();
        },
    };
}

async function checkResources(who, client) {
    const { resources } = await client.listResources();
    const uris = resources.map((resource) => resource.uri);
    for (const uri of ["loci://facts", "loci://memories", "loci://sessions", "loci://context"])
        ok(`${who}: ${uri} is listed`, uris.includes(uri), uris);
    const { resourceTemplates } = await client.listResourceTemplates();
    ok(`${who}: there are templates`, resourceTemplates.length > 0);
    await client.callTool({ name: "set_fact", arguments: { key: "team", value: "Orion" } });
    for (const resource of resources) {
        const { contents } = await client.readResource({ uri: resource.uri });
        ok(`${who}: ${resource.uri} has contents`,
           contents.length > 0 && typeof contents[0].text === "string", JSON.stringify(contents));
    }
    const { contents } = await client.readResource({ uri: "loci://facts" });
    has(`${who}: loci://facts shows the fact`, "Orion", contents[0].text);
    await client.readResource({ uri: "loci://no-such-thing" }).then(
        () => ok(`${who}: an unknown resource is refused`, false),
        (error) => ok(`${who}: an unknown resource is refused`,
                      [-32002, -32602].includes(error.code), error));
    const found = await complete(client, resourceTemplates);
    ok(`${who}: arguments of templates are completed`, found.includes("team"),
       JSON.stringify(resourceTemplates), JSON.stringify(found));
}

// All completions of all arguments of all templates, for what begins with "te".
async function complete(client, templates) {
    const found = [];
    for (const { uriTemplate } of templates) {
        for (const [, name] of uriTemplate.matchAll(/\{[?&]?(\w+)/g)) {
            const ref = { type: "ref/resource", uri: uriTemplate };
            const { completion } = await client.complete({ ref, argument: { name, value: "te" } });
            found.push(...completion.values);
        }
    }
    return found;
}

async function checkPrompts(who, client) {
    const { prompts } = await client.listPrompts();
    const names = prompts.map((prompt) => prompt.name);
    for (const name of ["bootstrap", "relational", "technical", "creative", "handoff"])
        ok(`${who}: the prompt ${name} is listed`, names.includes(name), names);
    for (const prompt of prompts) {
        const args = Object.fromEntries((prompt.arguments ?? [])
            .filter((argument) => argument.required).map(({ name }) => [name, "Orion"]));
        const { messages } = await client.getPrompt({ name: prompt.name, arguments: args });
        ok(`${who}: the prompt ${prompt.name} says something`,
           messages.length > 0 && messages[0].content.text.length > 0, JSON.stringify(messages));
    }
    await client.getPrompt({ name: "no-such-prompt" }).then(
        () => ok(`${who}: an unknown prompt is refused`, false),
        (error) => is(`${who}: an unknown prompt is refused`, -32602, error.code));
}

async function checkUpdates(who, client, watch) {
    const heard = [];
    const end = await watch(client, "loci://facts", (uri) => heard.push(uri));
    await client.callTool({ name: "set_fact", arguments: { key: "team", value: "Lyra" } });
    ok(`${who}: an update is told`, await until(10, () => heard.length > 0));
    ok(`${who}: nothing else is told`, heard.every((uri) => uri === "loci://facts"), heard);
    await end();
    const before = heard.length;
    await client.callTool({ name: "set_fact", arguments: { key: "team", value: "Vega" } });
    await client.listTools();
    is(`${who}: nothing is told after the end`, before, heard.length);
}

async function run(who, kind, transport) {
    const client = kind.client();
    await client.connect(transport);
    is(`${who}: the server says its name`, "loci", client.getServerVersion()?.name);
    ok(`${who}: the server says how to use it`, client.getInstructions()?.length > 0 &&
       client.getInstructions().length <= 2000);
    if (kind.era) is(`${who}: generation`, kind.era, client.getProtocolEra());

    const { tools } = await client.listTools();
    checkTools(who, tools);
    const bytes = Buffer.byteLength(JSON.stringify({ tools }));
    ok(`${who}: the list of tools is short`, bytes <= LISTED_BYTES_MAX, bytes);
    await play(who, async (name, args) => {
        const result = await client.callTool({ name, arguments: args });
        return {
            structured: result.structuredContent,
            text: result.content.map((block) => block.text ?? "").join("\n"),
            isError: result.isError,
        };
    }, tools);
    await client.callTool({ name: "no_such_tool", arguments: {} }).then(
        (result) => ok(`${who}: an unknown tool is refused`, false, JSON.stringify(result)),
        (error) => is(`${who}: an unknown tool is refused`, -32602, error.code));
    await attempt(`${who}: resources`, () => checkResources(who, client));
    await attempt(`${who}: prompts`, () => checkPrompts(who, client));
    await attempt(`${who}: updates`, () => checkUpdates(who, client, kind.watch));
    await client.close();
}

// The ways to reach a server: each has a store of its own, so all of them run at the same time.
const ways = {
    "stdio": (who, kind) =>
        run(who, kind, new kind.stdio({ ...stdio(freshStore()), stderr: "ignore" })),
    "HTTP": async (who, kind) => {
        const served = await daemon(freshStore());
        const options = { requestInit: { headers: served.headers } };
        await run(who, kind, new kind.http(new URL(served.url), options));
        await served.stop();
    },
    // `loci mcp` beside a daemon that has the store open.
    "stdio and daemon": async (who, kind) => {
        const store = freshStore();
        const served = await daemon(store);
        await run(who, kind, new kind.stdio({ ...stdio(store), stderr: "ignore" }));
        await served.stop();
    },
};

await Promise.all(Object.entries(kinds).flatMap(([name, kind]) =>
    Object.entries(ways).map(([way, reach]) =>
        attempt(`${name}, ${way}`, () => reach(`${name}, ${way}`, kind)))));
await finish();
