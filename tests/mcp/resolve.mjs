// resolve.mjs - lets scripts of this folder import npm packages that are installed elsewhere.
//
//     MCP_NPM=build/npm-mcp node --import ./tests/mcp/resolve.mjs tests/mcp/clients.mjs
import { registerHooks } from "node:module";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

const here = new URL(".", import.meta.url).href;
const installed = pathToFileURL(resolve(process.env.MCP_NPM, "package.json")).href;

registerHooks({
    resolve(specifier, context, next) {
        const isPackage = /^[@a-z]/.test(specifier) && !/^[a-z]+:/.test(specifier);
        const isOurs = context.parentURL?.startsWith(here);
        return next(specifier,
                    isPackage && isOurs ? { ...context, parentURL: installed } : context);
    },
});
