#!/usr/bin/env bash
# Tests of tools/bench_compare: two trees with benchmarks that print known figures.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
compare() { "$root/tools/bench_compare" --before "$tree/old" --after "$tree/new" "$@"; }

# prints NAME TEXT COMMAND...: the output has TEXT, where runs of spaces are one.
prints() {
    local name=$1 text=$2
    shift 2
    "$@" 2>&1 | tr -s ' ' >"$scratch/output"
    if grep -qF -- "$text" "$scratch/output"; then
        verdict ok "$name"
    else
        verdict bad "$name: must print: $text"
    fi
}

# bench PATH LINE...: a benchmark that prints these lines.
bench() {
    local path=$1
    shift
    {
        echo '#!/bin/sh'
        printf "echo '%s'\n" "$@"
    } | put "$path"
    chmod +x "$tree/$path"
}

new_tree
bench old/build/release/bench/rebuild '{"bench":"rebuild","case":"facts","ratio":0.5}'
bench new/build/release/bench/rebuild 'a line of text' \
    '{"bench":"rebuild","case":"facts","ratio":0.75}'
bench old/build/release/bench/writes '{"bench":"writes","case":"1 writer","ratio_rows":0.9}'
bench new/build/release/bench/writes '{"bench":"writes","case":"one writer","ratio_rows":0.6}'

prints "both versions and their ratio" "P11 rebuild: facts ratio 0.5 0.75 1.5 >= 0.6 yes" \
    compare rebuild
prints "a case that is new" "P4 writes: one writer ratio_rows - 0.6 - - -" compare writes
prints "a case that is gone" "P4 writes: 1 writer ratio_rows 0.9 - - - -" compare writes
prints "medians of the rounds" "medians of 2 rounds" compare --rounds 2 rebuild
passes "all goals are met" compare rebuild
compare --rounds 2 --out "$tree/lines" rebuild >/dev/null 2>&1
prints "every line is kept" "4" grep -c '"version":' "$tree/lines"

bench new/build/release/bench/rebuild '{"bench":"rebuild","case":"facts","ratio":0.55}'
fails "a missed goal" "1 goals missed" compare rebuild
bench new/build/release/bench/http '{"bench":"http","case":"fact.current, 16","ratio_echo":2}'
prints "a benchmark that the old version lacks" "before has no benchmark http" compare http

# A script of the newer tree measures the program of each.
bench old/build/release/loci 7
bench new/build/release/loci 5
put new/bench/start <<'S'
#!/bin/sh
echo "{\"bench\":\"start\",\"case\":\"--version\",\"cpu_ms\":$("$LOCI")}"
S
chmod +x "$tree/new/bench/start"
prints "a script measures both programs" "P13 start: --version cpu_ms 7 5" compare start
finish
