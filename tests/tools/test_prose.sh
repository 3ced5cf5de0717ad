#!/usr/bin/env bash
# Tests of tools/check_prose: every rule has a sentence that offends it and one that does not.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck disable=SC2119,SC2120 # Most checks are of the whole tree.
check() { "$root/tools/check_prose" --root "$tree" "$@"; }

# clean: a tree with one file of each group and nothing to find.
clean() {
    new_tree
    put README.md <<<'The writer thread commits one group per fsync.'
    put src/ops/op.c <<<'/* The caller holds the lock. */
static const char *help = "Return the current value of a key";'
}

# offends RULE TEXT: the sentence is found as a page, as a comment and as a string. All sentences
# are in one tree, which find_all checks at once: starting the checker takes longer than its work.
rules=()
offends() {
    local n=${#rules[@]}
    rules+=("$1")
    put "docs/page$n.md" <<<"$2"
    put "tests/unit/test_$n.c" <<<"/* $2 */"
    put "src/ops/op$n.c" <<<"static const char *help = \"$2\";"
}

# fits TEXT: the sentence is found nowhere.
fits() { offends "" "$1"; }

find_all() {
    local n path rule _
    # shellcheck disable=SC2119
    check >"$scratch/all"
    while read -r rule _; do
        case " ${rules[*]} " in
        *" $rule "*) verdict ok ;;
        *) verdict bad "$rule has no sentence that offends it" ;;
        esac
    done < <("$root/tools/check_prose" --rules)
    for n in "${!rules[@]}"; do
        for path in "docs/page$n.md" "tests/unit/test_$n.c" "src/ops/op$n.c"; do
            grep "^$path:" "$scratch/all" >"$scratch/output"
            if [ -z "${rules[$n]}" ]; then
                if [ -s "$scratch/output" ]; then verdict bad "$path must pass"; else verdict ok; fi
            elif grep -q "^$path:1: ${rules[$n]}: " "$scratch/output"; then
                verdict ok
            else
                cat "$tree/$path" >>"$scratch/output"
                verdict bad "$path: must be found: ${rules[$n]}"
            fi
        done
    done
}

clean
passes "a clean tree" check
new_tree
fails "an empty tree" "0 files" check

new_tree
offends who-subject 'Who outgrows one machine names a database.'
offends who-subject 'The id is checked. Whose job this is.'
offends who-subject 'Whatever has a tenant needs a policy.'
fits 'Whatever happens, the record is complete.'
offends what-subject 'What was accepted is finished.'
offends what-subject 'It ends: What is longer is cut.'
fits 'What to do next is printed.'
fits 'What is this? A store.'
offends who-object 'A promise for who calls later.'
fits 'The user who wrote the fact.'
offends what-object 'Take in the log, and keep what was written.'
offends what-object 'The bytes of what was forgotten.'
fits 'The message says what failed and in what order.'
offends whoever 'The answer goes to whoever waits.'
offends nobody 'Then everybody is woken.'
offends nobody 'The value is seen by nobody else.'
offends distributive-a 'Run a call a line.'
offends distributive-a 'The head is read once a transaction and kept.'
offends distributive-a 'Send 64 texts or 256 KiB a request.'
fits 'Vectors are found once a job has made them.'
fits 'It is checked twice a second, one row per user.'
offends to-be-had 'The embedder is not to be had.'
offends to-come 'URLs are to come.'
offends anew 'Vectors are made anew.'
offends say-option 'The file exists; say force to replace it.'
fits 'Pass --force to replace it.'
offends stands 'Only jobs that stand so.'
fits 'A plus sign stands for a space; stand-in, understand.'
offends lies 'The file lies in the data folder.'
offends looked-at 'Only current vectors are looked at.'
offends tells 'The command tells the size.'
fits 'A prefix tells the two ids apart.'
offends counts 'The setting counts at once.'
offends counts 'If there are two, the last one counts.'
fits 'The meter counts tokens; it counts 12 rows.'
offends holds-true 'The invariant must hold.'
fits 'The thread holds the lock.'
offends of-several 'Of several the newest is shown.'
offends so-many 'At most so many.'
fits 'There are so many that the list is cut.'
offends is-none 'A longer aside was none.'
fits 'NULL if there is none.'
offends of-label 'Of a claim: id of the fact.'
offends whole 'The data is there and whole.'
find_all

# Where it looks.
clean
# shellcheck disable=SC2016 # The backquotes are Markdown.
put docs/page.md <<<'```
who-subject is not prose: Who calls.
```
## What a heading may say
The value of `anew` and "nobody knows" are quotations.'
passes "code blocks, headings, code and quotations" check
clean
put docs/page.md <<<'A sentence that goes over two lines and
is looked
at there.'
fails "a phrase over two lines" "docs/page.md:2: looked-at: " check
clean
put src/ops/op.c <<<'const char *help = "A text of two literals is "
                   "looked at as one";'
fails "a phrase over two literals" "src/ops/op.c:1: looked-at: " check
clean
put src/ops/op.c <<<'static const char *sql = "select anew from lies";'
passes "SQL is no prose" check
clean
put docs/reference.md <<<'Made anew from the sources.'
passes "generated pages" check
clean
put tests/e2e/x.sh <<<'true # The store is made anew.'
fails "a comment of a script" "tests/e2e/x.sh:1: anew: " check
clean
put include/loci.h <<<'/* Made anew. */'
fails "the public header" "include/loci.h:1: anew: " check

# Groups and paths.
clean
put docs/page.md <<<'Made anew.'
passes "only strings" check --strings
fails "only docs" "docs/page.md:1: anew" check --docs
fails "one folder" "docs/page.md:1: anew" check docs
passes "another folder" check src

# Ceilings and exceptions.
clean
put src/ops/op.c <<<'/* Made anew. */ /* Nobody calls. */'
put tools/prose_allow.txt <<<'comments src/ops 2'
passes "a ceiling" check
fails "a ceiling does not apply to a path" "anew" check src/ops
put tools/prose_allow.txt <<<'comments src/ops 1'
fails "above the ceiling" "comments src/ops: 2 findings, the ceiling is 1" check
put tools/prose_allow.txt <<<'comments src/ops 3'
fails "a ceiling that is too high" "comments src/ops: lower it to 2" check
passes "lower it" check --lower
passes "after lowering" check
put src/ops/op.c <<<'/* Made again. */'
fails "a ceiling that is not needed" "no longer needed" check
passes "lower it to nothing" check --lower
passes "after removing" check
put README.md <<<'Made anew.'
put tools/prose_allow.txt <<<'anew README.md 1 the title of a book'
passes "an exception" check
put tools/prose_allow.txt <<<'anew README.md 1'
fails "an exception without a reason" "expected GROUP FOLDER NUMBER" check
put tools/prose_allow.txt <<<'anew README.md 2 the title of a book'
fails "an exception that is too large" "anew README.md: lower it to 1" check

finish
