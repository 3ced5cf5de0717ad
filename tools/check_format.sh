#!/bin/sh
# check_format.sh [ROOT] - fails when clang-format would change a file of the tree.
# check_format.sh --fix FILE... - lets it change these. Only files that are named: others may have
# somebody's unfinished work in them.
set -eu

# Another version formats differently, so everybody uses Debian 12's.
wanted=14
for tool in "clang-format-$wanted" clang-format; do
    if command -v "$tool" >/dev/null 2>&1; then break; fi
done
case $("$tool" --version 2>/dev/null) in
*"version $wanted."*) ;;
*) echo "check_format: clang-format $wanted is needed (script/setup installs it)" >&2; exit 2 ;;
esac

if [ "${1:-}" = --fix ]; then
    shift
    [ $# -gt 0 ] || { echo "usage: check_format.sh --fix FILE..." >&2; exit 2; }
    exec "$tool" --style=file -i "$@"
fi

cd "${1:-$(dirname "$0")/..}"
list=$(mktemp)
trap 'rm -f "$list"' EXIT
for dir in include src tests bench examples; do
    [ ! -d "$dir" ] || find "$dir" -type f \( -name '*.c' -o -name '*.h' \) \
        -not -path '*/fixtures/*' -not -path '*/node_modules/*'
done | LC_ALL=C sort >"$list"

xargs -r "$tool" --style=file --dry-run -Werror --ferror-limit=3 <"$list"
echo "check_format: $(wc -l <"$list") files"
