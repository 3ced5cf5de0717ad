# lib.sh - sourced by the tests of the checkers. Each makes small trees in $tree and says what a
# checker must answer; a checker that matches nothing fails here. `finish` prints the count.
# shellcheck shell=bash
set -uo pipefail
# So that the last command of a pipe counts in this shell, not in a copy of it.
shopt -s lastpipe

# shellcheck disable=SC2034 # For those that source this.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
tree=$scratch/tree
passed=0
failed=0

# new_tree: an empty tree to put files into.
new_tree() {
    rm -rf "$tree"
    mkdir -p "$tree"
}

# put PATH: standard input becomes that file of the tree.
put() {
    mkdir -p "$(dirname "$tree/$1")"
    cat >"$tree/$1"
}

verdict() {
    if [ "$1" = ok ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'FAIL %s\n' "$2"
        sed 's/^/    /' "$scratch/output"
    fi
}

# passes NAME COMMAND...
passes() {
    local name=$1
    shift
    if "$@" >"$scratch/output" 2>&1; then
        verdict ok "$name"
    else
        verdict bad "$name: must pass"
    fi
}

# fails NAME TEXT COMMAND...: it must fail, and say TEXT if there is one.
fails() {
    local name=$1 text=$2
    shift 2
    if "$@" >"$scratch/output" 2>&1; then
        verdict bad "$name: must fail"
    elif [ -z "$text" ] || grep -qF -- "$text" "$scratch/output"; then
        verdict ok "$name"
    else
        verdict bad "$name: must say: $text"
    fi
}

finish() {
    echo "$passed passed, $failed failed"
    [ "$failed" = 0 ]
}
