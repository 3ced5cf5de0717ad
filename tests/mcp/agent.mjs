// agent.mjs - a scripted agent of 30 steps with a real client over stdio: it remembers, corrects
// itself, is killed twice with its server, once with a write under way, and ends with the right
// context.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";

import { finish, freshStore, has, includes, lacks, loci, ok, stdio, where } from "./lib.mjs";

const store = freshStore();
let client;
let transport;

async function connect() {
    client = new Client({ name: "scripted-agent", version: "1.0.0" });
    transport = new StdioClientTransport({ ...stdio(store), stderr: "ignore" });
    await client.connect(transport);
    await client.listTools(); // From here on the client validates results.
}

async function kill() {
    const closed = new Promise((done) => { client.onclose = done; });
    process.kill(transport.pid, "SIGKILL");
    await closed;
}

const seen = {};
let steps = 0;

// One step: a call, and members that its result must have. The result is kept as `as`.
async function step(name, args, expected = {}, as = undefined) {
    const title = `step ${++steps}, ${name} ${JSON.stringify(args)}`;
    try {
        const result = await client.callTool({ name, arguments: args });
        const text = result.content.map((block) => block.text ?? "").join("\n");
        ok(title, !result.isError && includes(result.structuredContent, expected),
           text, JSON.stringify(result.structuredContent));
        if (as) seen[as] = result.structuredContent;
        return text;
    } catch (error) {
        ok(title, false, where(error));
        return "";
    }
}

const current = (value) => ({ facts: [{ value }] });

await connect();
await step("context", { query: "What do I know?" });
await step("set_fact", { key: "project", value: "Heron" }, { outcome: "created" });
await step("set_fact", { key: "deadline", value: "14 March" }, { outcome: "created" });
await step("set_fact", { key: "database", value: "MySQL" }, { outcome: "created" });
await step("set_fact", { key: "region", value: "eu-west" }, { outcome: "created" });
await step("set_fact", { key: "style", value: "short answers, no greetings", is_constraint: true },
           { outcome: "created" });
await step("remember", { text: "The staging server is called plover." }, {}, "plover");
await step("todo", { action: "add", text: "Write the migration guide" }, { status: "open" },
           "guide");
await step("todo", { action: "add", text: "Ask Ravi for the schema review" }, { status: "open" });
await step("observe", { text: "We deploy every Tuesday.", speaker: "user" }, { message_id: /./ });

await kill();
await connect();
await step("read_facts", { action: "current", key: "deadline" }, current("14 March"));
await step("set_fact", { key: "deadline", value: "21 March" }, { outcome: "superseded" });
has("step 13 finds the memory", "plover", await step("recall", { query: "staging server" }));
await step("forget", { action: "memory", id: seen.plover?.id, dry_run: false }, { dry_run: false });
await step("remember", { text: "The staging server is called curlew." });
await step("set_fact", { key: "database", value: "PostgreSQL" }, { outcome: "superseded" });
await step("todo", { action: "done", id: seen.guide?.id }, { status: "done" });
await step("memory", { command: "create", path: "/memories/progress.md",
                       file_text: "Step 1 done\n" });
await step("set_fact", { key: "deadline", value: "1 April", trust: "web" }, { outcome: "claimed" });
steps++; // Nobody waits for this one.
client.callTool({ name: "set_fact", arguments: { key: "logo", value: "blue" } }).catch(() => {});
await kill();

await connect();
const logo = await client.callTool(
    { name: "read_facts", arguments: { action: "history", key: "logo" } });
ok("the write under way is there as a whole or not at all",
   logo.isError || logo.structuredContent.facts.every((fact) => fact.value === "blue"),
   JSON.stringify(logo));
await step("read_facts", { action: "history", key: "deadline" },
           { facts: (facts) => facts.some(({ value }) => value === "14 March") });
await step("memory", { command: "str_replace", path: "/memories/progress.md", old_str: "Step 1",
                       new_str: "Step 2" });
await step("retract_fact", { key: "region", reason: "There is no region." });
await step("observe", { text: "Actually, the deadline is 28 March.", speaker: "user" });
await step("read_facts", { action: "current", key: "deadline" }, current("28 March"));
has("step 26 finds the message", "Tuesday", await step("search_sessions", { query: "deploy" }));
const todos = await step("read_facts", { action: "todos" }, { todos: [{ status: "open" }] });
has("step 27 shows the open todo", "Ravi", todos);
has("step 28 shows the file", "Step 2 done",
    await step("memory", { command: "view", path: "/memories/progress.md" }));
has("step 29 finds the memory", "curlew", await step("recall", { query: "staging server" }));
const context = await step(
    "context", { query: "Prepare the release of Heron on the staging server.", budget: 1000 });
ok("30 steps", steps === 30, steps);
for (const part of ["Heron", "28 March", "PostgreSQL", "curlew", "short answers", "Ravi"])
    has("the context has what is true", part, context);
for (const part of ["14 March", "21 March", "MySQL", "eu-west", "plover", "migration guide"])
    lacks("the context has nothing that is not", part, context);
await client.close();

const verified = loci("--store", store, "store", "verify", "--json");
ok("the store is whole", JSON.parse(verified).sound, verified);
await finish();
