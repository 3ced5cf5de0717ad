#!/bin/sh
# check_layers.sh [ROOT] - fails when a file of src/ includes what its folder may not.
#
# The rules are ROOT/tools/layers.txt. Besides them: an include is written from src/, as in
# "store/store.h"; a header named *_private.h is only for its own folder; every folder has a rule.
set -eu

root=${1:-$(dirname "$0")/..}
cd "$root"
[ -r tools/layers.txt ] || { echo "check_layers: no tools/layers.txt in $root" >&2; exit 2; }

find src -type f \( -name '*.c' -o -name '*.h' \) 2>/dev/null | LC_ALL=C sort |
    awk '
    function complain(text) { print text; bad++ }

    # The rules.
    FNR == NR {
        sub(/#.*/, "")
        if (NF == 0) next
        if ($2 == "=") { for (i = 3; i <= NF; i++) is_room[$i] = 1; next }
        if ($2 != ":") { complain("tools/layers.txt:" FNR ": expected `name : names`"); next }
        if ($1 ~ /^</) {
            outside[$1] = " "
            for (i = 3; i <= NF; i++) outside[$1] = outside[$1] $i " "
            next
        }
        for (i = 3; i <= NF; i++) {
            if (!($i in is_layer))
                complain("tools/layers.txt:" FNR ": " $1 " includes " $i ", which is not below it")
            may[$1, $i] = 1
        }
        is_layer[$1] = 1
        may[$1, $1] = 1
        next
    }

    # The files.
    {
        path = $0
        if (split(path, part, "/") < 3) { complain(path ": belongs in a folder of src/"); next }
        check(path, part[2])
        files++
    }

    function check(path, layer,    line, number, name, target, words) {
        if (!(layer in is_layer)) {
            complain(path ": src/" layer "/ has no rule in tools/layers.txt")
            return
        }
        while ((getline line < path) > 0) {
            number++
            if (line !~ /^[ \t]*#[ \t]*include[ \t]*[<"]/) continue
            name = line
            sub(/^[ \t]*#[ \t]*include[ \t]*/, "", name)
            if (name ~ /^</) {
                sub(/>.*/, ">", name)
                if (name in outside && index(outside[name], " " layer " ") == 0)
                    complain(path ":" number ": " name " is only for" outside[name])
                continue
            }
            sub(/^"/, "", name); sub(/".*/, "", name)
            if (name == "loci.h") continue
            if (name ~ /^\.\.?\// || split(name, words, "/") < 2) {
                complain(path ":" number ": write \"" name "\" from src/, as in \"store/store.h\"")
                continue
            }
            target = words[1]
            if (!((layer, target) in may))
                complain(path ":" number ": " layer " may not include " name)
            else if (name ~ /_private\.h$/ && target != layer)
                complain(path ":" number ": " name " is private to " target)
        }
        close(path)
    }

    END {
        for (pair in may) {
            split(pair, ends, SUBSEP)
            if (ends[1] != ends[2] && ends[1] in is_room && ends[2] in is_room)
                complain("tools/layers.txt: room " ends[1] " may not include room " ends[2])
        }
        if (bad > 0) { print "check_layers: " bad " offences"; exit 1 }
        print "check_layers: " files + 0 " files"
    }' tools/layers.txt -
