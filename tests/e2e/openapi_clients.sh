#!/bin/bash
# Clients that outside tools generate from the OpenAPI document: openapi-typescript with
# openapi-fetch, and hey-api. A program of each compiles under tsc --strict and talks to a daemon.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
# shellcheck source=tests/e2e/npm_lib.sh
. "$(dirname "$0")/npm_lib.sh"
npm_install generated "$NODE_PACKAGE" typescript@5.9.3 openapi-typescript@7.13.0 \
    openapi-fetch@0.17.0 @hey-api/openapi-ts@0.99.0
mkdir "$TMP/project"
cd "$TMP/project" || exit 2
echo '{ "name": "project", "private": true, "type": "module" }' >package.json
ln -s "$NPM/node_modules" node_modules
cp "$REPOSITORY"/tests/clients/openapi_*.ts .
run reference --openapi
printf '%s\n' "$OUT" >openapi.json
# By default it requires the arguments that have a default.
node node_modules/openapi-typescript/bin/cli.js openapi.json -o schema.ts \
    --default-non-nullable=false >"$TMP/log" 2>&1
is "openapi-typescript makes types" 0 "$?"
node node_modules/@hey-api/openapi-ts/bin/run.js -i openapi.json -o hey \
    >"$TMP/log" 2>&1 </dev/null
is "hey-api makes a client" 0 "$?"
said=$(node node_modules/typescript/bin/tsc --strict --skipLibCheck --outDir out --rootDir . \
    --module esnext --moduleResolution bundler --target es2022 --lib es2022,dom,dom.iterable \
    openapi_fetch.ts openapi_hey.ts 2>&1 | head -20)
is "programs compile under tsc --strict" "" "$said"
start --store "$TMP/a.db"
export URL_=$URL TOKEN
is "openapi-fetch writes and reads" "created Oslo" "$(timeout 60 node out/openapi_fetch.js 2>&1)"
stop
is "the daemon ends" 0 "$RC"
finish
