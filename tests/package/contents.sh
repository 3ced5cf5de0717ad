#!/bin/bash
# The packages have the files that they should have, and the unpacked tree works.
# shellcheck source=tests/package/lib.sh
. "$(dirname "$0")/lib.sh"

# contains PACKAGE FILE... - and under no other name.
contains() {
    local list file
    list=$(dpkg-deb -c "$(deb "$1")" | awk '{sub(/^\.\//, "", $6); print $6}')
    for file in "${@:2}"; do
        is "$1 has $file" yes "$(grep -qx "$file" <<<"$list" && echo yes)"
    done
}
lib=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
contains loci usr/bin/loci etc/loci/loci.json lib/systemd/system/loci.service \
    usr/lib/sysusers.d/loci.conf usr/lib/tmpfiles.d/loci.conf usr/share/man/man1/loci.1.gz \
    usr/share/bash-completion/completions/loci usr/share/zsh/vendor-completions/_loci \
    usr/share/fish/vendor_completions.d/loci.fish usr/share/doc/loci/README.md.gz
contains libloci0.1 "$lib/libloci.so.0.1" "$lib/libloci.so.$VERSION"
contains libloci-dev usr/include/loci.h "$lib/libloci.a" "$lib/libloci.so" \
    "$lib/pkgconfig/loci.pc" "$lib/cmake/loci/lociConfig.cmake" \
    usr/share/doc/libloci-dev/examples/state.c
contains loci-data usr/share/loci/o200k_base.loci usr/share/loci/cl100k_base.loci \
    usr/share/loci/use_lite_en.loci
twice=$(for name in loci libloci0.1 libloci-dev loci-data; do
    dpkg-deb -c "$(deb "$name")" | awk '$6 !~ /\/$/ {print $6}'
done | sort | uniq -d)
is "no file is in two packages" "" "$twice"

is "the settings are a configuration file" /etc/loci/loci.json \
    "$(dpkg-deb -I "$(deb loci)" conffiles)"
has "the daemon's library is required" libmicrohttpd12 "$(dpkg-deb -f "$(deb loci)" Depends)"
is "the data is for all processors" all "$(dpkg-deb -f "$(deb loci-data)" Architecture)"
has "programs are told which version of the library they need" "libloci 0.1 libloci0.1" \
    "$(dpkg-deb -I "$(deb libloci0.1)" shlibs)"
for tool in relro now; do
    has "the program is hardened: $tool" "$tool" \
        "$(readelf -lWd "$LOCI" | tr '[:upper:]' '[:lower:]')"
done
is "no path of the build is in the program" "" "$(strings "$LOCI" | grep -F "$DEBS" | head -3)"

run --version
is "the program has the version of the package" "loci $VERSION" "${OUT%% (*}"
export PKG_CONFIG_PATH=$UNPACKED/$lib/pkgconfig LD_LIBRARY_PATH=$UNPACKED/$lib
read -r -a flags < <(pkg-config --cflags --libs loci)
cc "$REPOSITORY/examples/state.c" "${flags[@]}" -o "$TMP/state"
has "a program is built with libloci-dev" Oslo "$("$TMP/state" "$TMP/a.db" 2>&1)"
LOCI=$LOCI "$REPOSITORY/tests/e2e/readme.sh" >"$TMP/readme.log" 2>&1
is "the commands of the README" "0 " "$? $(grep -A2 FAIL "$TMP/readme.log")"
finish
