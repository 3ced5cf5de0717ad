#!/usr/bin/env bash
# Tests of tools/check_symbols.sh: builds small libraries to show it.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
cc=${CC:-cc}

# library CODE: libloci.so and libloci.a from it, beside a header that declares two functions.
library() {
    new_tree
    put include/loci.h <<<'#define LOCI_API __attribute__((visibility("default")))
LOCI_API int loci_open(int a,
                       int b);
LOCI_API const char *loci_version(void);'
    put lib.c <<<"#include \"loci.h\"
int loci_open(int a, int b) { return a + b; }
const char *loci_version(void) { return \"1\"; }
$1"
    "$cc" -Werror -fPIC -fvisibility=hidden -I"$tree/include" -c "$tree/lib.c" -o "$tree/lib.o" &&
        "$cc" -shared "$tree/lib.o" -o "$tree/libloci.so" && ar rcs "$tree/libloci.a" "$tree/lib.o"
}
check() { "$root/tools/check_symbols.sh" "$tree" "$tree"; }

library 'int lc_inside(void) { static const char *const names[] = {"a", "b"}; return names[0][0]; }'
passes "a clean library" check

library 'LOCI_API int loci_secret(void) { return 1; }'
fails "an export that is not declared" "exports loci_secret" check

library ''
printf 'LOCI_API int loci_promise(void);\n' >>"$tree/include/loci.h"
fails "a declaration without a function" "declares loci_promise" check

library 'int helper(void) { return 1; }'
fails "a global without prefix" "defines helper" check

library 'static int counter; int lc_count(void) { return ++counter; }'
fails "a mutable global" "mutable global: counter" check
put tools/globals_allow.txt <<<'counter  it is a test'
passes "an allowed one" check

library 'static _Thread_local int stock = 3; int lc_count(void) { return ++stock; }'
fails "a thread-local" "mutable global: stock" check

library 'int lc_count(void) { static int calls; return ++calls; }'
fails "a mutable static in a function" "mutable global: calls" check

library ''
put tools/globals_allow.txt <<<'counter  it is gone'
fails "a stale exception" "does not exist" check

new_tree
fails "no library" "no $tree/libloci.so" check

finish
