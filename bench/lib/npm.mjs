// npm.mjs - npm packages of peers, below build/ and never part of the repository.
import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

// Installs the packages, "name@version", into `folder` unless they are there. Returns its path;
// throws where npm is not reachable.
export function install(folder, packages) {
    const path = resolve(folder);
    const mark = join(path, "installed");
    if (existsSync(mark) && readFileSync(mark, "utf8") === packages.join(" "))
        return path;
    mkdirSync(path, { recursive: true });
    execFileSync("npm", ["install", "--prefix", path, "--no-audit", "--no-fund", "--loglevel=error",
                         ...packages], { stdio: ["ignore", "ignore", "inherit"] });
    writeFileSync(mark, packages.join(" "));
    return path;
}
