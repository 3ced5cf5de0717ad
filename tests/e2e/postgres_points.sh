#!/usr/bin/env bash
# The difficulties of newcomers with a PostgreSQL store: creation, restore, advice about damage,
# read-only roles. points.sh shows the same with a file.
set -u
here=$(dirname "$0")
# shellcheck source=tests/e2e/lib.sh
. "$here/lib.sh"

coproc SERVER { exec "$here/../lib/postgres.sh" 2>/dev/null; }
read -r dir <&"${SERVER[0]}"
sql() { /usr/lib/postgresql/15/bin/psql -qtA -h "$dir" -U loci loci -c "$1"; }
tables() { sql "select count(*) from pg_tables where schemaname = 'public'"; }
url="postgresql://loci:hush@/loci?host=$dir"

# ---- A database without loci's tables -----------------------------------------------------------
for line in "fact list" "call fact.list {}" status verify "recall x" "export -" doctor; do
    read -r -a words <<<"$line"
    run "${words[@]}" --store "$url"
    is "$line creates nothing" "1 0" "$RC $(tables)"
    has "$line says how" "loci init" "$OUT$ERR"
done
feed '{"op":"fact.list"}' batch --store "$url"
is "a batch that reads creates nothing" "1 0" "$RC $(tables)"
on_terminal "" fact write a 1 --store "$url"
is "nor does a person who writes" "1 0" "$RC $(tables)"
run fact write a 1 --store "$url"
is "a program that writes does" 0 "$RC"

# ---- Restore and recover are for files ----------------------------------------------------------
run fact write city Oslo --store "$TMP/file.db"
run backup "$TMP/backup.db" --store "$TMP/file.db"
for line in "restore $TMP/backup.db --store $url" "restore $TMP/backup.db --yes --store $url" \
    "restore $url --yes --store $TMP/new.db" "recover $url"; do
    read -r -a words <<<"$line"
    run "${words[@]}"
    is "${words[0]} refuses" 1 "$RC"
    has "${words[0]} says what to use" "server's own tools" "$ERR"
    lacks "${words[0]} does not ask for --yes in vain" "pass --yes" "$ERR"
    lacks "${words[0]} shows no password" hush "$OUT$ERR"
done
run fact current a --store "$url"
is "the store is untouched" 1 "$OUT"

# ---- The advice of verify works -----------------------------------------------------------------
sql "delete from fact_current"
run verify --store "$url"
has "verify advises a rebuild" "loci rebuild" "$ERR"
has "and tools of the server" pg_restore "$ERR"
lacks "and no loci restore" "loci restore" "$ERR"
run rebuild --store "$url"
run verify --store "$url"
is "a rebuild mends derived tables" 0 "$RC"

# ---- Roles --------------------------------------------------------------------------------------
sql "create role reader login; grant usage on schema public to reader;
     grant select on all tables in schema public to reader"
reader="postgresql://reader@/loci?host=$dir"
run fact list --store "$reader"
is "a role that sees no rows is refused" 1 "$RC"
has "and told why" "row-level security" "$ERR"
sql "alter role reader bypassrls"
for line in "fact list" "recall x" status verify "export -" doctor; do
    read -r -a words <<<"$line"
    run "${words[@]}" --store "$reader"
    is "a role that may read: $line" 0 "$RC"
done
run fact current a --store "$reader"
is "it reads the value" 1 "$OUT"
run status --json --store "$reader"
is "status says that it only reads" true "$(value "$OUT" read_only)"
run fact write a 2 --store "$reader"
is "a write is refused" 1 "$RC"
has "and says why" "it can only read" "$ERR"
sql "alter role loci set default_transaction_read_only = on"
run fact current a --store "$url"
is "a server that only reads" "0:1" "$RC:$OUT"
run fact write a 2 --store "$url"
has "refuses writes and says why" "only reads" "$ERR"
finish
