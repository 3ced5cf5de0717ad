// build.mjs MODULES OUT.c [DIR] - bundles the dashboard into a C file (server/dashboard.h).
//
// MODULES is the node_modules directory with the packages of package.json. Every file is stored as
// gzip, without a time and a system in its header, so that equal sources give equal bytes. DIR gets
// the plain files, for a look at them.
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";

const here = dirname(fileURLToPath(import.meta.url));
const [target, plain] = process.argv.slice(3);
const modules = resolve(process.argv[2]);
const esbuild = createRequire(join(modules, "x.js"))("esbuild");

const result = await esbuild.build({
    entryPoints: { app: join(here, "src/main.js"), style: join(here, "src/style.css") },
    outdir: here, // Nothing is written: it only gives names.
    write: false,
    bundle: true,
    minify: true,
    format: "esm",
    target: "es2022",
    legalComments: "none",
    loader: { ".js": "jsx" },
    jsx: "automatic",
    jsxImportSource: "preact",
    nodePaths: [modules],
    logLevel: "warning",
});
const output = (name) =>
    Buffer.from(result.outputFiles.find((f) => f.path.endsWith(name)).contents);
const files = [
    ["/", "text/html; charset=utf-8", readFileSync(join(here, "src/index.html"))],
    ["/dashboard/app.js", "text/javascript; charset=utf-8", output("app.js")],
    ["/dashboard/style.css", "text/css; charset=utf-8", output("style.css")],
    ["/dashboard/icon.svg", "image/svg+xml", readFileSync(join(here, "src/icon.svg"))],
];

function pack(bytes) {
    const packed = gzipSync(bytes, { level: 9 });
    packed.fill(0, 4, 8); // The time,
    packed[9] = 255; // and the system: unknown.
    return packed;
}

function array(bytes) {
    const lines = [];
    for (let at = 0; at < bytes.length; at += 24)
        lines.push("    " + [...bytes.subarray(at, at + 24)].join(",") + ",");
    return lines.join("\n");
}

let text = '/* Made by web/build.mjs. */\n#include "server/dashboard.h"\n\n';
let table = "";
files.forEach(([path, type, bytes], i) => {
    const packed = pack(bytes);
    const tag = createHash("sha256").update(bytes).digest("hex").slice(0, 16);
    text += `static const unsigned char file_${i}[] = {\n${array(packed)}\n};\n\n`;
    const sizes = `${packed.length}, ${bytes.length}`;
    table += `    {"${path}", "${type}", "\\"${tag}\\"", file_${i}, ${sizes}},\n`;
    if (plain) {
        const out = join(plain, path === "/" ? "index.html" : path);
        mkdirSync(dirname(out), { recursive: true });
        writeFileSync(out, bytes);
    }
});
text += `const lc_dashboard_file lc_dashboard_files[] = {\n${table}};\n`;
text += `const size_t lc_dashboard_file_count = ${files.length};\n`;
text += 'const char lc_dashboard_missing[] = "";\n';
writeFileSync(target, text);
