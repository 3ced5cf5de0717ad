#!/usr/bin/env bash
# A walk through the difficulties of newcomers: each numbered point shows how loci behaves now.
# Other scripts test the same things thoroughly; this one is to be read and watched.
set -u
here=$(dirname "$0")
# shellcheck source=tests/e2e/lib.sh
. "$here/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$here/serve_lib.sh"
BUILD_DIR=${BUILD_DIR:-$(dirname "$LOCI")}

point() { printf '\n%s\n' "$1"; }
# shown NAME - prints what was seen, after a check.
shown() { printf '   %s\n' "$1"; }

S=$TMP/agent.db
export LOCI_STORE=$S
run init -q
run fact write city Oslo

point "1. --force replaces regular files only; devices are written to, a symlink is followed"
mkfifo "$TMP/fifo"
cat "$TMP/fifo" >"$TMP/piped" &
run export "$TMP/fifo" --force
wait $!
is "a FIFO is written to" yes "$([ -p "$TMP/fifo" ] && grep -q Oslo "$TMP/piped" && echo yes)"
run export /dev/null --force
is "a device is still a device" "0 yes" "$RC $([ -c /dev/null ] && echo yes)"
echo old >"$TMP/target"
ln -s target "$TMP/link"
run export "$TMP/link" --force
is "a symlink is still one, and its target is written" yes \
    "$([ -L "$TMP/link" ] && grep -q Oslo "$TMP/target" && echo yes)"
run export "$TMP/target"
is "a file is not replaced without --force" 1 "$RC"
run backup "$TMP/link" --force
is "a backup, too" "0 yes" "$RC $([ -L "$TMP/link" ] && echo yes)"
run export -
has "- is stdout" Oslo "$OUT"
run backup - </dev/null
is "a backup cannot be written to stdout" 2 "$RC"
has "and says what can" "loci export -" "$ERR"

point "2. What is typed is what is stored"
run fact write python_version 3.10
run fact current python_version
is "3.10 stays 3.10" 3.10 "$OUT"
shown "fact write python_version 3.10 -> $OUT"
run fact write n 3.5
is "a number in its shortest form is a number" 3.5 \
    "$(value "$("$LOCI" call fact.current '{"key":"n"}')" value)"
run fact write flag true
has "true is true" '"value":true' "$("$LOCI" call fact.current '{"key":"flag"}')"
run fact write t 5 --text
has "--text" '"value":"5"' "$("$LOCI" call fact.current '{"key":"t"}')"
run fact write v 3.10 --json-value
has "--json-value: as a JSON number 1.10 equals 1.1" '"value":3.1,' \
    "$("$LOCI" call fact.current '{"key":"v"}')"
run fact write broken '{"a":'
has "broken JSON gets a note" "looks like JSON but is not" "$ERR"

point "3. fact.current hands out nothing that is no longer true"
run fact retract city
run fact current city
is "the command fails" 1 "$RC"
has "and says why" "the last one was retracted" "$ERR"
shown "$ERR"
run call fact.current '{"key":"city"}'
has "the answer has the status" '"status":"retracted","is_valid":false' "$OUT"
lacks "and no value" '"value"' "$OUT"
run fact write offer 5 --valid-until 2020-01-01T00:00:00Z
run fact current offer
has "a fact that expired" "the last one expired at 2020" "$ERR"
run fact history city
has "the history shows the old value" Oslo "$OUT"

point "4. Advice about damage works"
D=$TMP/damaged.db
run backup "$TMP/backup.db"
cp "$S" "$D"
head -c 4096 /dev/urandom | dd of="$D" conv=notrunc 2>/dev/null
run verify --store "$D"
has "verify advises to restore" "loci restore BACKUP" "$ERR"
run restore "$TMP/backup.db" --store "$D"
is "restore replaces an unreadable store" 0 "$RC"
has "and says where the old one is" "$D" "$OUT$ERR"
shown "$(flat "$OUT$ERR")"
run restore "$TMP/backup.db" --store "$D"
is "a readable one is not replaced without --yes" 1 "$RC"
run restore "$TMP/backup.db" --store "$D" --yes
is "with --yes it is" 0 "$RC"
cp "$S" "$TMP/cut.db"
truncate -s -4096 "$TMP/cut.db"
run recover "$TMP/cut.db" "$TMP/recovered.db"
has "recover reports what it salvaged" "events" "$OUT$ERR"
run verify --store "$TMP/recovered.db"
is "into a store that verifies" 0 "$RC"

point "5. Exit codes of batch, and no store by accident"
feed '{"op":"no.such"}
{"op":"fact.write","args":{"key":"a","value":1}}' batch
is "a failed line is in the exit code" 1 "$RC"
is "and the next one runs" created "$(value "$(line "$OUT" 2)" ok.outcome)"
feed '{"op":"no.such"}
{"op":"fact.list"}' batch --keep-going
is "--keep-going is the same" 1:2 "$RC:$(wc -l <<<"$OUT")"
feed '{"op":"fact.list"}' batch --keep-going --atomic
is "and does not fit --atomic" 2 "$RC"
run fact list --store "$TMP/agnet.db"
has "a mistyped store is not created" "did you mean $S?" "$ERR"
on_terminal "" fact write a 1 --store "$TMP/agnet.db"
has "nor by a person who writes" "pass --create to create it" "$(flat "$OUT")"
is "nothing was made" no "$([ -e "$TMP/agnet.db" ] && echo yes || echo no)"
feed '{"op":"fact.write","args":{"key":"a","value":1}}' batch --store "$TMP/new.db"
is "batch whose first line writes creates" 0 "$RC"

run export "$TMP/whole.jsonl"
{ head -2 "$TMP/whole.jsonl"; echo '{"tenant":'; } >"$TMP/broken.jsonl"
run import "$TMP/broken.jsonl" --store "$TMP/new.db"
has "a broken line is named once" "line 3: column 11: the text ends too early" "$ERR"

point "6. Interrupted imports, NULL, early errors (import_cut.sh, serve_early.sh: all moments)"
mkfifo "$TMP/half"
"$LOCI" import - <"$TMP/half" >/dev/null 2>"$TMP/err" &
pid=$!
exec 7>"$TMP/half"
yes 'I like tea.' | head -c 150000 >&7
kill -INT "$pid"
wait "$pid"
is "an import that is interrupted while it reads" 130 "$?"
exec 7>&-
has "says what it left" "nothing was changed" "$(cat "$TMP/err")"
shown "$(flat "$(cat "$TMP/err")")"
is "loci_call() with out = NULL does not crash" "0 Rome" "$("$PYTHON" -E - \
    "$BUILD_DIR/libloci.so" "$TMP/null.db" <<'PY'
import ctypes, sys

class Str(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_char_p), ("len", ctypes.c_size_t)]

lib = ctypes.CDLL(sys.argv[1])
lib.loci_open_text.restype = lib.loci_call_text.restype = ctypes.c_void_p
engine = ctypes.c_void_p(lib.loci_open_text(sys.argv[2].encode(), None, None))
args = b'{"key":"city","value":"Rome"}'
lib.loci_call.argtypes = [ctypes.c_void_p, ctypes.c_char_p, Str] + [ctypes.c_void_p] * 3
status = lib.loci_call(engine, b"fact.write", Str(args, len(args)), None, None, None)
text = lib.loci_call_text(engine, b"fact.current", b'{"key":"city"}', None)
print(status, ctypes.string_at(text).decode().split('"value":"')[1].split('"')[0])
PY
)"
start
head -c 3000000 /dev/zero | tr '\0' x >"$TMP/big"
is "Python's urllib reads the 413 of a request that is too large" 413 \
    "$("$PYTHON" -E - "$URL" "$TMP/big" <<'PY'
import sys, urllib.error, urllib.request

request = urllib.request.Request(sys.argv[1] + "/v1/call/fact.write",
                                 open(sys.argv[2], "rb").read() * 20)
try:
    urllib.request.urlopen(request, timeout=20)
except urllib.error.HTTPError as error:
    print(error.code)
PY
)"

point "7. Data is found, and embedders are not mixed silently"
run call text.count '{"text":"a b"}'
is "the library finds its data" false "$(value "$OUT" estimated)"
run remember "My daughter plays the cello."
run model reembed
run recall music
is "no warning with the embedder that made the vectors" "" "$ERR"
run recall music --set model.embedder=lexical
has "a warning with another one" "vectors made by builtin:use-lite-en" "$ERR"
has "which says what to do" "loci model reembed" "$ERR"
shown "$ERR"
run recall music --set data.dir="$TMP"
has "and without the data file" "use_lite_en.loci is not in the folder" "$ERR"
run model reembed --set model.embedder=lexical
run recall music --set model.embedder=lexical
is "until texts are embedded again" "" "$ERR"
run model reembed

point "8. Monitoring"
run token create --name prometheus --scopes metrics --json
scraper="Authorization: Bearer $(value "$OUT" token)"
ask GET /metrics
is "/metrics needs a token" 401 "$STATUS"
ask GET /metrics -H "$scraper"
is "with the scope metrics, not admin" 200 "$STATUS"
is "no job is queued while none is due" 0 "$(sed -n 's/^loci_jobs{status="queued"} //p' <<<"$BODY")"
reads() { ask GET /metrics -H "$scraper"; sed -n 's/^loci_reads_total //p' <<<"$BODY"; }
is "loci_reads_total does not rise while idle" "$(reads)" "$(reads)"
has "latency per operation" 'loci_http_request_duration_seconds_count{operation="' "$BODY"
for name in commit fsync queue provider; do
    has "latency: $name" "$name" "$(grep -E '^# TYPE loci_[a-z_]*seconds histogram' <<<"$BODY")"
done
has "errors by code" "loci_errors_total{" "$BODY"
has "the time of the last backup" loci_last_backup_timestamp_seconds "$BODY"
trace=4bf92f3577b34da6a3ce929d0e0e4736
ask GET /metrics -H "$scraper" -H "traceparent: 00-$trace-00f067aa0ba902b7-01"
wait_for 10 grep -q "$trace" "$TMP/daemon.log" # It is written after the answer.
has "traceparent is in the log" "$trace" "$(cat "$TMP/daemon.log")"
ask GET /healthz
is "/healthz answers" 200 "$STATUS"
ask GET /start
has "the start page names after_seq" "after_seq" "$BODY"

point "Command line"
run fact write city Rome
run fact current city
is "fact current prints the value" Rome "$OUT"
run fact current city -v
has "-v the rest" observed_at "$OUT"
OUT=$(as_seen 40 --no-color fact list)
is "a list fits the terminal" "" "$(awk 'length($0) > 40' <<<"$OUT")"
has "with the value" Rome "$OUT"
run fact list --prefix ci -o csv --columns key,value
is "-o, --columns and --prefix choose" $'key,value\ncity,Rome' "${OUT//$'\r'/}"
run fact list --ids
is "--ids" "" "$(grep -v '^fact_' <<<"$OUT")"
OUT=$(as_seen 100 --no-color fact list)
has "ages on a terminal" " ago" "${OUT//just now/0 s ago}"
run fact list
lacks "piped tables are not padded" "  " "$(line "$OUT" 1)"
feed 'fact current city' shell
is "loci shell" Rome "$OUT"
OUT=$(env -u LOCI_STORE LOCI_URL="$URL" LOCI_TOKEN="$TOKEN" "$LOCI" fact current city)
is "LOCI_URL and LOCI_TOKEN: any command over a daemon" Rome "$OUT"
run fact current nothing
is "a failure exits with 1" 1 "$RC"
has "in plain words" 'there is no fact "nothing"' "$ERR"
run fact curent city
is "wrong usage exits with 2" 2 "$RC"
"$LOCI" fact list >/dev/full 2>"$TMP/err"
has "a failed write to stdout is reported" "cannot write to stdout" "$(cat "$TMP/err")"
ask GET /v1/facts
lacks "no hint at doctor with each refusal" doctor "$BODY"
stop
LOCI_STORE=$TMP/open.db launch --listen 127.0.0.1:0 --no-socket
has "serve without a token says how to get in" "token create NAME" \
    "$(cat "$TMP/daemon.out" "$TMP/daemon.log")"
stop
LOCI_STORE=$TMP/nowhere/a.db run text count "a b c"
is "text count needs no store" 0 "$RC"
run fact write once 1 --request-id r1 --json
run fact write once 1 --request-id r1 --json
has "a replay says so" '"replayed":true' "$OUT"
finish
