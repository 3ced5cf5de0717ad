// recall.mjs - npm's mem0ai as the peer of bench/recall.c, which starts it.
//
// It stores with infer: false, so no model is called, in the store that it has without a server:
// SQLite, here in memory. Its embedder returns the vector that came with the line. It sends
// telemetry when it is made: that is switched off, and fetch() is replaced, so that it has no
// network at all. Each line on stdin is a verb and the arguments of memory.store or memory.recall:
//
//     store ARGS            no answer
//     recall ARGS           milliseconds of search() and the number of results
//     ready                 "ready", when all of the above is done
//
// The package comes from npm by name and version into build/npm-recall.
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { install } from "./lib/npm.mjs";

const PACKAGES = ["mem0ai@3.3.1", "better-sqlite3@12.11.1", "compromise@14.17.0"];
const DIMENSION = 512;

const npm = install("build/npm-recall", PACKAGES);
const home = mkdtempSync(join(tmpdir(), "loci-mem0-")); // It keeps an id of the machine there.

process.env.HOME = home;
process.env.MEM0_TELEMETRY = "false";
globalThis.fetch = () => Promise.reject(new Error("this benchmark has no network"));
process.on("exit", () => rmSync(home, { recursive: true, force: true }));

const { Memory } = createRequire(join(npm, "any.js"))("mem0ai/oss");
let supplied;
const model = {
    embedQuery: async () => supplied,
    embedDocuments: async (texts) => texts.map(() => supplied),
};
const memory = new Memory({
    embedder: { provider: "langchain", config: { model } },
    vectorStore: { provider: "memory",
                   config: { collectionName: "bench", dimension: DIMENSION, dbPath: ":memory:" } },
    llm: { provider: "openai", config: { apiKey: "none" } },
    historyStore: { provider: "sqlite", config: { historyDbPath: ":memory:" } },
});

for await (const line of createInterface({ input: process.stdin })) {
    const verb = line.split(" ", 1)[0];
    if (verb === "ready") {
        console.log("ready");
        continue;
    }
    const args = JSON.parse(line.slice(verb.length));
    supplied = args.vector;
    if (verb === "store") {
        await memory.add(args.text, { userId: args.user_id, infer: false });
        continue;
    }
    const start = performance.now();
    const found = await memory.search(args.query, { filters: { user_id: args.user_id }, topK: 10 });
    console.log(performance.now() - start, found.results.length);
}
