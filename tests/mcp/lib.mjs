// lib.mjs - what the tests with third-party clients share: checks, servers to connect to, and a raw
// client for what no library would send.
//
// LOCI names the program, TMP a folder for stores. A script ends with `await finish()`.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { isDeepStrictEqual } from "node:util";

const program = process.env.LOCI;
const folder = process.env.TMP;
let passed = 0;
let failed = 0;
let stores = 0;
const endings = [];

// ---- Checks -------------------------------------------------------------------------------------

export function fail(name, ...details) {
    failed++;
    process.stderr.write(`FAIL ${name}\n`);
    for (const detail of details) process.stderr.write(`     ${String(detail).slice(0, 600)}\n`);
}

export function ok(name, condition, ...details) {
    if (condition) passed++;
    else fail(name, ...details);
}

export function is(name, expected, actual) {
    ok(name, isDeepStrictEqual(expected, actual), `expected: ${JSON.stringify(expected)}`,
       `actual:   ${JSON.stringify(actual)}`);
}

export function has(name, part, text) {
    ok(name, String(text).includes(part), `wanted: ${part}`, `in:     ${text}`);
}

export function lacks(name, part, text) {
    ok(name, !String(text).includes(part), `unwanted: ${part}`, `in:       ${text}`);
}

// What went wrong and the line of ours where it did; stacks of libraries say nothing.
export function where(error) {
    const line = String(error?.stack).split("\n").find((each) => each.includes("/tests/mcp/"));
    return `${error?.message ?? error}${line ?? ""}`;
}

// Every member of `expected` is in `actual`; lists have the same length.
export function includes(actual, expected) {
    if (expected instanceof RegExp) return expected.test(actual);
    if (typeof expected === "function") return expected(actual);
    if (expected === null || typeof expected !== "object") return actual === expected;
    if (actual === null || typeof actual !== "object") return false;
    if (Array.isArray(expected) && expected.length !== actual.length) return false;
    return Object.keys(expected).every((key) => includes(actual[key], expected[key]));
}

// An exception is a failure with a name, and the rest goes on.
export async function attempt(name, run) {
    try {
        return await run();
    } catch (error) {
        fail(name, where(error));
        return undefined;
    }
}

export async function until(seconds, condition) {
    for (let left = seconds * 50; left > 0; left--) {
        if (await condition()) return true;
        await sleep(20);
    }
    return false;
}

export const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

export async function finish() {
    for (const end of endings.reverse()) await end();
    console.log(`${passed} passed, ${failed} failed`);
    process.exit(failed === 0 ? 0 : 1);
}

// ---- Servers ------------------------------------------------------------------------------------

// A folder of its own for one store, outside of any repository. The store has a window with a text:
// models use windows that their host has opened.
export function freshStore() {
    const place = join(folder, `store-${process.pid}-${++stores}`);
    const store = join(place, "a.db");
    mkdirSync(place);
    loci("--store", store, "init");
    loci("--store", store, "call", "window.open", '{"context_max":10000}');
    loci("--store", store, "call", "resource.discover",
         '{"name":"a","text":"Deploy on Tuesdays only."}');
    return store;
}

// What the program prints.
export function loci(...args) {
    return execFileSync(program, args, { encoding: "utf8", cwd: folder });
}

// How a client starts `loci mcp` on a store.
export function stdio(store) {
    return {
        command: program,
        args: ["--store", store, "mcp"],
        env: { ...process.env },
        cwd: join(store, ".."),
    };
}

// A daemon on a free port: {url, token, headers, pid, stop()}.
export async function daemon(store, ...options) {
    const place = join(store, "..");
    const child = spawn(program, ["--store", store, "serve", "--listen", "127.0.0.1:0", "--socket",
                                  join(place, "daemon.sock"), "--token-file", join(place, "token"),
                                  "--json", ...options],
                        { stdio: ["ignore", "pipe", "pipe"], cwd: place });
    let log = "";
    child.stderr.on("data", (data) => { log += data; });
    const ended = once(child, "exit");
    const [line] = await Promise.race([
        once(createInterface({ input: child.stdout }), "line"),
        ended.then(() => { throw new Error(`the daemon does not start: ${log}`); }),
    ]);
    const token = readFileSync(join(place, "token"), "utf8").trim();
    let isStopped = false;
    const stop = async () => {
        if (isStopped) return;
        isStopped = true;
        child.kill("SIGTERM");
        const [code] = await ended;
        ok("the daemon ends", code === 0, `exit code ${code}`, log.slice(-600));
    };
    endings.push(stop);
    return {
        url: `${JSON.parse(line).address}/mcp`,
        token,
        headers: { Authorization: `Bearer ${token}` },
        pid: child.pid,
        stop,
    };
}

// ---- A raw client over pipes --------------------------------------------------------------------

// {child, send(object or text), request(method, params), lines, ended, exit()}: one JSON text per
// line, no library between.
export function raw(how) {
    const child = spawn(how.command, how.args, { env: how.env, cwd: how.cwd });
    const waiting = new Map();
    const lines = [];
    let next = 0;
    let errors = "";
    child.stdin.on("error", () => {}); // The server may have ended first.
    child.stderr.on("data", (data) => { errors += data; });
    createInterface({ input: child.stdout }).on("line", (line) => {
        const message = JSON.parse(line);
        lines.push(message);
        waiting.get(message.id)?.(message);
    });
    const ended = once(child, "exit");
    const client = {
        child,
        lines,
        ended,
        get errors() { return errors; },
        send(message) {
            const text = typeof message === "string" ? message : JSON.stringify(message);
            return child.stdin.write(`${text}\n`);
        },
        request(method, params = {}) {
            const id = ++next;
            const answer = new Promise((done) => { waiting.set(id, done); });
            client.send({ jsonrpc: "2.0", id, method, params });
            return answer;
        },
        async open(name = "raw") {
            const answer = await client.request("initialize", {
                protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name, version: "1" },
            });
            client.send({ jsonrpc: "2.0", method: "notifications/initialized" });
            return answer.result;
        },
        async call(name, args) {
            const answer = await client.request("tools/call", { name, arguments: args });
            return answer.result ?? answer;
        },
        async exit() {
            child.stdin.end();
            const [code, signal] = await ended;
            return signal ?? code;
        },
    };
    endings.push(async () => { child.kill("SIGKILL"); });
    return client;
}
