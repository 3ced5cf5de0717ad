#!/usr/bin/env bash
# Tests of tools/sizes: a small tree whose figures are known, alone and compared with a version.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
sizes() { "$root/tools/sizes" --root "$tree" "$@"; }

# prints NAME TEXT COMMAND...: the output has TEXT, where runs of spaces are one.
prints() {
    local name=$1 text=$2
    shift 2
    if "$@" 2>&1 | tr -s ' ' >"$scratch/output" && grep -qF -- "$text" "$scratch/output"; then
        verdict ok "$name"
    else
        verdict bad "$name: must print: $text"
    fi
}

sized() {
    new_tree
    put include/loci.h <<<'int loci_answer(void);'
    put src/base/a.h <<<'int lc_a_used(void);
int lc_a_unused(int lc_a_unused_name);
int lc_a_inside(void);'
    put src/base/a.c <<<'#include "base/a.h"
/* lc_a_unused() is in a comment, and "lc_a_unused" in a text below. */
static int once(void);
static int *twice(int a)
{
    return a > 0 ? twice(a - 1) : 0;
}
static int as_value(void)
{
    return 1;
}
int (*const table[])(void) = {as_value};
int lc_a_unused(int b)
{
    return "lc_a_unused"[b] + once();
}
int lc_a_inside(void)
{
    return twice(1) + twice(2);
}
int lc_a_used(void)
{
    return lc_a_inside();
}
static int once(void)
{
    return 0;
}'
    put src/pack/b.c <<<'#include "base/a.h"
int loci_answer(void)
{
    return lc_a_used();
}'
    put src/pack/c.c <<<'#include "base/a.h"'
    put src/pack/c.h </dev/null
}

sized
prints "lines and files of a folder" "base 31 lines 2 files" sizes
prints "lines and files of all" "all of src 37 lines 5 files" sizes
prints "the median .c file" "median .c 5" sizes
prints "static functions" "static functions 3" sizes
prints "called in one place, not as a value, not by itself" "one caller 1 (33 %)" sizes
prints "headers with one includer or none" "one includer 1 of 2" sizes
prints "functions without a user" "unused 1" sizes
prints "the names behind the figures" "src/base/a.c: lc_a_unused" sizes --list
prints "the header behind the figure" "src/pack/c.h" sizes --list

git -C "$tree" init -q
git -C "$tree" add -A
git -C "$tree" -c user.name=test -c user.email=test@localhost commit -qm first
rm "$tree/src/pack/c.h"
put src/new/d.c <<<'int lc_d;'
prints "a folder that shrank" "pack 6 lines 3 files 6 lines 2 files +0 lines -1 files" sizes HEAD
prints "a new folder" "new 0 lines 0 files 1 lines 1 files +1 lines +1 files" sizes HEAD
prints "shares of both" "one includer 1 of 2 0 of 1" sizes HEAD
rm -r "$tree/src/pack"
prints "a folder that is gone" "pack 6 lines 3 files 0 lines 0 files -6 lines -3 files" sizes HEAD
fails "a version that does not exist" "git cannot archive" sizes no-such-version
new_tree
fails "an empty tree" "no .c and .h files" sizes
finish
