#!/usr/bin/env bash
# Tests of tests/header/run.sh.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
check() { "$root/tests/header/run.sh" "$tree"; }

with_headers() {
    new_tree
    put include/loci.h <"$root/include/loci.h"
    put tests/header/use.txt <"$root/tests/header/use.txt"
    put src/base/good.h <<<'#include <stdint.h>
typedef uint32_t lc_number;'
}

with_headers
put src/base/good.h <<<'#ifndef G
#define G
#include <stdint.h>
typedef struct lc_number { uint32_t n; } lc_number;
#endif'
passes "headers that stand alone" check

with_headers
put src/base/bad.h <<<'uint32_t lc_number(void);'
fails "a header that needs another first" "base/bad.h does not compile alone" check

with_headers
not_c99='typedef struct loci_x { struct { int y; }; } loci_x;'
sed -i "s|#endif /\* LOCI_H \*/|$not_c99\n&|" "$tree/include/loci.h"
fails "a public header that is not C99" "loci.h does not compile as C99" check

with_headers
sed -i 's|#endif /\* LOCI_H \*/|int loci_bad(int class);\n&|' "$tree/include/loci.h"
fails "a public header that is not C++" "loci.h does not compile as C++11" check

finish
