#!/bin/sh
# check_symbols.sh BUILD_DIR [ROOT] - fails when the libraries show or hold what they should not.
#
#  - libloci.so exports exactly the functions that loci.h declares;
#  - every global symbol of libloci.a starts with lc_ or loci_: a static library shares one
#    namespace with its host;
#  - libloci.a has no writable data of its own: no mutable globals. Exceptions, each with its
#    reason, are in tools/globals_allow.txt.
set -eu

build=${1:?usage: check_symbols.sh BUILD_DIR [ROOT]}
root=${2:-$(dirname "$0")/..}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
bad=0

for file in "$build/libloci.so" "$build/libloci.a" "$root/include/loci.h"; do
    [ -r "$file" ] || { echo "check_symbols: no $file" >&2; exit 2; }
done

# The declarations, joined to one line each: LOCI_API <type> <name>(...
tr '\n' ' ' <"$root/include/loci.h" | sed 's/LOCI_API /\n&/g' |
    sed -n 's/^LOCI_API [^(]*[ *]\(loci_[a-z0-9_]*\)(.*/\1/p' |
    LC_ALL=C sort -u >"$scratch/declared"
[ -s "$scratch/declared" ] || { echo "check_symbols: loci.h declares nothing?" >&2; exit 2; }

nm -D --defined-only "$build/libloci.so" | awk '$2 != "A" {print $3}' | sed 's/@.*//' |
    LC_ALL=C sort -u >"$scratch/exported"
LC_ALL=C comm -13 "$scratch/declared" "$scratch/exported" >"$scratch/extra"
LC_ALL=C comm -23 "$scratch/declared" "$scratch/exported" >"$scratch/missing"
while read -r name; do
    echo "libloci.so exports $name, which loci.h does not declare"
    bad=1
done <"$scratch/extra"
while read -r name; do
    echo "loci.h declares $name, which libloci.so does not export"
    bad=1
done <"$scratch/missing"

nm -g --defined-only "$build/libloci.a" 2>/dev/null |
    awk 'NF == 3 && $3 !~ /^(lc|loci)_/ {print $3}' | LC_ALL=C sort -u >"$scratch/unprefixed"
while read -r name; do
    echo "libloci.a defines $name: a global name starts with lc_ (or loci_)"
    bad=1
done <"$scratch/unprefixed"

# objdump tells .data.rel.ro (constant after loading) from .data, which nm does not.
objdump -t "$build/libloci.a" 2>/dev/null | awk '
    /^[0-9a-f]+ / && $(NF - 2) ~ /^\.(data|bss|tdata|tbss)/ && $(NF - 2) !~ /^\.data\.rel\.ro/ &&
    $NF !~ /^\./ && $(NF - 1) !~ /^0+$/ { print $NF }' |
    sed 's/\.[0-9]*$//' | LC_ALL=C sort -u >"$scratch/mutable"
sed 's/#.*//' "$root/tools/globals_allow.txt" 2>/dev/null | awk 'NF {print $1}' |
    LC_ALL=C sort -u >"$scratch/allowed"
LC_ALL=C comm -23 "$scratch/mutable" "$scratch/allowed" >"$scratch/globals"
LC_ALL=C comm -13 "$scratch/mutable" "$scratch/allowed" >"$scratch/stale"
while read -r name; do
    echo "libloci.a has a mutable global: $name"
    bad=1
done <"$scratch/globals"
while read -r name; do
    echo "tools/globals_allow.txt allows $name, which does not exist: remove it"
    bad=1
done <"$scratch/stale"

[ "$bad" = 0 ] || exit 1
echo "check_symbols: $(wc -l <"$scratch/exported") functions"
