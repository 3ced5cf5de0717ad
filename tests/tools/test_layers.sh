#!/usr/bin/env bash
# Tests of tools/check_layers.sh.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
check=$root/tools/check_layers.sh

# layered: a clean tree with the real rules.
layered() {
    new_tree
    put tools/layers.txt <"$root/tools/layers.txt"
    put src/base/str.h <<<'#include "loci.h"'
    put src/fact/fact.c <<<'#include "fact/fact.h"
#include <string.h>
#include "base/str.h"
#include "store/db.h"'
}

layered
passes "a clean tree" "$check" "$tree"

layered
put src/base/bad.c <<<'#include "store/db.h"'
fails "an include upwards" 'src/base/bad.c:1: base may not include store/db.h' "$check" "$tree"

layered
put src/fact/bad.c <<<'  #  include "memory/memory.h"'
fails "a room in a room" 'fact may not include memory/memory.h' "$check" "$tree"

layered
put src/fact/bad.c <<<'#include "fact.h"'
fails "an include without its folder" 'write "fact.h" from src/' "$check" "$tree"

layered
put src/fact/bad.c <<<'#include "../base/str.h"'
fails "an include with dots" 'write "../base/str.h" from src/' "$check" "$tree"

layered
put src/fact/bad.c <<<'#include "store/tx_private.h"'
fails "a private header of another" 'store/tx_private.h is private to store' "$check" "$tree"

layered
put src/store/good.c <<<'#include "store/tx_private.h"'
passes "a private header of its own" "$check" "$tree"

layered
put src/fact/bad.c <<<'#include <sqlite3.h>'
fails "sqlite outside the store" '<sqlite3.h> is only for store' "$check" "$tree"

layered
put src/store/good.c <<<'#include <sqlite3.h>'
passes "sqlite in the store" "$check" "$tree"

layered
put src/attic/old.c <<<'int x;'
fails "a folder without a rule" 'src/attic/ has no rule' "$check" "$tree"

layered
put src/stray.c <<<'int x;'
fails "a file without a folder" 'belongs in a folder' "$check" "$tree"

layered
sed -i 's/^memory .*/& fact/' "$tree/tools/layers.txt"
fails "rules that join rooms" 'room memory may not include room fact' "$check" "$tree"

layered
sed -i 's/^base .*/base : store/' "$tree/tools/layers.txt"
fails "rules with a circle" 'which is not below it' "$check" "$tree"

new_tree
fails "no rules" 'no tools/layers.txt' "$check" "$tree"

finish
