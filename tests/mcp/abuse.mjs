// abuse.mjs - what no decent client sends, over stdio and HTTP: the server answers with an error or
// not at all, goes on, and keeps its memory small.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import { connect } from "node:net";

import { attempt, daemon, finish, freshStore, is, ok, raw, sleep, stdio, until } from "./lib.mjs";

const HUGE = 64 * 1024 * 1024;
const MEMORY_BYTES_MAX = 96 * 1024 * 1024;
const FLOOD = 20000;
// Sanitizers keep what was freed for a while.
const isSanitized = /asan|tsan/.test(process.env.BUILD_DIR ?? "");

function memoryBytes(pid) {
    const [, kilobytes] = /RssAnon:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return Number(kilobytes) * 1024;
}

function checkMemory(name, pid) {
    const bytes = memoryBytes(pid);
    ok(`${name}: memory`, isSanitized || bytes <= MEMORY_BYTES_MAX, bytes);
}

async function checkAlive(name, client) {
    const answer = await Promise.race([client.request("tools/list"), client.ended, sleep(20000)]);
    ok(`${name}: it goes on`, Array.isArray(answer?.result?.tools), JSON.stringify(answer),
       client.errors);
}

// A line, and the code of the error that answers it; null = no answer.
const lines = {
    "no JSON": ["hello", -32700],
    "half an object": ["{\"jsonrpc\":\"2.0\",", -32700],
    "no UTF-8": [Buffer.from("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"\xff\"}", "latin1"),
                 -32700],
    "a NUL": ["{\"jsonrpc\":\"2.0\"\0}", -32700],
    "a batch": ["[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}]", -32600],
    "an empty batch": ["[]", -32600],
    "a number": ["7", -32600],
    "null": ["null", -32600],
    "no version": ["{\"id\":1,\"method\":\"ping\"}", -32600],
    "a method that is no text": ["{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":7}", -32600],
    "an id that is an object": ["{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}", -32600],
    "deep nesting": ["[".repeat(100000), -32700],
    "an unknown method": ["{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"no/such\"}", -32601],
    "an unknown notification": ["{\"jsonrpc\":\"2.0\",\"method\":\"notifications/none\"}", null],
    "an answer to nothing": ["{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}", null],
    "an empty line": ["", null],
};

async function checkLines() {
    const client = raw(stdio(freshStore()));
    await client.open();
    for (const [name, [line, code]] of Object.entries(lines)) {
        const before = client.lines.length;
        client.child.stdin.write(line);
        client.child.stdin.write("\n");
        await checkAlive(name, client);
        const answers = client.lines.slice(before, -1);
        is(`${name}: answer`, code === null ? [] : [code], answers.map(({ error }) => error?.code));
    }
    is("it ends at the end of its input", 0, await client.exit());
}

async function checkFrames() {
    const client = raw(stdio(freshStore()));
    await client.open();
    const text = JSON.stringify({ jsonrpc: "2.0", id: "slow", method: "ping" });
    for (const byte of text) {
        client.child.stdin.write(byte);
        await sleep(1);
    }
    client.child.stdin.write("\r\n");
    ok("a message may come byte by byte",
       await until(10, () => client.lines.some(({ id }) => id === "slow")));
    client.child.stdin.write(`${text.replace("slow", "a")}\n${text.replace("slow", "b")}\n`);
    ok("two messages may come in one piece",
       await until(10, () => client.lines.some(({ id }) => id === "b")));
    client.child.stdin.write(text); // Without the end of the line.
    is("half a message at the end is no trouble", 0, await client.exit());
}

async function checkHuge() {
    const client = raw(stdio(freshStore()));
    await client.open();
    const before = client.lines.length;
    const part = Buffer.alloc(1024 * 1024, "x");
    client.child.stdin.write("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":\"");
    for (let sent = 0; sent < HUGE; sent += part.length) {
        if (!client.child.stdin.write(part))
            await Promise.race([once(client.child.stdin, "drain"), client.ended]);
    }
    client.child.stdin.write("\"}\n");
    await checkAlive("a huge line", client);
    ok("a huge line is refused", client.lines[before]?.error?.code < 0,
       JSON.stringify(client.lines[before]));
    checkMemory("a huge line", client.child.pid);
    is("it ends after a huge line", 0, await client.exit());
}

// The pipe is full, then the server's queue, if it has one; it must stop reading or end, and not
// collect answers in memory.
async function checkDeaf() {
    const client = raw(stdio(freshStore()));
    await client.open();
    client.child.stdout.pause();
    let sent = 0;
    for (; sent < FLOOD; sent++) {
        if (!client.send({ jsonrpc: "2.0", id: `f${sent}`, method: "tools/list" }) &&
            await Promise.race([once(client.child.stdin, "drain"), sleep(1000), client.ended]) ===
                undefined)
            break;
    }
    checkMemory("a client that never reads", client.child.pid);
    client.child.stdout.resume();
    const wanted = `f${Math.min(sent, FLOOD - 1)}`;
    ok("every answer comes when the client reads again",
       await until(60, () => client.lines.some(({ id }) => id === wanted)),
       `${client.lines.length} of ${sent}`);
    is("it ends afterwards", 0, await client.exit());

    const gone = raw(stdio(freshStore()));
    await gone.open();
    gone.child.stdout.pause();
    for (let number = 0; number < 2000; number++)
        gone.send({ jsonrpc: "2.0", id: number, method: "tools/list" });
    gone.child.stdout.destroy();
    gone.child.stdin.end();
    const how = await Promise.race([gone.ended, sleep(20000)]);
    ok("it ends when its client has gone", how !== undefined && how[1] === null, how);
}

// ---- HTTP ---------------------------------------------------------------------------------------

const ping = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params: {
    protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "x", version: "1" } } });

function post(served, headers, body = ping) {
    return new Promise((done) => {
        const sent = request(served.url, {
            method: "POST",
            headers: {
                "Content-Type": "application/json", Accept: "application/json, text/event-stream",
                ...served.headers, ...headers,
            },
        }, (answer) => {
            answer.resume();
            done(answer.statusCode);
        });
        sent.on("error", (error) => done(error.code));
        sent.end(body);
    });
}

async function checkHttp() {
    const served = await daemon(freshStore());
    is("a token is asked for", 401, await post(served, { Authorization: "" }));
    is("a wrong token is refused", 401, await post(served, { Authorization: "Bearer loci_x" }));
    is("the right one is not", 200, await post(served, {}));
    is("a foreign origin is refused", 403, await post(served, { Origin: "http://evil.example" }));
    is("a foreign host is refused", 421, await post(served, { Host: "evil.example" }));
    is("another type is refused", 415, await post(served, { "Content-Type": "text/plain" }));
    is("no JSON is refused", 400, await post(served, {}, "{"));
    is("a batch is refused", 400, await post(served, {}, `[${ping}]`));
    // The daemon answers and hangs up before it has read all of it; whichever comes first.
    ok("a huge body is refused",
       [413, "EPIPE", "ECONNRESET"].includes(await post(served, {}, Buffer.alloc(HUGE, " "))));
    is("an unknown session is unknown", 404,
       await post(served, { "Mcp-Session-Id": "00000000000000000000000000000000" },
                  JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" })));

    // Half a request, and a stream that is never read: neither may keep others waiting.
    const { hostname, port } = new URL(served.url);
    const half = connect(Number(port), hostname);
    half.on("error", () => {});
    half.write(`POST /mcp HTTP/1.1\r\nHost: ${hostname}\r\nContent-Length: 1000\r\n` +
               `Authorization: ${served.headers.Authorization}\r\n\r\n{"jsonrpc"`);
    is("half a request keeps nobody waiting", 200, await post(served, {}));
    half.destroy();
    is("it goes on", 200, await post(served, {}));
    checkMemory("HTTP", served.pid);
    await served.stop();
}

await attempt("lines", checkLines);
await attempt("frames", checkFrames);
await attempt("huge", checkHuge);
await attempt("deaf", checkDeaf);
await attempt("http", checkHttp);
await finish();
