#!/bin/bash
# Backup, restore, export, import, verify, rebuild, status and doctor, as an operator uses them.
. "$(dirname "$0")/lib.sh"
export LOCI_STORE=$TMP/a.db
for i in $(seq 200); do
    printf '{"op":"fact.write","args":{"key":"k%s","value":%s,"user_id":"u%s"}}\n' \
        $((i % 50)) "$i" $((i % 3))
done | "$LOCI" batch >/dev/null
list() { "$LOCI" call fact.list "{\"limit\":1000,\"user_id\":\"u$1\"}" "${@:2}"; }
all() { list 0 "$@" && list 1 "$@" && list 2 "$@"; }
before=$(all)

run status
is "status" 0 "$RC"
run doctor
is "doctor is content" 0 "$RC"
lacks "doctor has no complaint" "✗" "$OUT"
has "doctor opened it" "opens" "$OUT"
has "doctor read the data files through" "use_lite_en.loci is intact" "$OUT"
mkdir "$TMP/data"
run doctor --set data.dir="$TMP/data"
is "doctor can live without data files" 0 "$RC"
has "doctor says which are missing" "cl100k_base.loci is not in the folder" "$OUT"
has "doctor says how to get them" "script/data" "$OUT"
echo "cut short" >"$TMP/data/o200k_base.loci"
run doctor --set data.dir="$TMP/data"
is "doctor does not like a damaged one" 1 "$RC"
has "doctor says what to do about it" "Remove it" "$OUT"
run verify
is "verify" 0 "$RC"
run rebuild
is "rebuild" 0 "$RC"
is "rebuild changes nothing" "$before" "$(all)"

# ---- Backup and restore -------------------------------------------------------------------------
run backup "$TMP/backup.db"
is "backup" 0 "$RC"
is "a backup is a store" "$before" "$(all --store "$TMP/backup.db")"
run backup "$TMP/no/such/place.db"
is "a backup to nowhere" 1 "$RC"
run fact write k1 changed --user u1
isnt "the store goes on" "$before" "$(all)"
run restore "$TMP/backup.db"
is "restore without a question" 1 "$RC"
has "restore: says how" "pass --yes" "$ERR"
run restore "$TMP/backup.db" --yes
is "restore" 0 "$RC"
is "everything is as it was" "$before" "$(all)"
run verify
is "and verifies" 0 "$RC"
run restore "$TMP/none.db"
is "a backup that is not there" 1 "$RC"
echo nonsense >"$TMP/nonsense.db"
run restore "$TMP/nonsense.db"
is "a backup that is none" 1 "$RC"
is "the store is untouched" "$before" "$(all)"

run status --json --store "$TMP/a.db"
is "status counts the jobs of users that jobs lists" \
    "$("$LOCI" jobs --json --store "$TMP/a.db" | grep -o '"status":' | wc -l)" \
    "$(value "$OUT" jobs | tr -c '0-9' '\n' | awk '{ n += $1 } END { print n }')"
is "and those of the store that jobs --scope store lists" \
    "$("$LOCI" jobs --scope store --json --store "$TMP/a.db" | grep -o '"status":' | wc -l)" \
    "$(value "$OUT" store_jobs | tr -c '0-9' '\n' | awk '{ n += $1 } END { print n }')"

# ---- Export and import --------------------------------------------------------------------------
run export "$TMP/export.jsonl"
is "export" 0 "$RC"
json "an export is lines of JSON" "$(head -20 "$TMP/export.jsonl")"
is "nothing is left beside it" "" "$(find "$TMP" -name '*.part')"
"$LOCI" export - >"$TMP/piped.jsonl" 2>"$TMP/err"
is "a pipe gets the same" "$(md5sum <"$TMP/export.jsonl")" "$(md5sum <"$TMP/piped.jsonl")"
"$LOCI" export --quiet >"$TMP/piped2.jsonl"
is "so does no argument" "$(md5sum <"$TMP/export.jsonl")" "$(md5sum <"$TMP/piped2.jsonl")"
run import "$TMP/export.jsonl" --store "$TMP/imported.db"
is "import" 0 "$RC"
is "nothing is lost on the way" "$before" "$(all --store "$TMP/imported.db")"
"$LOCI" export - --quiet --store "$TMP/imported.db" >"$TMP/again.jsonl"
# The first line names the store.
is "the copy exports the same" "$(tail -n +2 "$TMP/export.jsonl" | md5sum)" \
    "$(tail -n +2 "$TMP/again.jsonl" | md5sum)"
"$LOCI" import - --store "$TMP/piped.db" <"$TMP/export.jsonl" >/dev/null
is "import from a pipe" "$before" "$(all --store "$TMP/piped.db")"
run export "$TMP/no/such/file"
is "an export to nowhere" 1 "$RC"
"$LOCI" export - >/dev/full 2>/dev/null
is "an export that cannot be written" 1 "$?"
run import "$TMP/none"
is "an import of nothing" 1 "$RC"
head -c 3000 "$TMP/export.jsonl" >"$TMP/cut.jsonl"
run import "$TMP/cut.jsonl" --store "$TMP/cut.db"
is "an import that was cut" 1 "$RC"
run import
is "an import without a file" 2 "$RC"

# ---- Damage -------------------------------------------------------------------------------------
python3 - "$LOCI_STORE" <<'P'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("update fact_current set value = '\"forged\"'"
           " where rowid = (select min(rowid) from fact_current)")
db.commit()
P
run verify
is "verify sees a forged row" 1 "$RC"
run verify --json
is "as corrupt" corrupt "$(value "$ERR" error.code)"
isnt "and names it" "" "$(value "$ERR" error.problems)"
run doctor
is "doctor sees it" 1 "$RC"
run rebuild
run verify
is "rebuild repairs it from the log" 0 "$RC"
is "everything is as it was again" "$before" "$(all)"

# ---- Files that export and backup may replace ----------------------------------------------------
printf old >"$TMP/real.jsonl"
ln -s real.jsonl "$TMP/link.jsonl"
run export "$TMP/link.jsonl"
is "export does not replace without --force" 1 "$RC"
run export "$TMP/link.jsonl" --force
is "export follows a symbolic link" 0 "$RC"
is "and the link stays" yes "$([ -L "$TMP/link.jsonl" ] && echo yes)"
has "its target is replaced" '"loci":"export"' "$(head -n 1 "$TMP/real.jsonl")"
ln -s nowhere "$TMP/dangling"
run export "$TMP/dangling" --force
is "a link that leads nowhere is refused" 1 "$RC"
mkfifo "$TMP/fifo"
run export "$TMP/fifo" --force
is "a FIFO without a reader is refused" 1 "$RC"
cat "$TMP/fifo" >"$TMP/from-fifo" &
reader=$!
# shellcheck disable=SC2317 # Called by wait_for.
export_to_fifo() { run export "$TMP/fifo" --force && [ "$RC" = 0 ]; }
wait_for 5 export_to_fifo # Until the reader has opened it.
wait "$reader"
is "a FIFO is written to" 0 "$RC"
is "and stays one" yes "$([ -p "$TMP/fifo" ] && echo yes)"
is "with the same lines" "$(wc -l <"$TMP/real.jsonl")" "$(wc -l <"$TMP/from-fifo")"
run backup "$TMP/fifo" --force
is "a backup does not replace a FIFO" 1 "$RC"
is "which stays one" yes "$([ -p "$TMP/fifo" ] && echo yes)"

# The value of --store is not the file, although it can be read and is no export.
"$LOCI" init --store "$TMP/named.db" >/dev/null
run import "$TMP/export.jsonl" --store "$TMP/named.db"
is "import into a store that exists" "0:" "$RC:$ERR"
run import --store "$TMP/named.db" "$TMP/export.jsonl"
is "import with the store named first" "0:" "$RC:$ERR"
is "it is the same" "$(all)" "$(all --store "$TMP/named.db")"

# ---- Another embedder ---------------------------------------------------------------------------
V=$TMP/vectors.db
"$LOCI" remember "Lives in Oslo" --store "$V" >/dev/null 2>&1
run doctor --store "$V"
lacks "no vectors of another embedder" "another embedder" "$OUT"
python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("insert into vectors values (?, ?, ?, ?, ?)",
           ("default", "default", b"0123456789abcdef", "older-1-512", b"0" * 512))
db.commit()' "$V"
run doctor --store "$V"
has "vectors of another embedder are reported" "vectors made by" "$OUT"
has "with what to do" "loci model reembed" "$OUT"

finish
