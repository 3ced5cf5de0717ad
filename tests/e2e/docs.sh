#!/usr/bin/env bash
# Every command in the README and in docs/ works as shown (docs_page.py says how pages are read),
# and a page that shows a wrong command or a wrong output is found.
set -u
here=$(dirname "$0")
# shellcheck source=tests/e2e/lib.sh
. "$here/lib.sh"
root=$(cd "$here/../.." && pwd)
export LOCI BUILD_DIR=${BUILD_DIR:-$(dirname "$LOCI")}

pages() { "$PYTHON" -E "$root/tests/e2e/docs_page.py" "$@" >"$TMP/out" 2>&1; }

# broken NAME TEXT - the page on standard input fails and says TEXT.
broken() {
    cat >"$TMP/page.md"
    if pages "$TMP/page.md"; then
        fail "$1 must fail" "$(cat "$TMP/out")"
    else
        has "$1" "$2" "$(cat "$TMP/out")"
    fi
}

# good NAME - the page on standard input passes.
good() {
    cat >"$TMP/page.md"
    if pages "$TMP/page.md"; then pass; else fail "$1 must pass" "$(cat "$TMP/out")"; fi
}

# The reader itself: a page that is wrong fails.
good "commands, output and files" <<'PAGE'
```sh
loci init -q
loci fact write city Oslo
loci fact current city     # → Oslo
loci fact current nothing  # exit code 1
```
<!-- file: a.json -->
```json
{"key": "city", "value": "Bergen"}
```
```sh
loci call fact.write "$(cat a.json)"
```
```output
{"id":"fact_01M7NVWR9400000001046AN3NB","outcome":"superseded","superseded":"fact_…",…}
```
PAGE
good "a command that uses the build" <<'PAGE'
```sh
[ -x build/release/loci ]
```
PAGE
broken "a command that fails" "page.md:1: exit code" <<'PAGE'
```sh
loci fact wrote city Oslo
```
PAGE
broken "a failure inside a pipe" "exit code" <<'PAGE'
```sh
loci fact wrote city Oslo | cat
```
PAGE
broken "a wrong value" "expected Bergen, got Oslo" <<'PAGE'
```sh
loci fact write city Oslo
loci fact current city     # → Bergen
```
PAGE
broken "a wrong output" "the output differs" <<'PAGE'
```sh
loci text count Hello --json
```
```output
{"tokens":2,…}
```
PAGE
broken "a missing line of output" "the output differs" <<'PAGE'
```sh
printf 'a\nb\n'
```
```output
a
```
PAGE
broken "a wrong exit code" "expected exit code 2, got 1" <<'PAGE'
```sh
loci fact current nothing  # exit code 2
```
PAGE
broken "a block without a language" "no language" <<'PAGE'
```
loci status
```
PAGE
broken "a C program without a file" "a C block needs" <<'PAGE'
```c
int main(void) { return 0; }
```
PAGE
broken "a link to a page that does not exist" "the link nothing.md leads nowhere" <<'PAGE'
[nothing](nothing.md)
PAGE
broken "a link to a heading that does not exist" "the link #nothing leads nowhere" <<'PAGE'
# Something
[nothing](#nothing) and [something](#something)
PAGE
good "a block that is not run" <<'PAGE'
<!-- not run: needs the network -->
```sh
false
```
<!-- run if: false -->
```sh
false
```
PAGE
has "a block that is not run is listed" "page.md:2: needs the network" "$(cat "$TMP/out")"
has "and so is one that waits" "page.md:6: waits for: false" "$(cat "$TMP/out")"

# The pages. docs/reference.md is generated and compared with the program elsewhere.
coproc SERVER { exec "$root/tests/lib/postgres.sh" 2>/dev/null; }
read -r DOCS_POSTGRES <&"${SERVER[0]}"
# Written together with the features that they describe.
export DOCS_POSTGRES
list=("$root"/README.md "$root"/CONTRIBUTING.md)
for page in "$root"/docs/*.md; do
    [ "$(basename "$page")" = reference.md ] || list+=("$page")
done
if pages "${list[@]}"; then pass; else fail "the pages"; fi
cat "$TMP/out"
finish
