#!/usr/bin/env bash
# Tests of tools/check_format.sh.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
check=$root/tools/check_format.sh

formatted() {
    new_tree
    put .clang-format <"$root/.clang-format"
    put src/base/good.c <<<'int lc_add(int a, int b)
{
    if (a == 0)
        return b;
    return a + b;
}'
}

formatted
passes "a clean tree" "$check" "$tree"

formatted
put src/base/bad.c <<<'int lc_add(int a, int b) { return a+b; }'
fails "a function on one line" 'src/base/bad.c' "$check" "$tree"

formatted
put tests/unit/bad.c <<<'int* lc_pointer;'
fails "a pointer on the left, in a test" 'tests/unit/bad.c' "$check" "$tree"

formatted
put src/base/bad.c <<<'int *lc_pointer; int b;'
cp "$tree/src/base/bad.c" "$tree/src/base/other.c"
passes "a fix" "$check" --fix "$tree/src/base/bad.c"
fails "a fix of one file leaves the other" 'src/base/other.c' "$check" "$tree"
passes "a fix of the other" "$check" --fix "$tree/src/base/other.c"
passes "what was fixed is clean" "$check" "$tree"
fails "a fix of nothing" 'usage' "$check" --fix

finish
