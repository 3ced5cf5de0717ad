#!/usr/bin/env bash
# Tests of tools/check_abi.sh: accepts the interface of a small library, then changes it.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
cc=${CC:-cc}

# library MEMBERS PARAMETERS CODE: libloci.so.9 whose struct and function have them.
library() {
    put include/loci.h <<<"#define LOCI_VERSION_MAJOR 9
#define LOCI_VERSION_MINOR 0
#define LOCI_VERSION_PATCH 2
#define LOCI_API __attribute__((visibility(\"default\")))
typedef struct loci_engine loci_engine;
typedef struct loci_error { $1 } loci_error;
LOCI_API int loci_open($2, loci_engine **out, loci_error *err);
LOCI_API int loci_close(loci_engine *engine);"
    put lib.c <<<"#include \"loci.h\"
struct loci_engine { int inside; };
int loci_open($2, loci_engine **out, loci_error *err) { return a + !out + !err; }
int loci_close(loci_engine *engine) { return engine->inside; }
$3"
    put loci.map <<<'LOCI_9 { global: loci_*; local: *; };'
    "$cc" -g -shared -fPIC -fvisibility=hidden -I"$tree/include" "$tree/lib.c" \
        -Wl,-soname,libloci.so.9 -Wl,--version-script="$tree/loci.map" -o "$tree/libloci.so"
}
check() { "$root/tools/check_abi.sh" "$tree" "$tree"; }

new_tree
mkdir "$tree/debian"
library 'int code;' 'int a' ''
fails "nothing was accepted yet" "starts with --accept" check
passes "it is accepted" "$root/tools/check_abi.sh" --accept "$tree" "$tree"
passes "the same interface" check
library 'int code;' 'int a' 'int lc_more(void) { return 1; }'
passes "a function of ours" check
sed -i 's/int inside;/long more; int inside;/' "$tree/lib.c"
"$cc" -g -shared -fPIC -fvisibility=hidden -I"$tree/include" "$tree/lib.c" \
    -Wl,-soname,libloci.so.9 -Wl,--version-script="$tree/loci.map" -o "$tree/libloci.so"
passes "what is behind a handle" check
library 'int code; int more;' 'int a' ''
fails "a member more" "more" check
library 'int code;' 'long a' ''
fails "another parameter" "changed from 'int' to 'long int'" check
library 'int code;' 'int a' 'LOCI_API int loci_new(void) { return 1; }'
fails "a new function" "loci_new@LOCI_9 is new" check
passes "it is accepted" "$root/tools/check_abi.sh" --accept "$tree" "$tree"
passes "and then part of the interface" check
library 'int code;' 'int a' ''
fails "a function that is gone" "loci_new@LOCI_9 is exported no more" check

# Without abidiff the list is compared all the same.
mkdir "$tree/bin"
for tool in sh dirname mktemp rm readelf sed nm awk sort comm grep uname wc cat; do
    ln -s "$(command -v "$tool")" "$tree/bin/$tool"
done
fails "a function that is gone, without abidiff" "is exported no more" \
    env PATH="$tree/bin" "$root/tools/check_abi.sh" "$tree" "$tree"

finish
