#!/usr/bin/env bash
# Tests of tools/tidy: every rule has an input that offends it and one that does not.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
check() { "$root/tools/tidy" --root "$tree"; }

# lines N TEXT: N lines of it.
lines() { yes "$2" | head -n "$1"; }

tidied() {
    new_tree
    put src/pack/budget.h <<<'#ifndef LC_PACK_BUDGET_H
#define LC_PACK_BUDGET_H
int lc_budget_left(int a, int b, int c, int d, int e);
#endif'
    put src/pack/budget.c <<<'/* strcpy(a, b) in a comment is fine, "free(x)" in a text too. */
int lc_budget_left(int a, int b, int c, int d, int e)
{
    const char *text = "malloc(1) printf(2)";
    LC_ASSERT(a <= b && c >= d && e != 0 && a == b);
    heap->free(a);
    return text[a];
}'
    put README.md < <(printf 'Prose may be wide: %0100d\n' 1)
}

# offends NAME TEXT PATH: a clean tree with standard input at PATH is no longer clean.
offends() {
    tidied
    put "$3"
    fails "$1" "$2" check
}

# fits NAME PATH: and this one still is.
fits() {
    tidied
    put "$2"
    passes "$1" check
}

tidied
passes "a clean tree" check
new_tree
fails "an empty tree" "0 files" check

# Sizes.
lines 1200 'int x;' | fits "a .c file of 1200 lines" src/base/long.c
lines 1201 'int x;' | offends "a .c file of 1201 lines" "file-lines: 1201 lines" src/base/long.c
{ printf '#ifndef LC_BASE_LONG_H\n#define LC_BASE_LONG_H\n'; lines 399 '/* x */'; } |
    offends "a .h file of 401 lines" "file-lines: 401 lines" src/base/long.h
{ printf 'void f(void)\n{\n'; lines 100 '    x();'; echo '}'; } |
    fits "a function of 100 lines" src/base/long.c
{ printf 'void f(void)\n{\n'; lines 101 '    x();'; echo '}'; } |
    offends "a function of 101 lines" "long.c:1: function-lines: f has 101 lines" src/base/long.c
{
    printf 'static void *f(int a,\n    int b)\n{\n    if (a) {\n'
    lines 100 '    x();'
    printf '    }\n}\n'
} |
    offends "a function with a signature of two lines" "f has 102 lines" src/base/long.c
{ printf 'TEST(json, is_long)\n{\n'; lines 101 '    x();'; echo '}'; } |
    offends "a long test" "function-lines: json.is_long has 101 lines" tests/unit/long.c
offends "six parameters" "parameters: f has 6 parameters" src/base/wide.c \
    <<<'static int f(int a, int b, int c, int (*d)(int, int), int e, void *g)
{
}'
offends "six parameters in a prototype" "parameters: lc_f has 6" src/base/wide.h \
    <<<'#ifndef LC_BASE_WIDE_H
#define LC_BASE_WIDE_H
int lc_f(int a, int b, int c, int d, int e, int f) __attribute__((format(printf, 3, 4)));
#endif'
fits "five, a ctx and an err" src/base/wide.c \
    <<<'static int f(int a, int b, int c, int d, visit *e, void *ctx, loci_error *err)
{
}'
offends "six and an err" "parameters: f has 6 parameters" src/base/wide.c \
    <<<'static int f(int a, int b, int c, int d, int e, int g, loci_error *err)
{
}'
fits "five, one of them a function" src/base/wide.c \
    <<<'static int f(int a, int b, int c, int (*d)(int, int, int), int e)
{
    g(1, 2, 3, 4, 5, 6, 7, 8);
}'
fits "a public function" src/ops/call.c \
    <<<'int loci_call(int a, int b, int c, int d, int e, int f)
{
}'
offends "a long line" "columns: 101 columns" src/base/x.c < <(printf '/*%97s*/\n' '')
fits "a line of 100 columns with long characters" src/base/x.c < <(printf '/*%95sµ*/\n' '')
head -c 262145 /dev/zero | tr '\0' 'x' | offends "a large file" "file-bytes: 262145" docs/large.txt

# Names and text.
offends "a file that says nothing" "file-name" tests/unit/json_helper.c <<<'int x;'
fits "a name that only contains one" src/base/utility.c <<<'int x;'
offends "a tab" "tab" src/base/x.c < <(printf '\tint x;\n')
offends "trailing space" "trailing-space" docs/x.md < <(printf 'x \n')
offends "CRLF" "line-ending: carriage" docs/x.md < <(printf 'x\r\n')
offends "no newline at the end" "line-ending: no newline" docs/x.md < <(printf 'x')
offends "bytes that are not text" "not UTF-8" docs/x.md < <(printf '\xff\n')
fits "data for a parser" tests/fuzz/corpus/json/1 < <(printf '\xff\t \r')
offends "a fix-me" "fix-me" src/base/x.c <<<"/* FIX""ME later */"
offends "a to-do without an issue" "to-do" script/x.sh <<<"# TO""DO: later"
fits "a to-do with an issue" src/base/x.c <<<"/* TO""DO(#12): later */"
offends "a slip" "spelling" docs/x.md <<<"to rec""ieve"
offends "a path of some machine" "outside-path" docs/x.md <<<"see /ho""me/someone/notes"
offends "a host of some network" "outside-path" docs/x.md <<<"from http://regi""stry:4873/x"
offends "another" "outside-path" docs/x.md <<<"from https://npm.corp.inter""nal/x"
fits "public links and usual paths" docs/x.md \
    <<<"https://example.com/ho""me/x http://localhost:1/x http://127.0.0.1:1/ /usr/bin a/wo""rk/b"

# Functions.
offends "an unsafe function" "unsafe-function: sprintf" src/store/x.c \
    <<<'int a = sprintf(b, "x");'
offends "an unsafe function in a test" "unsafe-function: atoi" tests/unit/x.c \
    <<<'int a = atoi(b);'
fits "its safe relatives" src/store/x.c \
    <<<'int a = snprintf(b, 1, "x") + gmtime_r(c) + lc_rand(1);'
offends "malloc in the library" "memory-function: malloc" src/store/x.c <<<'int *a = malloc(1);'
offends "free in the program" "memory-function: free" src/cli/x.c <<<'int a = free (1);'
fits "malloc in base" src/base/x.c <<<'int *a = malloc(1);'
fits "malloc in a test" tests/unit/x.c <<<'int *a = malloc(1);'
fits "a member and a longer name" src/store/x.c <<<'int a = b->free(1) + b.free(1) + lc_free(1);'
offends "a print in the library" "loud-function: printf" src/store/x.c \
    <<<'int a = printf("x");'
offends "the environment in the library" "loud-function: getenv" src/engine/x.c \
    <<<'int a = getenv("x");'
offends "a stream in the library" "loud-function: stderr" src/engine/x.c \
    <<<'int a = fputs("x", stderr);'
fits "a print in the program" src/cli/x.c <<<'int a = printf("x") + fputs("x", stderr);'
offends "an assert that counts" "assert-effect" src/store/x.c \
    <<<'int a = LC_ASSERT(b++ < 3);'
offends "an assert that assigns" "assert-effect" src/store/x.c \
    <<<'int a = LC_ASSERT((b = f(c)) == 1);'
offends "a wrong guard" "header-guard: expected LC_STORE_DB_TX_H" src/store/db_tx.h \
    <<<'#ifndef LC_TX_H
#define LC_TX_H
#endif'

# Exceptions.
allow_long() {
    tidied
    lines 1210 'int x;' | put src/base/long.c
    put tools/tidy_allow.txt <<<"file-lines src/base/long.c $1 a table"
}
allow_long 1210
passes "an exception" check
allow_long 1209
fails "an exception that does not reach" "1210 lines" check
allow_long 1300
fails "an exception with room to spare" "lower it to 1210" check
tidied
put tools/tidy_allow.txt <<<"file-lines src/base/long.c 1210 a table"
fails "an exception for nothing" "no longer needed" check
put tools/tidy_allow.txt <<<"file-lines src/base/long.c 1210"
fails "an exception without a reason" "expected RULE PATH" check
tidied
put src/store/x.c <<<'int *a = malloc(1);
int *b = malloc(1);'
put tools/tidy_allow.txt <<<"memory-function src/store/x.c:malloc 2 before there was an allocator"
passes "an exception that counts" check
put src/store/x.c <<<'int *a = malloc(1);'
fails "an exception that counts too many" "lower it to 1" check

finish
