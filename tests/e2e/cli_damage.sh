#!/usr/bin/env bash
# Damaged stores, as their owner meets them: the advice of every message is followed, and works.
. "$(dirname "$0")/lib.sh"

# page_of STORE TEXT - the number of the first page, from 0, whose bytes contain TEXT.
page_of() {
    python3 -c 'import sys
data = open(sys.argv[1], "rb").read()
print(data.index(sys.argv[2].encode()) // 4096)' "$1" "$2"
}

W=$TMP/whole.db
for i in $(seq 30); do
    printf '{"op":"fact.write","args":{"key":"k%d","value":"value number %d"}}\n' "$i" "$i"
done | "$LOCI" batch --store "$W" >/dev/null
run backup "$TMP/backup.db" --store "$W"
is "a backup" 0 "$RC"

# damage NAME - a store at $S that is damaged so.
damage() {
    S=$TMP/$1.db
    rm -f "$S" "$S"-* "$S".*
    cp "$W" "$S"
    case $1 in
    header) head -c 4096 /dev/urandom | dd of="$S" conv=notrunc 2>/dev/null ;;
    cut) truncate -s 20000 "$S" ;;
    noise) head -c 8192 /dev/urandom >"$S" ;;
    text) echo "a letter to a friend" >"$S" ;;
    page) dd if=/dev/zero of="$S" bs=4096 count=1 seek="$(page_of "$S" "value number 7")" \
        conv=notrunc 2>/dev/null ;;
    esac
}

# ---- Restore ------------------------------------------------------------------------------------
for kind in header cut noise text page; do
    damage "$kind"
    before=$(md5sum <"$S")
    run verify --store "$S"
    is "$kind: verify fails" 1 "$RC"
    has "$kind: verify gives advice that works" "loci restore BACKUP" "$ERR"
    has "$kind: and the other one" "loci recover FILE" "$ERR"
    run doctor --store "$S"
    has "$kind: doctor, too" "loci recover FILE" "$OUT"
    damage "$kind"
    before=$(md5sum <"$S")
    run restore "$TMP/backup.db" --store "$S" --yes
    is "$kind: restore" 0 "$RC"
    has "$kind: says where the damaged store is" "Moved the damaged store to $S.damaged" "$OUT"
    is "$kind: which is as it was" "$before" "$(md5sum <"$S.damaged")"
    run fact current k30 --store "$S"
    is "$kind: the content is back" "value number 30" "$OUT"
    run verify --store "$S"
    is "$kind: and sound" 0 "$RC"
done
damage header
cp "$S" "$TMP/bad-backup.db"
run restore "$TMP/bad-backup.db" --store "$S"
is "a damaged backup" 1 "$RC"
is "moves nothing" "no" "$([ -e "$S.damaged" ] && echo yes || echo no)"
is "and leaves nothing" "" "$(find "$TMP" -name '*.restoring*')"
damage header
run restore "$TMP/backup.db" --store "$S" --json
is "restore --json" "$S.damaged" "$(value "$OUT" moved_to)"
damage header
run restore "$TMP/backup.db" --store "$S"
is "a second damaged store keeps the first" 0 "$RC"

python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1]); db.execute("create table t (a)"); db.commit()' "$TMP/other.db"
before=$(md5sum <"$TMP/other.db")
run restore "$TMP/backup.db" --store "$TMP/other.db" --yes
is "another program's database is not replaced" "1:$before" "$RC:$(md5sum <"$TMP/other.db")"

# A store that can be read: a question, or --yes.
cp "$W" "$TMP/live.db"
"$LOCI" fact write k30 new --store "$TMP/live.db" >/dev/null
run restore "$TMP/backup.db" --store "$TMP/live.db"
is "no terminal, no --yes" 1 "$RC"
has "says how" "pass --yes" "$ERR"
on_terminal $'n\n' restore "$TMP/backup.db" --store "$TMP/live.db"
is "answer no" 1 "$RC"
has "the question names what is replaced" "31 events of 1 user" "$OUT"
run fact current k30 --store "$TMP/live.db"
is "nothing was replaced" "new" "$OUT"
on_terminal $'y\n' restore "$TMP/backup.db" --store "$TMP/live.db"
is "answer yes" 0 "$RC"
run fact current k30 --store "$TMP/live.db"
is "replaced" "value number 30" "$OUT"
run restore "$TMP/backup.db" --store "$TMP/missing.db"
is "a missing store is created" 0 "$RC"

# ---- Recover ------------------------------------------------------------------------------------
for kind in header page; do
    damage "$kind"
    before=$(md5sum <"$S")
    run recover "$S"
    is "$kind: recover" 0 "$RC"
    has "$kind: says where" "into $S.recovered" "$OUT"
    is "$kind: only reads" "$before" "$(md5sum <"$S")"
    is "$kind: leaves no other file" "$S $S.recovered" "$(echo "$S"*)"
    run verify --store "$S.recovered"
    is "$kind: the new store is sound" 0 "$RC"
    run recover "$S"
    is "$kind: replaces no file unasked" 1 "$RC"
    run restore "$S.recovered" --store "$S" --yes
    is "$kind: its advice works" 0 "$RC"
    run fact current k30 --store "$S"
    is "$kind: what was saved is there" "value number 30" "$OUT"
done
damage page
run recover "$S" --json
lost=$(value "$OUT" events_lost)
isnt "events of a lost page are counted" 0 "$lost"
is "and all others are there" 30 "$(($(value "$OUT" events) + lost))"
is "the first range begins" 1 "$(value "$OUT" lost.0.first_seq)"
run events --store "$S.recovered" --json
has "the log shows what was lost" '"type":"event.lost"' "$OUT"
for kind in noise text; do
    damage "$kind"
    run recover "$S"
    is "$kind: nothing to recover" 1 "$RC"
    has "$kind: and nothing was made" "nothing was created" "$ERR"
done
run recover "$TMP/none.db"
is "recover a missing file" 1 "$RC"

# The default store can be the damaged one.
"$LOCI" fact write city Oslo >/dev/null
D=$HOME/.local/share/loci/loci.db
head -c 4096 /dev/urandom | dd of="$D" conv=notrunc 2>/dev/null
run recover "$D"
is "recover the default store" 0 "$RC"
run restore "$D.recovered"
is "restore the default store" 0 "$RC"
run fact current city
is "the default store works again" "Oslo" "$OUT"

finish
