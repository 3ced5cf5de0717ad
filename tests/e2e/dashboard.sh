#!/bin/bash
# The dashboard in Debian's Chromium: tests/web/dashboard.mjs says what. And a build without Node.js
# goes on, with a start page that says what is missing.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/npm_lib.sh
. "$(dirname "$0")/npm_lib.sh"

# Without Node.js the build writes a file that compiles, has nothing to serve, and says why.
mkdir "$TMP/bin"
for name in bash dirname cat node; do ln -s "$(command -v "$name")" "$TMP/bin/$name"; done
rm "$TMP/bin/node"
OUT=$(PATH=$TMP/bin "$REPOSITORY/tools/build_dashboard" "$TMP/none.c" 2>&1)
is "a build without Node.js goes on" 0 $?
is "in one line" "the dashboard is left out: Node.js was not installed when loci was built" "$OUT"
${CC:-cc} -std=c11 -Wall -Werror -I "$REPOSITORY/src" -c "$TMP/none.c" -o "$TMP/none.o"
is "and its file compiles" 0 $?

if [ ! -x "${CHROMIUM:=/usr/bin/chromium}" ]; then
    echo "chromium is missing, so the dashboard is not looked at; script/setup installs it" >&2
    [ -z "${CI:-}" ] || fail "chromium is there" "$CHROMIUM"
    finish
fi
npm_install dashboard "$NODE_PACKAGE" playwright-core@1.65.1 axe-core@4.14.0
export CHROMIUM
node_test ../web/dashboard.mjs
finish
