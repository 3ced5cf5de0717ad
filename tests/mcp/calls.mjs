// calls.mjs - every call of every tool, in an order in which each finds what it needs.
//
// A client that lists and calls tools is given a `call(name, arguments)` that returns
// {structured, text, isError}; play() makes all calls with it and checks what comes back. A tool,
// or an action of a tool, that is listed and not called here is a failure: add its call.
import { Ajv2020 } from "ajv/dist/2020.js";

import { fail, includes, is, ok, where } from "./lib.mjs";

const some = (list) => list.length > 0;

// `is`: members of the structured result. `text`: a part of the text. `as`: a name under which
// later calls find the result. `isError`: the tool refuses, in words for a model.
const calls = [
    ["set_fact", { key: "city", value: "Oslo" }, { is: { outcome: "created" } }],
    ["set_fact", { key: "city", value: "Bergen" }, { is: { outcome: "superseded" } }],
    ["read_facts", { action: "current", key: "city" },
     { is: { facts: [{ key: "city", value: "Bergen" }] }, text: "Bergen" }],
    ["read_facts", { action: "history", key: "city" },
     { is: { facts: (facts) => facts.length === 2 }, text: "Oslo" }],
    ["read_facts", { action: "list" }, { is: { facts: some }, text: "Bergen" }],
    ["set_fact", { key: "city", value: "Trondheim", trust: "web" }, { is: { outcome: "claimed" } }],
    ["read_facts", { action: "claims" }, { is: { facts: [{ value: "Trondheim" }] } }],
    ["read_facts", { action: "current", key: "city" }, { is: { facts: [{ value: "Bergen" }] } }],
    ["remember", { text: "Ann drinks green tea in the morning." },
     { is: { outcome: "created" }, as: "memory" }],
    ["recall", { query: "What does Ann drink?" },
     { is: { results: some }, text: "green tea" }],
    ["observe", { text: "The deadline of the report is Friday.", speaker: "user" },
     { is: { message_id: /^msg_/ } }],
    ["search_sessions", { query: "deadline report" },
     { is: { results: some }, text: "Friday", as: "found" }],
    ["context", { query: "Where does the user live, and what does Ann drink?" },
     { is: { text: /Bergen/ }, text: "Bergen" }],
    ["todo", { action: "add", text: "Send the report to Bob" },
     { is: { id: /./, status: "open" }, as: "todo" }],
    ["todo", (seen) => ({ action: "update", id: seen.todo.id, text: "Send the report to Eve" }),
     { is: { text: "Send the report to Eve" } }],
    ["read_facts", { action: "todos" }, { is: { todos: [{ status: "open" }] }, text: "Eve" }],
    ["todo", (seen) => ({ action: "done", id: seen.todo.id }), { is: { status: "done" } }],
    ["forget", (seen) => ({ action: "memory", id: seen.memory.id }),
     { is: { dry_run: true, items: some } }],
    ["recall", { query: "green tea" }, { text: "green tea" }],
    ["forget", (seen) => ({ action: "memory", id: seen.memory.id, dry_run: false }),
     { is: { dry_run: false, items: some } }],
    ["recall", { query: "What does Ann drink?" },
     { is: { results: (all) => all.every((each) => !each.text.includes("green tea")) } }],
    ["forget", (seen) => ({ action: "todo", id: seen.todo.id }), { is: { dry_run: true } }],
    ["forget", { action: "fact", key: "city" }, { is: { dry_run: true } }],
    ["forget", (seen) => ({ action: "session", message_id: seen.found.results[0].message_id }),
     { is: { dry_run: true } }],
    ["retract_fact", { key: "city" }, { is: { outcome: "retracted" } }],
    ["memory", { command: "view", path: "/memories" }, { text: "/memories" }],
    ["memory", { command: "create", path: "/memories/a.md", file_text: "one\ntwo\n" },
     { text: "File created successfully at: /memories/a.md" }],
    ["memory", { command: "view", path: "/memories/a.md" }, { text: "     2\ttwo" }],
    ["memory", { command: "str_replace", path: "/memories/a.md", old_str: "two", new_str: "2" },
     { text: "has been edited" }],
    ["memory", { command: "insert", path: "/memories/a.md", insert_line: 0, insert_text: "zero\n" },
     { text: "has been edited" }],
    ["memory", { command: "rename", old_path: "/memories/a.md", new_path: "/memories/b.md" },
     { text: "Successfully renamed" }],
    ["memory", { command: "delete", path: "/memories/b.md" }, { text: "Successfully deleted" }],
    ["memory", { command: "view", path: "/memories/b.md" }, { isError: true, text: "not exist" }],
    // A window is opened by the host: loci window open.
    ["view_window", { action: "map" }, { text: "# Mind map" }],
    ["page", { action: "in", id: "text:a" }, { text: "Deploy on Tuesdays only." }],
    ["view_window", { action: "pressure" }, { text: "low" }],
    ["view_window", { action: "candidates" }, { text: "text:a" }],
    ["page", { action: "attention", id: "text:a", attention: 2 }, { text: "hot" }],
    ["page", { action: "annotate", id: "text:a", text: "Read first" }, { text: "Read first" }],
    ["page", { action: "out", id: "text:a" }, { text: "indexed" }],
    ["page", { action: "in", id: "text:missing" }, { isError: true, text: "no resource" }],
    ["frame", { action: "push", goal: "Find the cause of the timeout", budget: 8000 },
     { is: { id: /^frm_/, status: "active" }, as: "root" }],
    ["frame", (seen) => ({ action: "push", goal: "Read the pool", parent_id: seen.root.id }),
     { is: { id: /^frm_/ }, text: "Read the pool", as: "child" }],
    ["frame", (seen) => ({ action: "tool_begin", id: seen.child.id, call_id: "c1", name: "grep" }),
     { is: { status: "running" } }],
    ["frame", (seen) => ({ action: "tool_end", id: seen.child.id, call_id: "c1",
                           output: "pool.c: 10 connections" }),
     { is: { status: "done" } }],
    ["frame", (seen) => ({ action: "pack", id: seen.child.id }),
     { is: { text: /10 connections/ }, text: "10 connections" }],
    ["frame", (seen) => ({ action: "pop", id: seen.child.id, result: "The pool was exhausted" }),
     { is: { status: "completed" } }],
    ["frame", (seen) => ({ action: "update", id: seen.root.id, status: "waiting" }),
     { is: { status: "waiting" } }],
    ["frame", (seen) => ({ action: "suspend", id: seen.root.id, reason: "waits for approval" }),
     { is: { token: /^frt_/ }, text: "frt_", as: "paused" }],
    ["frame", (seen) => ({ action: "resume", token: seen.paused.token }),
     { is: { status: "active" } }],
    ["frame", (seen) => ({ action: "resume", token: seen.paused.token }),
     { isError: true, text: "it was used before" }],
    ["read_facts", { action: "history" }, { isError: true, text: "key" }],
    ["set_fact", { key: "city" }, { isError: true, text: "value" }],
    ["recall", { query: "x", limit: 100000 }, { isError: true, text: "limit" }],
];

export const names = [...new Set(calls.map(([tool]) => tool))];

// What a list of tools must be, whoever asks for it. `tools` as in tools/list.
export function checkTools(who, tools) {
    ok(`${who}: at most 14 tools`, tools.length > 0 && tools.length <= 14, tools.length);
    is(`${who}: every tool is called`, tools.map((tool) => tool.name).sort(), [...names].sort());
    for (const tool of tools) {
        const hints = tool.annotations ?? {};
        ok(`${who}: ${tool.name} says what it is`,
           tool.title && tool.description && tool.inputSchema?.type === "object" &&
           tool.outputSchema?.type === "object", JSON.stringify(tool));
        ok(`${who}: ${tool.name} has all hints`,
           ["readOnlyHint", "destructiveHint", "openWorldHint"].every(
               (hint) => typeof hints[hint] === "boolean") && hints.openWorldHint === false,
           JSON.stringify(hints));
        for (const selector of ["action", "command"]) {
            const values = tool.inputSchema.properties?.[selector]?.enum ?? [];
            const called = calls.filter(([name]) => name === tool.name)
                .map(([, args]) => (typeof args === "function" ? args(anything) : args)[selector]);
            for (const value of values)
                ok(`${who}: ${tool.name} ${value} is called`, called.includes(value));
        }
    }
}

// Ids in the text of a client that shows no structured results.
function found(text) {
    const id = /\b(?:mem|todo|msg|frm)_[0-9A-Za-z]+/.exec(text)?.[0];
    const token = /\bfrt_[0-9a-f]+/.exec(text)?.[0];
    return { id, token, results: [{ message_id: id }] };
}

const anything = new Proxy({}, { get: () => anything });

// Makes all calls. With `tools` (of a client that shows output schemas), results are validated. A
// client that shows no structured results, or no text, returns undefined for it.
export async function play(who, call, tools) {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    const validators = new Map(
        (tools || []).map((tool) => [tool.name, ajv.compile(tool.outputSchema)]));
    const seen = {};
    for (const [tool, given, expected] of calls) {
        const args = typeof given === "function" ? given(seen) : given;
        const name = `${who}: ${tool} ${JSON.stringify(args)}`;
        let result;
        try {
            result = await call(tool, args);
        } catch (error) {
            fail(name, where(error));
            continue;
        }
        const { structured, text, isError } = result;
        if (Boolean(isError) !== Boolean(expected.isError)) {
            fail(name, `isError: ${isError}`, text);
            continue;
        }
        if (expected.text !== undefined && text !== undefined)
            ok(`${name}: text`, text.includes(expected.text), `wanted: ${expected.text}`, text);
        if (expected.is && structured !== undefined)
            ok(`${name}: result`, includes(structured, expected.is), JSON.stringify(structured));
        if (validators.has(tool) && !isError) {
            const validate = validators.get(tool);
            ok(`${name}: schema`, structured !== undefined && validate(structured),
               JSON.stringify(validate.errors), JSON.stringify(structured));
        }
        if (expected.as)
            seen[expected.as] = structured ?? found(text);
    }
}
