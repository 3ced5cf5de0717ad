#!/bin/sh
# run.sh - loci.h compiles alone as strict C99 and as C++11; each internal header compiles alone.
# CC and CXX choose the compilers. Takes the root of the tree as its argument, for its own test.
set -u

cd "${1:-$(dirname "$0")/../..}" || exit 2
cc=${CC:-cc}
cxx=${CXX:-c++}
flags=$(pkg-config --cflags sqlite3 libxxhash libsodium libpq 2>/dev/null)
passed=0
failed=0

# try WHAT HEADER COMPILER FLAG...: compiles a file that only includes HEADER, twice.
try() {
    what=$1
    header=$2
    shift 2
    if printf '#include "%s"\n#include "%s"\nextern int unused;\n' "$header" "$header" |
        "$@" -Iinclude -fsyntax-only -; then
        passed=$((passed + 1))
    else
        echo "FAIL $header does not compile $what"
        failed=$((failed + 1))
    fi
}

try "as C99" loci.h "$cc" -x c -std=c99 -pedantic -Wall -Wextra -Werror
try "as C17" loci.h "$cc" -x c -std=c17 -pedantic -Wall -Wextra -Werror
try "as C++11" loci.h "$cxx" -x c++ -std=c++11 -pedantic -Wall -Wextra -Werror
try "as C++17" loci.h "$cxx" -x c++ -std=c++17 -pedantic -Wall -Wextra -Werror

# What the initialisers expand to is compiled only where it is used.
for language in "c -std=c99" "c++ -std=c++11"; do
    # shellcheck disable=SC2086
    if "$cc" -x $language -pedantic -Wall -Wextra -Werror -Wno-missing-field-initializers \
        -Iinclude -fsyntax-only tests/header/use.txt; then
        passed=$((passed + 1))
    else
        echo "FAIL use.txt does not compile as $language"
        failed=$((failed + 1))
    fi
done

for header in $(find src -name '*.h' 2>/dev/null | LC_ALL=C sort); do
    # shellcheck disable=SC2086
    try alone "${header#src/}" "$cc" -x c -std=c17 -D_GNU_SOURCE -Wall -Wextra -Werror -Isrc $flags
done

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
