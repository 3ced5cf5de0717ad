#!/bin/bash
# Invalid input of every kind: loci reports a clear error with a stable code and loses no data. One
# store is used throughout and must be unchanged at the end.
. "$(dirname "$0")/lib.sh"
S=$TMP/good.db
run call fact.write '{"key":"city","value":"Oslo"}' --store "$S"

# fails NAME CODE ARGUMENT… - `call` fails with that code, and says something.
fails() {
    local name=$1 code=$2
    shift 2
    run call "$@"
    is "$name: exit code" 1 "$RC"
    is "$name: nothing on standard output" "" "$OUT"
    is "$name: code" "$code" "$(value "$ERR" error.code)"
    isnt "$name: message" "" "$(value "$ERR" error.message)"
}

# count_facts - of an answer on standard input.
count_facts() { python3 -c 'import json, sys; print(len(json.load(sys.stdin)["facts"]))'; }

# ---- Arguments ----------------------------------------------------------------------------------
while IFS='|' read -r name args; do
    fails "broken JSON: $name" invalid_argument fact.list "$args" --store "$S"
done <<'T'
open brace|{
open string|{"key":"
trailing comma|{"key":"a",}
single quotes|{'key':'a'}
no quotes|{key:1}
comment|{} // x
two values|{}{}
bare word|nonsense
number|5
array|[]
null|null
NaN|{"limit":NaN}
Infinity|{"limit":Infinity}
leading zero|{"limit":01}
plus|{"limit":+1}
hexadecimal|{"limit":0x10}
too large an integer|{"limit":9223372036854775808}
too large a number|{"limit":1e999}
lone surrogate|{"cursor":"\ud800"}
embedded NUL|{"cursor":"\u0000"}
name twice|{"limit":1,"limit":2}
T
while IFS='|' read -r name op args; do
    fails "wrong type: $name" invalid_argument "$op" "$args" --store "$S"
done <<'T'
number for text|fact.current|{"key":1}
object for text|fact.current|{"key":{}}
null for text|fact.current|{"key":null}
text for number|fact.list|{"limit":"ten"}
fraction for integer|fact.list|{"limit":1.5}
boolean for integer|fact.list|{"limit":true}
below the range|fact.list|{"limit":0}
above the range|fact.list|{"limit":1001}
empty key|fact.current|{"key":""}
no time|fact.write|{"key":"a","value":1,"observed_at":"tomorrow"}
a day that does not exist|fact.write|{"key":"a","value":1,"observed_at":"2026-02-30T00:00:00Z"}
a time without zone|fact.write|{"key":"a","value":1,"observed_at":"2026-01-01T00:00:00"}
unknown parameter|fact.write|{"key":"a","value":1,"colour":"red"}
missing parameter|fact.write|{"key":"a"}
empty user|fact.list|{"user_id":""}
T
fails "broken JSON: control character" invalid_argument fact.list "$(printf '{"cursor":"\t"}')" \
    --store "$S"
# Too large for argv: through standard input.
python3 -c 'print("{\"key\":\"" + "k" * 513 + "\",\"value\":1}")' >"$TMP/key"
python3 -c 'print("{\"key\":\"big\",\"value\":\"" + "v" * (5 << 20) + "\"}")' >"$TMP/value"
python3 -c 'print("{\"key\":\"deep\",\"value\":" + "[" * 100 + "]" * 100 + "}")' >"$TMP/deep"
python3 -c 'print("{\"key\":\"huge\",\"value\":\"" + "v" * (20 << 20) + "\"}")' >"$TMP/huge"
for what in key:invalid_argument value:limit deep:limit huge:limit; do
    "$LOCI" call fact.write - --store "$S" <"$TMP/${what%%:*}" >"$TMP/out" 2>"$TMP/err"
    is "too large a ${what%%:*}: exit code" 1 "$?"
    code=$(value "$(cat "$TMP/err")" error.code)
    case $code in
    "${what#*:}" | limit) pass ;;
    *) fail "too large a ${what%%:*}" "expected: ${what#*:}" "actual:   $code" ;;
    esac
done
fails "an unknown operation" not_found fact.paint '{}' --store "$S"
fails "an empty operation" not_found '' '{}' --store "$S"
fails "an operation with nonsense in it" not_found "$(printf 'fact\033[31m.list')" '{}' \
    --store "$S"
fails "a very long operation" not_found "$(printf 'x%.0s' $(seq 5000))" '{}' --store "$S"

# ---- Stores -------------------------------------------------------------------------------------
# keeps NAME FILE CODE… - refused with one of the codes, in `call`, `batch` and for people, and the
# file is left exactly as it was.
keeps() {
    local name=$1 file=$2 before code
    shift 2
    before=$(md5sum <"$file" 2>/dev/null)
    run call fact.list --store "$file"
    is "$name: exit code" 1 "$RC"
    code=$(value "$ERR" error.code)
    case " $* " in
    *" $code "*) pass ;;
    *) fail "$name: code" "expected: $*" "actual:   $ERR" ;;
    esac
    feed '{"op":"fact.list"}' batch --store "$file"
    is "$name: batch exits with 1" "1:" "$RC:$OUT"
    json "$name: batch says why" "$ERR"
    run fact list --store "$file"
    is "$name: people are told" 1 "$RC"
    has "$name: in words" "loci: " "$ERR"
    run doctor --store "$file"
    is "$name: doctor sees it" 1 "$RC"
    has "$name: doctor marks it" "✗" "$OUT"
    is "$name: the file is as it was" "$before" "$(md5sum <"$file" 2>/dev/null)"
}
echo "this is a text, and no database at all" >"$TMP/text.db"
keeps "a file that is no database" "$TMP/text.db" corrupt
head -c 8192 /dev/urandom >"$TMP/random.db"
keeps "a file of noise" "$TMP/random.db" corrupt
cp "$S" "$TMP/cut.db"
truncate -s 5000 "$TMP/cut.db"
keeps "a store that was cut" "$TMP/cut.db" corrupt
cp "$S" "$TMP/header.db"
printf 'garbage!' | dd of="$TMP/header.db" conv=notrunc bs=1 2>/dev/null
keeps "a store whose beginning is damaged" "$TMP/header.db" corrupt
python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1]); db.execute("create table t (a)"); db.commit()' "$TMP/other.db"
keeps "another program's database" "$TMP/other.db" corrupt unsupported
mkdir "$TMP/directory.db"
keeps "a directory" "$TMP/directory.db" corrupt forbidden invalid_argument not_found

# ---- Permission ---------------------------------------------------------------------------------
# as_nobody COMMAND… - root may do anything, so that it proves nothing.
as_nobody() {
    if [ "$(id -u)" = 0 ]; then
        setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
    else
        "$@"
    fi
}
chmod 711 "$TMP"
cp "$LOCI" "$TMP/loci" && chmod 755 "$TMP/loci"
mkdir "$TMP/closed" && cp "$S" "$TMP/closed/a.db" && chmod 700 "$TMP/closed"
[ "$(id -u)" = 0 ] || chmod 000 "$TMP/closed"
mkdir "$TMP/readonly" && cp "$S" "$TMP/readonly/a.db" && chmod 555 "$TMP/readonly" &&
    chmod 444 "$TMP/readonly/a.db"
if as_nobody true 2>/dev/null; then
    for store in closed/a.db closed/new.db readonly/new.db; do
        as_nobody "$TMP/loci" call fact.write '{"key":"a","value":1}' --store "$TMP/$store" \
            >"$TMP/out" 2>"$TMP/err" </dev/null
        is "no permission for $store: exit code" 1 "$?"
        is "no permission for $store: code" forbidden "$(value "$(cat "$TMP/err")" error.code)"
    done
    as_nobody "$TMP/loci" call fact.write '{"key":"a","value":1}' --store "$TMP/readonly/a.db" \
        >"$TMP/out" 2>"$TMP/err" </dev/null
    is "a store that may only be read: exit code" 1 "$?"
    is "a store that may only be read: code" forbidden "$(value "$(cat "$TMP/err")" error.code)"
    # Reads work: with the file or its directory read-only, and with a log that was left behind.
    mkdir "$TMP/open" && cp "$S" "$TMP/open/a.db" && chmod 777 "$TMP/open"
    chmod 444 "$TMP/open/a.db"
    chmod 755 "$TMP/readonly"
    python3 -c 'import shutil, sqlite3, sys
path, copy = sys.argv[1:]
db = sqlite3.connect(path)
db.execute("insert into settings values (?, ?, ?, 1)", ("", "call.timeout_ms", "4321"))
db.commit()
shutil.copy(path, copy), shutil.copy(path + "-wal", copy + "-wal")' "$S" "$TMP/readonly/log.db"
    chmod 444 "$TMP"/readonly/log.db*
    chmod 555 "$TMP/readonly"
    "$LOCI" call fact.list --store "$S" >"$TMP/facts" 2>/dev/null
    for store in open/a.db readonly/a.db readonly/log.db; do
        files=$(ls "$TMP/${store%/*}")
        as_nobody "$TMP/loci" call fact.list --store "$TMP/$store" >"$TMP/out" 2>"$TMP/err" \
            </dev/null
        is "read-only $store: a read" "0:" "$?:$(cat "$TMP/err")"
        is "read-only $store: its answer" "$(cat "$TMP/facts")" "$(cat "$TMP/out")"
        as_nobody "$TMP/loci" call store.verify --store "$TMP/$store" >"$TMP/out" 2>&1 </dev/null
        is "read-only $store: verify" 0 "$?"
        as_nobody "$TMP/loci" call store.status --store "$TMP/$store" >"$TMP/out" 2>&1 </dev/null
        is "read-only $store: status" true "$(value "$(cat "$TMP/out")" read_only)"
        as_nobody "$TMP/loci" fact write a 1 --store "$TMP/$store" >"$TMP/out" 2>&1 </dev/null
        is "read-only $store: a write" 1 "$?"
        has "read-only $store: says why" "the store is read-only" "$(cat "$TMP/out")"
        is "read-only $store: no files are left" "$files" "$(ls "$TMP/${store%/*}")"
    done
    is "read-only: the log is read" 4321 "$(value "$(as_nobody "$TMP/loci" call config.get \
        '{"name":"call.timeout_ms"}' --store "$TMP/readonly/log.db" </dev/null)" value)"
    as_nobody "$TMP/loci" doctor --store "$TMP/closed/a.db" >"$TMP/out" 2>&1
    is "doctor sees it" 1 "$?"
else
    fail "no other user can be tried here" "setpriv is missing"
fi
chmod 755 "$TMP" "$TMP/readonly" "$TMP/closed"

# ---- A full disk --------------------------------------------------------------------------------
# In a mount namespace of its own, on a file system of 3 MB: writes until it is full, makes room.
cat >"$TMP/full.sh" <<'F'
set -u
mount -t tmpfs -o size=3m tmpfs "$1/disk" || exit 77
big=$(head -c 60000 /dev/zero | tr '\0' v)
for i in $(seq 100); do
    printf '{"op":"fact.write","args":{"key":"k%s","value":"%s"}}\n' "$i" "$big"
done | "$LOCI" batch --store "$1/disk/a.db" >"$1/full.out" 2>"$1/full.err"
echo "rc $?" >"$1/full.rc"
"$LOCI" call fact.list '{"limit":1000}' --store "$1/disk/a.db" >"$1/full.list" 2>&1
echo "list $?" >>"$1/full.rc"
mount -o remount,size=20m "$1/disk"
"$LOCI" call fact.write '{"key":"after","value":1}' --store "$1/disk/a.db" >"$1/full.after" 2>&1
echo "after $?" >>"$1/full.rc"
"$LOCI" call store.verify --store "$1/disk/a.db" >"$1/full.verify" 2>&1
echo "verify $?" >>"$1/full.rc"
F
mkdir "$TMP/disk"
LOCI=$LOCI unshare -m bash "$TMP/full.sh" "$TMP" 2>"$TMP/full.trouble" ||
    LOCI=$LOCI unshare -rm bash "$TMP/full.sh" "$TMP" 2>"$TMP/full.trouble"
if [ -s "$TMP/full.rc" ]; then
    ok=$(grep -c '^{"ok":' "$TMP/full.out")
    is "the batch goes on to its end" "rc 1" "$(sed -n 1p "$TMP/full.rc")"
    is "every line is answered" 100 "$(wc -l <"$TMP/full.out")"
    is "some fit" yes "$([ "$ok" -gt 3 ] && [ "$ok" -lt 100 ] && echo yes)"
    is "the others are told why" "resource_exhausted" \
        "$(grep -v '^{"ok":' "$TMP/full.out" | sed 's/.*"code":"\([a-z_]*\)".*/\1/' | sort -u)"
    is "what is there can still be read" "list 0" "$(sed -n 2p "$TMP/full.rc")"
    is "what was acknowledged is there, and nothing else" "$ok" "$(count_facts <"$TMP/full.list")"
    is "with room again it goes on" "after 0" "$(sed -n 3p "$TMP/full.rc")"
    is "and nothing is damaged" "verify 0" "$(sed -n 4p "$TMP/full.rc")"
elif [ "$(id -u)" = 0 ] && unshare -m true 2>/dev/null; then
    fail "a full disk could not be tried, although this is root" "$(cat "$TMP/full.trouble")"
else
    echo "NOT TRIED: a full disk (no right to mount here): $(cat "$TMP/full.trouble")" >&2
fi

# ---- After all of it ----------------------------------------------------------------------------
run call fact.current '{"key":"city"}' --store "$S"
is "nothing was lost" Oslo "$(value "$OUT" value)"
run call fact.list --store "$S"
is "nothing was added" 1 "$(printf '%s' "$OUT" | count_facts)"
run call store.verify --store "$S"
is "nothing was damaged" 0 "$RC"
finish
