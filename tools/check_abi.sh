#!/bin/sh
# check_abi.sh [--accept] BUILD_DIR [ROOT] - compares the interface of libloci.so with the accepted
# one, so that a program that was linked with it keeps working.
#
#  - debian/libloci<soversion>.symbols lists the exported functions, each with its first version;
#  - abi/loci-<soversion>.abi has their parameters and the types of loci.h, written by abidw.
#
# A new function is compatible but must be accepted; everything else needs a new soversion once a
# version is released. --accept takes the interface of this build over into both files; a line in
# CHANGELOG.md says what changed. Without abidiff (Debian: abigail-tools), or on another processor
# than that of the dump, only the list is compared.
set -eu

accept=
if [ "${1:-}" = --accept ]; then
    accept=1
    shift
fi
build=${1:?usage: check_abi.sh [--accept] BUILD_DIR [ROOT]}
root=${2:-$(dirname "$0")/..}
library=$build/libloci.so
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
[ -r "$library" ] || { echo "check_abi: no $library" >&2; exit 2; }

soname=$(readelf -d "$library" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')
soversion=${soname#libloci.so.}
symbols=$root/debian/libloci$soversion.symbols
dump=$root/abi/loci-$soversion.abi
# write_dump: only what loci.h shows, neither functions of ours nor what is behind a handle.
write_dump() {
    abidw --exported-interfaces-only --drop-private-types --headers-dir "$root/include" \
        --no-show-locs --no-corpus-path --no-comp-dir-path --no-elf-needed "$library"
}

nm -D --defined-only "$library" | awk '{sub(/@@/, "@", $3); if ($2 != "A") print $3}' |
    LC_ALL=C sort >"$scratch/exported"
if [ -n "$accept" ]; then
    version=$(sed -n 's/^#define LOCI_VERSION_[MP][A-Z]* //p' "$root/include/loci.h" | paste -sd.)
    touch "$symbols"
    {
        echo "$soname libloci$soversion #MINVER#"
        { echo "LOCI_$soversion@LOCI_$soversion" && cat "$scratch/exported"; } |
            while read -r name; do
                since=$(awk -v name="$name" '$1 == name {print $2}' "$symbols")
                echo " $name ${since:-$version}"
            done
    } >"$scratch/symbols"
    cp "$scratch/symbols" "$symbols"
    mkdir -p "$root/abi"
    write_dump >"$dump"
    echo "check_abi: accepted; say in CHANGELOG.md what changed"
    exit 0
fi

bad=0
for file in "$symbols" "$dump"; do
    [ -r "$file" ] || { echo "check_abi: no $file; a new soversion starts with --accept"; exit 1; }
done
awk '/^ loci_/ {print $1}' "$symbols" | LC_ALL=C sort >"$scratch/accepted"
LC_ALL=C comm -23 "$scratch/accepted" "$scratch/exported" | sed 's/$/ is exported no more/' \
    >"$scratch/differs"
LC_ALL=C comm -13 "$scratch/accepted" "$scratch/exported" | sed 's/$/ is new/' >>"$scratch/differs"
if [ -s "$scratch/differs" ]; then
    cat "$scratch/differs"
    bad=1
fi

compared="functions, parameters and types"
if ! command -v abidiff >/dev/null 2>&1; then
    compared="the list of functions only: abidiff is not installed"
elif ! grep -q "architecture='elf-amd-x86_64'" "$dump" || [ "$(uname -m)" != x86_64 ]; then
    compared="the list of functions only: the dump is of another processor"
else
    # Dump with dump: abidiff does not drop the types of a library as abidw does.
    write_dump >"$scratch/now.abi"
    abidiff --no-added-syms "$dump" "$scratch/now.abi" >"$scratch/diff" 2>&1 || {
        cat "$scratch/diff"
        bad=1
    }
fi
if [ "$bad" != 0 ]; then
    echo "check_abi: $soname is not the interface that was accepted; tools/check_abi.sh --accept"
    exit 1
fi
echo "check_abi: $(wc -l <"$scratch/exported") functions of $soname; compared $compared"
