#!/bin/bash
# Help for everything there is, suggestions for everything there is not, documents from the tables.
. "$(dirname "$0")/lib.sh"

run help
is "help succeeds" 0 "$RC"
overview=$OUT
run --help
is "--help is the same" "$overview" "$OUT"
run -h
is "-h is the same" "$overview" "$OUT"
is "help makes no store" "" "$(find "$HOME" -mindepth 1)"

# Every command listed has help, in three ways; it never runs the command.
commands=$(printf '%s\n' "$overview" |
    sed -n '/^Getting started/,/^Operations/s/^  \([a-z]*\) .*/\1/p')
is "there are commands" yes "$([ "$(echo "$commands" | wc -l)" -ge 15 ] && echo yes)"
for command in $commands; do
    run help "$command"
    is "help $command" 0 "$RC"
    has "help $command shows its use" "Usage: loci $command" "$OUT"
    run "$command" --help
    is "$command --help" 0 "$RC"
    has "$command --help shows a use" "Usage: loci" "$OUT"
    run "$command" -h
    is "$command -h" 0 "$RC"
done
is "help ran nothing" "" "$(find "$HOME" -mindepth 1)"

# Every operation of the table has help that names its parameters, and an example that is valid.
run call op.list --store "$TMP/a.db"
printf '%s' "$OUT" >"$TMP/ops.json"
python3 - "$TMP/ops.json" >"$TMP/ops.txt" <<'P'
import json, sys
answer = json.load(open(sys.argv[1]))
for op in answer.get("operations") or answer.get("ops"):
    print(op["name"], *[p["name"] for p in op["params"]])
P
is "there are operations" yes "$([ "$(wc -l <"$TMP/ops.txt")" -ge 10 ] && echo yes)"
while read -r name params; do
    noun=${name%%.*} verb=${name#*.}
    run help "$name"
    is "help $name" 0 "$RC"
    by_name=$OUT
    run help "$noun" "$verb"
    is "help $noun $verb is the same" "$by_name" "$OUT"
    has "help $name has an example" "loci $noun $verb" "$OUT"
    if [ "$noun" != config ]; then
        run "$noun" "$verb" --help
        is "$noun $verb --help is the same" "$by_name" "$OUT"
    fi
    missing=
    for param in $params; do
        upper=$(printf '%s' "$param" | tr 'a-z_' 'A-Z-')
        case $by_name in *"--${param//_/-}"* | *"$upper"*) ;; *) missing="$missing $param" ;; esac
    done
    is "help $name names its parameters" "" "$missing"
done <"$TMP/ops.txt"
run help fact
has "a noun lists its verbs" "fact write" "$OUT"
run fact
is "a noun alone is incomplete" 2 "$RC"
has "and lists its verbs" "fact write" "$OUT"
run fact --json
json "as JSON with --json" "$ERR"

# suggests NAME PART WORDS… - wrong usage, exit 2, and what was meant.
suggests() {
    local name=$1 part=$2
    shift 2
    run "$@"
    is "$name: exit code" 2 "$RC"
    is "$name: nothing on standard output" "" "$OUT"
    has "$name: what was meant" "$part" "$ERR"
}
suggests "a command" "loci status" statsu
suggests "a noun" "loci fact" fcat
suggests "a verb" "loci fact write" fact wirte city Oslo
suggests "an option of an operation" "--source" fact write city Oslo --sorce user
suggests "a global option" "--store" --stroe x
suggests "an option of a command" "--atomic" batch --atomci
suggests "help for what is not there" "loci batch" help bacth
suggests "a missing argument" "VALUE is missing" fact write city
suggests "a word too many" "unexpected" fact write city Oslo Norway
suggests "a number that is none" "limit" fact list --limit many
suggests "an option without its value" "--source needs a value" fact write city Oslo --source
suggests "a flag with a value" "takes no value" status --json=yes
run gibberish_that_is_nothing
is "nothing near: exit code" 2 "$RC"
lacks "nothing near: no guess" "did you mean" "$ERR"

# ---- Completion ---------------------------------------------------------------------------------
run completion bash
is "completion for bash" 0 "$RC"
printf '%s\n' "$OUT" >"$TMP/loci.bash"
is "it is valid bash" "" "$(bash -n "$TMP/loci.bash" 2>&1)"
# completes WORDS… - what is offered for the last word.
completes() {
    bash --norc -c '
        . "$1"; shift
        COMP_WORDS=(loci "$@"); COMP_CWORD=$#
        _loci 2>/dev/null
        echo "${COMPREPLY[*]}"' completes "$TMP/loci.bash" "$@"
}
is "commands" "status" "$(completes statu)"
has "nouns" "fact" "$(completes f)"
has "verbs" "write" "$(completes fact '')"
is "parameters" "--source" "$(completes fact write city Oslo --so)"
has "global options" "--store" "$(completes fact write --st)"
is "options behind a global option" "write" "$(completes --store x fact wri)"
is "choices" "queued running done failed cancelled" "$(completes job list --status '')"
is "settings" "call.timeout_ms" "$(completes config set call.)"
is "settings of --set" "call.timeout_ms=" "$(completes status --set call.)"
has "operations of call" "fact.write" "$(completes call fact.)"
lacks "options only when asked for" "--" "$(completes fact '')"
run completion zsh
is "completion for zsh" 0 "$RC"
has "it says that it is one" "#compdef loci" "$OUT"
printf '%s\n' "$OUT" >"$TMP/_loci"
is "it is valid zsh" "" "$(zsh -n "$TMP/_loci" 2>&1)"
run completion fish
is "completion for fish" 0 "$RC"
printf '%s\n' "$OUT" >"$TMP/loci.fish"
is "it is valid fish" "" "$(fish --no-execute "$TMP/loci.fish" 2>&1)"
# fishes LINE - what is offered at its end, without descriptions.
fishes() {
    HOME=$TMP fish --no-config -c ". '$TMP/loci.fish'; complete -C '$1'" | cut -f 1 | tr '\n' ' '
}
has "fish: commands" "status" "$(fishes 'loci statu')"
has "fish: verbs" "write" "$(fishes 'loci fact ')"
lacks "fish: verbs of that noun alone" "recall" "$(fishes 'loci fact ')"
has "fish: parameters" "--source" "$(fishes 'loci fact write city Oslo --so')"
has "fish: choices" "running" "$(fishes 'loci job list --status ')"
has "fish: global options" "--store" "$(fishes 'loci fact write --st')"
run completion csh
is "a shell that is not served" 2 "$RC"
run completion
is "no shell" 2 "$RC"

# ---- Documents ----------------------------------------------------------------------------------
run reference --man
is "the man page" 0 "$RC"
printf '%s\n' "$OUT" >"$TMP/loci.1"
if command -v groff >/dev/null; then
    is "groff has nothing to complain about" "" \
        "$(groff -man -ww -Kutf8 -Tutf8 "$TMP/loci.1" 2>&1 >"$TMP/man.txt")"
    man=$(sed 's/.\x08//g; s/\x1b\[[0-9;]*m//g' "$TMP/man.txt")
    for command in $commands; do
        has "the man page has $command" "loci $command" "$man"
    done
else
    echo "note: no groff here, the man page was not rendered" >&2
fi
if command -v mandoc >/dev/null; then
    is "mandoc has no errors" "" "$(mandoc -T lint -W error "$TMP/loci.1" 2>&1)"
fi
run reference --markdown
is "the reference" 0 "$RC"
has "has the operations" "fact.write" "$OUT"
run reference
is "neither is wrong usage" 2 "$RC"
finish
