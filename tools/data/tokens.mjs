// tokens.mjs PACKAGE_DIR OUT_FILE - turns a rank file of npm's gpt-tokenizer into a data file that
// is used where it lies. The encoding is the name of OUT_FILE: o200k_base.loci.
//
// src/text/token_table.h describes the layout; both change together, with its version.
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";

const VERSION = 1;
const NONE = 0xffffffff;
const MIX_1 = 0x9e3779b97f4a7c15n;
const MIX_2 = 0xd6e8feb86659fd93n;

const [packageDir, outFile] = process.argv.slice(2);
const encoding = basename(outFile, ".loci");
const lines = readFileSync(join(packageDir, "data", `${encoding}.tiktoken`), "latin1").split("\n");

// Texts as strings of bytes, by their rank; the rank is the token's number.
const texts = lines.filter((line) => line !== "").map((line, number) => {
    const [base64, rank] = line.split(" ");
    if (Number(rank) !== number) throw new Error(`rank ${rank} stands in line ${number + 1}`);
    return Buffer.from(base64, "base64").toString("latin1");
});
const ranks = new Map(texts.map((text, rank) => [text, rank]));
if (texts.length >= 1 << 18) throw new Error("18 bits do not number the tokens");

const multiply = (a, b) => BigInt.asUintN(64, a * b);

function word(text, from) {
    let value = 0n;
    for (let i = Math.min(text.length, from + 8) - 1; i >= from; i--)
        value = (value << 8n) | BigInt(text.charCodeAt(i));
    return value;
}

// The key of a text: itself when it fits, else a hash.
function keyOf(text) {
    if (text.length <= 8) return word(text, 0);
    let hash = BigInt(text.length);
    for (let from = 0; from < text.length; from += 8) {
        hash = multiply(hash ^ word(text, from), MIX_1);
        hash ^= hash >> 32n;
    }
    return hash;
}

const spread = (key) => {
    const mixed = multiply(key, MIX_1);
    return multiply(mixed ^ (mixed >> 32n), MIX_2);
};

// The two tokens that `text` is made of by its last merge; null when merging does not get there.
function lastPair(text) {
    const parts = [...text];
    for (;;) {
        let best = Infinity, at = -1;
        for (let i = 0; i + 1 < parts.length; i++) {
            const rank = ranks.get(parts[i] + parts[i + 1]) ?? Infinity;
            if (rank < best) [best, at] = [rank, i];
        }
        if (at < 0) return null;
        if (parts.length === 2) return [ranks.get(parts[0]), ranks.get(parts[1])];
        parts.splice(at, 2, parts[at] + parts[at + 1]);
    }
}

function bitsFor(count) {
    return Math.ceil(Math.log2(count * 2)); // At most half full: a miss ends soon.
}

function place(table, bits, hash, isFree) {
    let slot = Number(hash >> BigInt(64 - bits));
    while (!isFree(slot)) slot = (slot + 1) % (1 << bits);
    return slot;
}

const pieceBits = bitsFor(texts.length);
const pieces = Buffer.alloc(16 << pieceBits);
texts.forEach((text, token) => {
    const key = keyOf(text);
    const slot = place(pieces, pieceBits, spread(key),
                       (at) => pieces.readUInt32LE(at * 16 + 12) === 0);
    pieces.writeBigUInt64LE(key, slot * 16);
    pieces.writeUInt32LE(token, slot * 16 + 8);
    pieces.writeUInt32LE(text.length, slot * 16 + 12);
});

const pairList = [];
const twoBytes = Buffer.alloc(65536 * 4, 0xff);
const oneByte = Buffer.alloc(256 * 4, 0xff);
texts.forEach((text, token) => {
    if (text.length === 1) {
        oneByte.writeUInt32LE(token, text.charCodeAt(0) * 4);
    } else if (text.length === 2) {
        twoBytes.writeUInt32LE(token, (text.charCodeAt(0) | (text.charCodeAt(1) << 8)) * 4);
    } else {
        const pair = lastPair(text);
        if (pair !== null) pairList.push([pair[0], pair[1], token]);
    }
});
for (let byte = 0; byte < 256; byte++)
    if (oneByte.readUInt32LE(byte * 4) === NONE) throw new Error(`no token for the byte ${byte}`);

// Nothing merges before its parts are there, so parts may be put together early when nothing else
// can be made of their bytes. See token_table.h, characters.
for (const [left, right, token] of pairList)
    if (token <= left || token <= right) throw new Error(`token ${token} comes before its parts`);

const isTail = (text, at) => (text.charCodeAt(at) & 0xc0) === 0x80;

function charBytes(text, at) {
    const lead = text.charCodeAt(at);
    return lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

// Between which bytes does a token reach from one character into a part of another?
const seams = Buffer.alloc(65536 / 8);
for (const text of texts) {
    const borders = [];
    for (let at = 1; at < text.length; at++) if (!isTail(text, at)) borders.push(at);
    if (borders.length === 0) continue;
    const mark = (at) => {
        const bit = text.charCodeAt(at - 1) | (text.charCodeAt(at) << 8);
        seams[bit >> 3] |= 1 << (bit & 7);
    };
    const last = borders[borders.length - 1];
    if (isTail(text, 0)) mark(borders[0]);
    if (text.length - last < charBytes(text, last)) mark(last);
}

const isMade = new Set(pairList.map(([, , token]) => token));
const characters = Buffer.alloc(65536 * 4, 0xff);
for (let codePoint = 0x80; codePoint < 0x10000; codePoint++) {
    if (codePoint >= 0xd800 && codePoint < 0xe000) continue;
    const text = Buffer.from(String.fromCodePoint(codePoint)).toString("latin1");
    const token = ranks.get(text);
    if (token !== undefined && (text.length === 2 || isMade.has(token)))
        characters.writeUInt32LE(token, codePoint * 4);
}

const pairBits = bitsFor(pairList.length);
const pairs = Buffer.alloc(8 << pairBits, 0xff);
const filterBits = pairBits + 2;
const filter = Buffer.alloc((1 << filterBits) / 8);
for (const [left, right, token] of pairList) {
    const key = (BigInt(left) << 18n) | BigInt(right);
    const slot = place(pairs, pairBits, multiply(key, MIX_1),
                       (at) => pairs.readBigUInt64LE(at * 8) === 0xffffffffffffffffn);
    pairs.writeBigUInt64LE((key << 18n) | BigInt(token), slot * 8);
    const bit = Number(multiply(key, MIX_2) >> BigInt(64 - filterBits));
    filter[bit >> 3] |= 1 << (bit & 7);
}

const starts = Buffer.alloc((texts.length + 1) * 4);
let textBytes = 0;
texts.forEach((text, token) => {
    starts.writeUInt32LE(textBytes, token * 4);
    textBytes += text.length;
});
starts.writeUInt32LE(textBytes, texts.length * 4);

const head = Buffer.alloc(64);
head.write(encoding, 0, 16, "latin1");
head.writeUInt32LE(texts.length, 16);
head.writeUInt32LE(texts.reduce((most, text) => Math.max(most, text.length), 0), 20);
head.writeUInt32LE(pieceBits, 24);
head.writeUInt32LE(pairBits, 28);
head.writeUInt32LE(textBytes, 32);

const body = Buffer.concat([head, pieces, pairs, filter, characters, twoBytes, oneByte, seams,
                            starts, Buffer.from(texts.join(""), "latin1")]);
const header = Buffer.alloc(64);
header.write("lociDATA", 0, "latin1");
header.write("tokens", 8, "latin1");
header.writeUInt32LE(VERSION, 24);
header.writeBigUInt64LE(BigInt(body.length), 32);
createHash("sha256").update(body).digest().copy(header, 40, 0, 16);
writeFileSync(outFile, Buffer.concat([header, body]));
