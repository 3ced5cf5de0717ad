// build.mjs - compiles src/ twice: dist/esm for `import`, dist/cjs for `require`.
import { execFileSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const tsc = createRequire(import.meta.url).resolve("typescript/bin/tsc");
const compile = (...options) =>
    execFileSync(process.execPath, [tsc, "-p", here, ...options], { stdio: "inherit" });

rmSync(join(here, "dist"), { recursive: true, force: true });
compile();
// The types were checked just now.
compile("--module", "CommonJS", "--moduleResolution", "Node10", "--noCheck",
    "--outDir", join(here, "dist/cjs"));
mkdirSync(join(here, "dist/cjs"), { recursive: true });
writeFileSync(join(here, "dist/cjs/package.json"), '{ "type": "commonjs" }\n');
