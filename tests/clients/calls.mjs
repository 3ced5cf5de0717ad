// calls.mjs - every operation's example through the Node.js client, compared with plain HTTP;
// pages, batches, faults of a proxy, timeouts, aborts, errors. It needs loci-client.
import { Loci, LociConnectionError, LociError, LociTimeoutError, OPERATIONS } from "loci-client";
import { done, fails, is } from "./check.mjs";

const { URL_, TOKEN, SOCKET, PROXY } = process.env;
const loci = new Loci({ url: URL_, token: TOKEN });

// ---- Every operation

async function plain(name, args, key) {
    const answer = await fetch(`${URL_}/v1/call/${name}`, {
        method: "POST",
        body: JSON.stringify(args),
        headers: { authorization: `Bearer ${TOKEN}`, ...(key ? { "idempotency-key": key } : {}) },
    });
    return { status: answer.status, value: await answer.json() };
}

// Members that differ from call to call, and times: a job that is waited for is another one each
// time, and a secret is in the first answer only.
const CHANGING = new Set(["counters", "memory", "usage", "job_id", "embedded", "token", "note"]);
// Readings of the machine, which change several times per second.
const MEASURED = new Set(["guard.status", "store.activity"]);
const still = (value) => JSON.parse(JSON.stringify(value, (name, each) =>
    CHANGING.has(name) ? undefined
        : typeof each === "string" ? each.replace(/\d{4}-\d\d-\d\dT[0-9:.]+Z/g, "*") : each));
const camel = (name) => name.replace(/_(\w)/g, (_, letter) => letter.toUpperCase());

const table = (await loci.op.list()).operations;
is("the client has the operations of the daemon (tools/generate_clients)", [], table
    .map((op) => op.name).filter((name) => !(name in OPERATIONS)));
is("and no others", table.length, Object.keys(OPERATIONS).length);
for (const { name, example = {} } of table) {
    const [room, method] = name.split(".");
    const { lost } = OPERATIONS[name];
    const key = lost === "key" ? `compare ${name}` : undefined;
    // The client repeats a change by its key, so it must get the stored answer.
    const expected = await plain(name, example, key);
    const args = key ? { ...example, request_id: key } : example;
    try {
        const answer = await loci[room][camel(method)](args);
        is(`${name} succeeds`, 200, expected.status);
        if (lost === "fail" || MEASURED.has(name)) { // Without a key it is run twice.
            is(`${name} has the same members`, Object.keys(expected.value).sort(),
                Object.keys(answer).sort());
            continue;
        }
        if (key) delete answer.replayed;
        is(name, still(expected.value), still(answer));
    } catch (error) {
        if (lost === "fail" && expected.status === 200) {
            is(`${name} finds that it was run before`, true, [404, 409].includes(error.status));
            continue;
        }
        is(`${name} as an error`, [expected.status, expected.value.code, expected.value.detail],
            [error.status, error.code, error.message]);
    }
}

// ---- Pages, batches, defaults

const nora = new Loci({ socket: SOCKET, userId: "nora" });
const keys = Array.from({ length: 7 }, (_, i) => `page_${i}`);
for (const key of keys) await nora.fact.write({ key, value: null });
const first = await nora.fact.list({ limit: 3 });
is("one page", 3, first.facts.length);
const found = [];
for await (const fact of nora.fact.listAll({ limit: 3 })) found.push(fact.key);
is("all pages, over a socket, of the client's user", keys, found);
const seqs = [];
for await (const event of nora.event.listAll({ after_seq: 2, limit: 2 })) seqs.push(event.seq);
is("pages of a list that starts elsewhere", [3, 4, 5, 6, 7], seqs);
is("the other user has none of it", "not_found",
    (await fails("a fact of another user", loci.fact.get({ id: first.facts[0].id }))).code);
const [written, read] = await nora.batch([
    { op: "fact.write", args: { key: "price", value: 100 } },
    { op: "fact.get", args: { id: "$0.id" } },
]);
is("a batch", ["created", 100], [written.outcome, read.value]);
const refused = await fails("a batch with an error", nora.batch([
    { op: "fact.write", args: { key: "price", value: 120 } },
    { op: "fact.current", args: { key: "nothing" } },
]));
is("names its call", ["not_found", 1], [refused.code, refused.details.index]);
const lines = [];
for await (const line of loci.store.exportLines()) lines.push(line);
is("lines of an export", [1, true], [lines[0].format, lines.at(-1).end]);

// ---- Errors

const bad = await fails("a bad argument", loci.fact.write({ key: "", value: 1 }));
is("its error", [true, "invalid_argument", 400, "key"],
    [bad instanceof LociError, bad.code, bad.status, bad.details.parameter]);
is("its trace id", "string", typeof bad.traceId);
is("no operation", "TypeError", (await fails("it", loci.call("no.such", {}))).name);
is("a wrong token", "unauthenticated",
    (await fails("it", new Loci({ url: URL_, token: "loci_no" }).fact.list())).code);
const nobody = await fails("no daemon",
    new Loci({ url: "http://127.0.0.1:1", retries: 1 }).fact.list());
is("it is a connection error", [true, "connection"],
    [nobody instanceof LociConnectionError, nobody.code]);

// ---- Faults

const through = (plan, id, options = {}) =>
    new Loci({ url: PROXY, token: TOKEN, client: `${plan}/${id}`, ...options });
const seen = async (id) => (await fetch(`${PROXY}/seen/${id}`)).json();

const before = Date.now();
await through("busy-2", "n1").fact.write({ key: "busy", value: 1 });
is("503 is retried after the pause that it names", true, Date.now() - before >= 1000);
let sent = await seen("n1");
is("with one key", [3, 1, "string"], [sent.length, new Set(sent).size, typeof sent[0]]);
const lost = await through("lost-2", "n2").memory.store({ text: "Plays chess on Fridays" });
is("a lost answer is fetched again", true, lost.replayed);
const twice = await loci.memory.list({ limit: 100 });
is("and the call ran once", 1,
    twice.memories.filter((each) => each.text.includes("chess"))[0]?.mentions);
is("an answer that breaks off", true,
    (await through("cut-1", "n3").fact.write({ key: "cut", value: 1 })).replayed);
await through("lost-1", "n4").fact.list();
sent = await seen("n4");
is("a read has no key", [null, null], sent);
const once = await fails("without retries", through("busy-1", "n5", { retries: 0 })
    .fact.write({ key: "once", value: 1 }));
is("the error is that of the daemon", ["unavailable", 503, 1000, "try later", 7],
    [once.code, once.status, once.retryAfterMs, once.hint, once.details.limit]);
is("and nothing was sent twice, nor with a key", [null], await seen("n5"));
await through("busy-1", "n6").fact.write({ key: "mine", value: 1, request_id: "my key" });
is("an own key stays in the arguments", [null, null], await seen("n6"));
const gone = await fails("a lost answer without a key",
    through("lost-9", "n12").pipeline.register({ name: "reindex", agent_id: "indexer" }));
is("is not fetched again", ["connection", 1], [gone.code, (await seen("n12")).length]);
is("a page of a proxy", ["internal", 502],
    await fails("it", through("proxy-1", "n7").fact.list()).then((e) => [e.code, e.status]));
const late = await fails("a timeout",
    through("slow-1", "n8").fact.list({}, { timeoutMs: 300 }));
is("it is a timeout", [true, "timeout"], [late instanceof LociTimeoutError, late.code]);
is("it also ends the pause between attempts", "timeout",
    (await fails("it", through("busy-9", "n9").fact.list({}, { timeoutMs: 400 }))).code);
const controller = new AbortController();
setTimeout(() => controller.abort(new Error("enough")), 200);
is("an abort", "enough", (await fails("it",
    through("slow-1", "n10").fact.list({}, { signal: controller.signal }))).message);
is("a call that was aborted before", "enough",
    (await fails("it", loci.fact.list({}, { signal: controller.signal }))).message);
is("is not sent", [], await seen("n11"));
is("a bad url", "TypeError", (() => {
    try { return new Loci({ url: "ftp://x" }); } catch (error) { return error.name; }
})());
done();
