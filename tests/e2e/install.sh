#!/bin/bash
# An installed tree: at any prefix, moved afterwards, the library finds its data, pkg-config and
# CMake find the library, and every example runs where its toolchain is installed.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/npm_lib.sh
. "$(dirname "$0")/npm_lib.sh"

cmake --install "$BUILD_DIR" --prefix "$TMP/first" >"$TMP/install.log" 2>&1
is "cmake --install" 0 "$?"
mv "$TMP/first" "$TMP/tree" # Nothing in it may name the old place.
tree=$TMP/tree
for file in bin/loci include/loci.h lib/libloci.a lib/pkgconfig/loci.pc \
    lib/cmake/loci/lociConfig.cmake share/man/man1/loci.1 \
    share/bash-completion/completions/loci share/zsh/site-functions/_loci \
    share/fish/vendor_completions.d/loci.fish lib/systemd/system/loci.service \
    lib/sysusers.d/loci.conf lib/tmpfiles.d/loci.conf; do
    is "$file is installed" yes "$([ -s "$tree/$file" ] && echo yes)"
done
is "the soname has the minor version" libloci.so.0.1 \
    "$(readelf -d "$tree/lib/libloci.so" | sed -n 's/.*soname: \[\(.*\)\]/\1/p')"
is "symbols have a version" yes \
    "$(nm -D "$tree/lib/libloci.so" | grep -q 'T loci_call@@LOCI_0.1' && echo yes)"
is "the Debian packages have the version of the program" "$("$LOCI" --version)" \
    "loci $(sed -n '1s/.*(\(.*\)).*/\1/p' "$REPOSITORY/debian/changelog")"
is "the man page has no warning" "" \
    "$(man --warnings -l "$tree/share/man/man1/loci.1" 2>&1 >/dev/null)"
counted=$("$tree/bin/loci" call text.count '{"text":"a b"}' --store "$TMP/none.db")
is "the program finds its data" false "$(value "$counted" estimated)"

export PKG_CONFIG_PATH=$tree/lib/pkgconfig LD_LIBRARY_PATH=$tree/lib
examples=$REPOSITORY/examples
# shows NAME COMMAND… - the example writes a fact, reads it and shows an error.
shows() {
    local name=$1
    shift
    OUT=$("$@" "$TMP/$name.db" 2>"$TMP/err")
    is "$name: exit code" 0 "$?"
    is "$name: the fact" Oslo "$(value "$(line "$OUT" 1)" value)"
    has "$name: the error" invalid_argument "$(line "$OUT" 2)"
}
# builds NAME COMMAND…
builds() {
    "${@:2}" >"$TMP/build.log" 2>&1
    is "$1 is built" "0 " "$? $([ -x "$TMP/state-$1" ] || cat "$TMP/build.log")"
}
read -r -a flags < <(pkg-config --cflags --libs loci)
builds c cc "$examples/state.c" "${flags[@]}" -o "$TMP/state-c"
shows c "$TMP/state-c"
# The program is outside the tree: only the library knows where the data is.
cat >"$TMP/count.c" <<'C'
#include <loci.h>
#include <stdio.h>
int main(int argc, char **argv)
{
    loci_engine *engine = loci_open_text(argv[argc - 1], NULL, NULL);
    char *text = loci_call_text(engine, "text.count", "{\"text\":\"a b\"}", NULL);
    puts(text);
    loci_text_free(text);
    loci_close(engine);
    return 0;
}
C
cc "$TMP/count.c" "${flags[@]}" -o "$TMP/count"
is "the library finds its data" false "$(value "$("$TMP/count" "$TMP/count.db")" estimated)"
mkdir "$TMP/static"
cp "$tree/lib/libloci.a" "$TMP/static/"
read -r -a flags < <(pkg-config --static --cflags --libs loci)
builds static cc "$examples/state.c" -L"$TMP/static" "${flags[@]}" -o "$TMP/state-static"
shows static "$TMP/state-static"
is "the static program does not need libloci.so" "" "$(ldd "$TMP/state-static" | grep libloci)"
cmake -S "$examples" -B "$TMP/cpp" -DCMAKE_PREFIX_PATH="$tree" >"$TMP/cmake.log" 2>&1 &&
    cmake --build "$TMP/cpp" >>"$TMP/cmake.log" 2>&1
shows cpp "$TMP/cpp/state"
shows python env LIBLOCI="$tree/lib/libloci.so" python3 "$examples/state.py"
if go version >/dev/null 2>&1; then
    CGO_CFLAGS=$(pkg-config --cflags loci) CGO_LDFLAGS=$(pkg-config --libs loci) \
        builds go go build -o "$TMP/state-go" "$examples/state.go"
    shows go "$TMP/state-go"
fi
# Where rustup is installed, its rustc works only with the caller's home; Debian's is beside it.
rustc=$(for rustc in rustc /usr/bin/rustc; do
    ! "$rustc" --version >/dev/null 2>&1 || { echo "$rustc" && break; }
done)
if [ -n "$rustc" ]; then
    builds rust "$rustc" "$examples/state.rs" -L "$tree/lib" -o "$TMP/state-rust"
    shows rust "$TMP/state-rust"
fi

# Last: without npm the script ends here.
npm_install koffi koffi@2.9.0
cp "$examples/state.mjs" "$NPM/state.mjs" # Packages are found from where a script is.
shows node env LIBLOCI="$tree/lib/libloci.so" node "$NPM/state.mjs"
finish
