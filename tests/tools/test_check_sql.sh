#!/usr/bin/env bash
# Tests of tools/check_sql.sh: every rule has an offender here, and a neighbour that is fine.
# shellcheck source=tests/tools/lib.sh
. "$(dirname "$0")/lib.sh"
check=$root/tools/check_sql.sh
tried=$scratch/tried
: >"$tried"

# Statements are collected, a line each, and judged by one run at `judge`.
new_tree
good_names=()
bad_rules=()

# statement TEXT [PARAMS] [COLUMNS] [ROW]: columns are NULL unless given, also as NULL.
statement() {
    local columns=NULL
    [ "${3-NULL}" = NULL ] || columns="\"$3\""
    printf 'static const lc_sql s = {"%s", "%s", %s%s};\n' "$1" "${2:-}" "$columns" "${4:+, $4}"
}

# good NAME TEXT [PARAMS] [COLUMNS] [ROW]
good() {
    good_names+=("$1")
    shift
    statement "$@" >>"$scratch/good.c"
}

# bad RULE TEXT [PARAMS] [COLUMNS] [ROW]
bad() {
    bad_rules+=("$1")
    echo "$1" >>"$tried"
    shift
    statement "$@" >>"$scratch/bad.c"
}

# said NAME yes|no LINE: the checker said that line, or did not.
said() {
    local found=no
    ! grep -qF -- "$3" "$scratch/output" || found=yes
    if [ "$found" = "$2" ]; then verdict ok; else verdict bad "$1: $3"; fi
}

judge() {
    local i
    put src/fact/good.c <"$scratch/good.c"
    put src/fact/bad.c <"$scratch/bad.c"
    "$check" "$tree" >"$scratch/output" 2>&1
    for i in "${!good_names[@]}"; do
        said "must pass: ${good_names[i]}" no "src/fact/good.c:$((i + 1)): "
    done
    for i in "${!bad_rules[@]}"; do
        said "must fail" yes "src/fact/bad.c:$((i + 1)): ${bad_rules[i]}: "
    done
}

good "a plain select" "select id, seq from facts where key = \$1 order by seq limit \$2" ti ti
good "words of rules between quotes" "select id from facts where key = 'like now() ? true'" "" t

bad like "select id from facts where key like \$1" t t
bad like "select id from facts where key ILIKE \$1" t t
bad boolean "select id from facts where is_valid = true" "" t
bad boolean "update facts set is_valid = false"
bad json "select json_extract(value, 'a') from facts" "" t
bad json "select value ->> 'a' from facts" "" t
bad aggregate "select group_concat(id) from facts" "" t
bad aggregate "select avg(seq) from facts" "" f
bad clock "delete from facts where recorded_at < now()"
bad clock "insert into facts (at) values (current_timestamp)"
bad random "select id from facts where seq > random()" "" t
bad rowid "select rowid from facts" "" i
bad limit "select id from facts limit -1" "" t
bad limit "select id from facts limit null" "" t
bad insert-or "insert or replace into facts (id) values (\$1)" t
bad insert-or "replace into facts (id) values (\$1)" t
bad placeholder "select id from facts where key = ?" "" t
bad placeholder "select id from facts where key = :key" "" t
bad division "select id from facts where seq / 2 = 1" "" t
bad division "select id from facts where seq % 2 = 1" "" t
bad function "select lower(key) from facts" "" t
bad function "select greatest(seq, 1) from facts" "" i
bad array "select id from facts where id = any(\$1)" t t
bad blob-literal "update facts set hash = x'00'"
bad driver "select id from heads where seq = 1 for update" "" t
bad driver "create table facts (id text)"
bad equals "select id from facts where key == 'a'" "" t
bad is "select id from facts where key is \$1" t t
bad is "select id from facts where is_valid is not 1" "" t
bad null-word "select id from facts where key notnull" "" t
bad cast "select cast(seq as integer) from facts" "" i
bad cast "select seq::text from facts" "" t
bad collate "select id from facts order by key collate nocase" "" t
bad reserved "select id from facts where user = 'a'" "" t
bad integer "select id from facts where seq < 2147483648" "" t
bad integer "select id from facts where seq < 99999999999" "" t
bad cte-write "with gone as (delete from facts returning id) select id from gone" "" t
bad star "select * from facts" "" t
bad star "delete from facts returning *" "" t
bad semicolon "delete from facts; delete from heads"
good "where true, is null, null order" \
    "select id from facts where a is not null and b is not distinct from a order by a nulls last" \
    "" t
good "the largest int4" "select id from facts where seq < 2147483647" "" t
good "count, coalesce, case" \
    "select count(*), coalesce(max(seq), 0), case when a = 1 then 2 else 3 end from facts" "" iii
good "columns that begin like reserved words" \
    "select user_id from facts where window_id = \$1 and user_id = \$2" tt t

bad sum "select sum(seq) from facts" "" i
good "a sum that is cast" "select cast(coalesce(sum(seq), 0) as bigint) from facts" "" i
bad scalar-max "select max(seq, 0) from facts" "" i
bad scalar-max "select min((seq), (0)) from facts" "" i
good "an aggregate of a function" "select max(coalesce(seq, 0)) from facts" "" i

bad upsert "insert into heads (id, seq) values (\$1, 1) \
on conflict (id) do update set seq = seq + 1" t
bad upsert "insert into heads (id) values (\$1) \
on conflict (id) do update set seq = excluded.seq where seq < 9 returning id" t t
good "a qualified upsert" "insert into heads (id, seq) values (\$1, 1) on conflict (id) do update \
set seq = heads.seq + 1, at = coalesce(excluded.at, \$2) where heads.seq < 9 returning id" ti t
bad insert-select "insert into heads (id) select id from facts on conflict (id) do nothing"
good "the same with a where" \
    "insert into heads (id) select id from facts where true on conflict (id) do nothing"
bad delete-limit "delete from facts where seq < \$1 limit 5" i
bad delete-limit "update facts set seq = 1 order by id"
good "a limit in a sub-select" \
    "delete from facts where id in (select id from facts where (seq) < 9 order by id limit 5)"
bad alias "select id from (select id from facts)" "" t
bad alias "select id from facts where id in (select id from (select id from heads) limit 1)" "" t
good "a sub-select with an alias" "select f.id from (select id from facts) as f" "" t

bad params "select id from facts where key = \$1" "" t
bad params "select id from facts where key = \$1" tt t
bad params "select id from facts where key = \$2" t t
bad params "select id from facts where key = \$1" x t
good "a parameter twice" "select id from facts where \$1 is null or key = \$1" t t
bad columns "select id, seq from facts" "" t
bad columns "select id from facts" ""
bad columns "delete from facts" "" t
bad columns "delete from facts returning id, seq" "" t
bad columns "select id from facts" "" x
good "commas inside brackets are not columns" "select coalesce(a, (b), 'c, d') from facts" "" t

good "a row type" "select {row} from facts where key = \$1" t "" "&lc_fact_row"
good "a row type and a column" "select {f.row}, f.seq from facts f" "" i "&lc_fact_row"
good "values of a row" "insert into facts (id, {row}) values (\$1, {values}) on conflict (id) do \
update set {excluded}, at = excluded.at" t NULL "&lc_fact_row"
good "an update of a row" "update facts set {set} where id = \$1" t NULL "&lc_fact_row"
bad columns "select {row} from facts" "" t "&lc_fact_row"
bad columns "select {row} from facts" "" NULL "&lc_fact_row"
bad params "update facts set {set} where id = \$1" "" NULL "&lc_fact_row"
bad row "select {row} from facts" "" ""
bad row "select seq, {row} from facts" "" i "&lc_fact_row"
bad row "select seq from facts" "" i "&lc_fact_row"

judge

# How a statement can be written.
new_tree
put src/fact/fact.h <<<'#define FACT_ROW \
    "id, " /* A comment with "quotes". */ \
    "lower(key)"
#define FACT_KINDS "tt"'
put src/fact/fact.c <<<'#define TABLE " from facts"
static const lc_sql s = {
    .text = "select " FACT_ROW TABLE,
    .params = "",
    .columns = FACT_KINDS,
};'
fails "a macro of a header" 'src/fact/fact.c:2: function: lower(' "$check" "$tree"

new_tree
put src/fact/fact.c <<<'static const lc_sql all[] = {
    [0] = {"select id from facts", "", "t"},
    [1] = {.params = "", .text = "select now()", .columns = "i"},
};'
fails "an array of statements" 'clock: now(' "$check" "$tree"

new_tree
put src/fact/fact.c <<<'void f(void) { g(&(lc_sql){"delete from a where b like 1", "", NULL}); }'
fails "a compound literal" 'like: ' "$check" "$tree"

new_tree
echo unread >>"$tried"
put src/fact/fact.c <<<'static const lc_sql s = {build("x"), "", "t"};'
fails "a text that cannot be read" 'unread: ' "$check" "$tree"

new_tree
put src/fact/fact.c <<<'/* static const lc_sql old = {"select now()", "", "i"}; */
static const lc_sql s = {"select id from facts", "", "t"};'
put src/store/dump.c <<<'void f(lc_sql *s) { *s = (lc_sql){.params = "t", .columns = "t"}; }'
passes "comments and texts made at run time" "$check" "$tree"

new_tree
echo identifier-quote >>"$tried"
put src/fact/fact.c <<<'static const lc_sql s = {"select \"id\" from facts", "", "t"};'
fails "a quoted name" 'identifier-quote: ' "$check" "$tree"

new_tree
put src/fact/fact.c <<<'int x;'
fails "no statement at all" 'no statement found' "$check" "$tree"

# No rule without an offender.
"$check" "$root" --rules | awk '{print $1}' | LC_ALL=C sort >"$scratch/rules"
LC_ALL=C sort -u "$tried" >"$scratch/tried_rules"
passes "every rule was tried" diff "$scratch/rules" "$scratch/tried_rules"

passes "loci's own statements" "$check" "$root"

finish
