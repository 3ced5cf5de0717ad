// token_counts.mjs DIR - writes what npm's tiktoken says of the texts that the tests count, to
// tests/unit/fixtures/token_counts.json. Run when those texts change:
//
//     npm install --prefix DIR tiktoken@1.0.22
//     node tools/data/token_counts.mjs DIR >tests/unit/fixtures/token_counts.json
//
// Of the 20 000 random texts each hundred has one number: a hash of the tokens in them.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { randomTexts } from "./random_texts.mjs";

const ENCODINGS = ["o200k_base", "cl100k_base"];
const TEXTS = 20000;
const GROUP = 100;

const { get_encoding } = createRequire(join(resolve(process.argv[2]), "any.js"))("tiktoken");
const samples = readFileSync("tests/unit/fixtures/token_samples.txt", "utf8").split("\n=====\n");
const random = randomTexts(TEXTS);
const found = { groups_of: GROUP };
for (const encoding of ENCODINGS) {
    const tokenizer = get_encoding(encoding);
    const groups = [];
    const hashTokens = (hash, text) => tokenizer.encode_ordinary(text).reduce(
        (mixed, token) => Math.imul(mixed ^ token, 16777619) >>> 0, hash);
    for (let at = 0; at < TEXTS; at += GROUP)
        groups.push(random.slice(at, at + GROUP).reduce(hashTokens, 2166136261));
    found[encoding] = {
        samples: samples.map((text) => tokenizer.encode_ordinary(text).length),
        sample_hashes: samples.map((text) => hashTokens(2166136261, text)),
        random_hashes: groups,
    };
}
console.log(JSON.stringify(found, null, 0).replace(/((?:[^,]*,){8})/g, "$1\n"));
