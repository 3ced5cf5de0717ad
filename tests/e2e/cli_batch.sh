#!/bin/bash
# `loci batch`: one call per line, one answer per line, in order. Each answer is durable and flushed
# before the next call.
. "$(dirname "$0")/lib.sh"
S=$TMP/a.db
write() { printf '{"op":"fact.write","args":{"key":"%s","value":%s}%s}\n' "$1" "$2" "${3:-}"; }

# ---- Answers in order, errors included ---------------------------------------------------------
feed "$(
    write a 1
    echo ''
    echo '   '
    echo '{broken'
    echo '{"op":"fact.write","args":{"key":"b","value":2},"att":"x"}'
    echo '{"op":"no.such"}'
    echo '{"args":{}}'
    echo '{"op":7}'
    echo '[1]'
    echo '{"op":"fact.write","args":[]}'
    write a 1 ',"at":"yesterday"'
    write a 1 ',"at":5'
    echo '{"op":"fact.current","args":{"key":"a"}}'
)" batch --store "$S"
is "errors do not end it, but the exit code tells" 1 "$RC"
is "nothing on standard error" "" "$ERR"
is "an answer for every line that is not empty" 11 "$(printf '%s\n' "$OUT" | wc -l)"
json "every answer is JSON" "$OUT"
is "the first" created "$(value "$(line "$OUT" 1)" ok.outcome)"
is "broken JSON" invalid_argument "$(value "$(line "$OUT" 2)" error.code)"
is "an unknown member" invalid_argument "$(value "$(line "$OUT" 3)" error.code)"
has "and what was meant" '\"at\"' "$(line "$OUT" 3)"
is "an unknown operation" not_found "$(value "$(line "$OUT" 4)" error.code)"
is "no operation" invalid_argument "$(value "$(line "$OUT" 5)" error.code)"
is "an operation that is no string" invalid_argument "$(value "$(line "$OUT" 6)" error.code)"
is "a line that is no object" invalid_argument "$(value "$(line "$OUT" 7)" error.code)"
is "arguments that are no object" invalid_argument "$(value "$(line "$OUT" 8)" error.code)"
is "a time that is none" invalid_argument "$(value "$(line "$OUT" 9)" error.code)"
is "a time that is no string" invalid_argument "$(value "$(line "$OUT" 10)" error.code)"
is "the last" 1 "$(value "$(line "$OUT" 11)" ok.value)"

feed '{"op":"fact.current","args":{"key":"a"}}' batch --store "$S"
is "the last line needs no newline" 1 "$(value "$OUT" ok.value)"
feed '' batch --store "$TMP/new.db"
is "no input is fine" "0:" "$RC:$OUT"
is "and creates no store" no "$([ -e "$TMP/new.db" ] || echo no)"
feed '{"op":"fact.list"}' batch --store "$TMP/new.db"
is "a read creates no store" "1:no" "$RC:$([ -e "$TMP/new.db" ] || echo no)"
has "and says so" "loci init" "$ERR"
feed '{"op":"fact.list"}' batch --atomic --store "$TMP/new.db"
is "nor does an atomic batch of reads" "1:no" "$RC:$([ -e "$TMP/new.db" ] || echo no)"
run call fact.list --store "$TMP/new.db"
is "nor does call" "1:no" "$RC:$([ -e "$TMP/new.db" ] || echo no)"
feed "$(write a 1)" batch --store "$TMP/new.db"
is "a write creates it" yes "$([ -s "$TMP/new.db" ] && echo yes)"
feed $'{"op":"fact.list"}\r\n' batch --store "$S"
is "a carriage return is white space" 0 "$(value "$OUT" ok.facts >/dev/null; echo $?)"

# ---- Usage --------------------------------------------------------------------------------------
feed '' batch --sede 1 --store "$S"
is "wrong usage exits with 2" 2 "$RC"
is "as JSON" invalid_argument "$(value "$ERR" error.code)"
feed '' batch --seed x --store "$S"
is "a seed that is no number" 2 "$RC"
feed '' batch more --store "$S"
is "a word too many" 2 "$RC"
feed "$(write a 1)" batch --store "$TMP/no/such/a.db"
is "a store that cannot be opened exits with 1" 1 "$RC"
json "as JSON" "$ERR"

# ---- The clock ----------------------------------------------------------------------------------
before=$(date +%s)
feed "$(
    write c0 0
    write c1 1 ',"at":"2030-05-01T10:00:00Z"'
    write c2 2
    # Another user: what one user's log holds never goes back in time.
    write c3 '3,"user_id":"u"' ',"at":"2020-05-01T12:00:00+02:00"'
    for i in 0 1 2; do echo '{"op":"fact.current","args":{"key":"c'$i'"}}'; done
    echo '{"op":"fact.current","args":{"key":"c3","user_id":"u"}}'
)" batch --store "$TMP/clock.db"
time_of() { value "$(line "$OUT" "$1")" ok.observed_at; }
is "before the first at the system's clock runs" yes \
    "$([ "$(date -d "$(time_of 5)" +%s)" -ge "$before" ] && echo yes)"
is "at sets the clock" 2030-05-01T10:00:00Z "$(time_of 6)"
is "it stands still after that" 2030-05-01T10:00:00Z "$(time_of 7)"
is "it may go back" 2020-05-01T10:00:00Z "$(time_of 8)"

# ---- Seeds --------------------------------------------------------------------------------------
lines=$(
    write a 1 ',"at":"2026-01-01T00:00:00Z"'
    write a 2
    write b '{"x":[1,2.5,"three"]}'
    echo '{"op":"fact.history","args":{"key":"a"}}'
    echo '{"op":"event.list"}'
)
feed "$lines" batch --seed 7 --store "$TMP/s1.db"
first=$OUT
feed "$lines" batch --seed 7 --store "$TMP/s2.db"
is "the same seed and clock give the same bytes" "$first" "$OUT"
feed "$lines" batch --seed 8 --store "$TMP/s3.db"
isnt "another seed gives other ids" "$first" "$OUT"

# ---- Atomic -------------------------------------------------------------------------------------
A=$TMP/atomic.db
feed "$(write x 1 ',"at":"2026-01-01T00:00:00Z"'; echo
# shellcheck disable=SC2016 # A reference of the batch, not of the shell.
    write y '"$0.id"' ',"at":"2026-02-02T00:00:00Z"'; write z 3)" \
    batch --atomic --store "$A"
is "all lines succeed" "ok ok ok" "$(printf '%s\n' "$OUT" | cut -c3-4 | tr '\n' ' ' | sed 's/ $//')"
id=$(value "$(line "$OUT" 1)" ok.id)
feed '{"op":"fact.current","args":{"key":"y"}}' batch --store "$A"
is "a later line may refer to an earlier answer" "$id" "$(value "$OUT" ok.value)"
is "at counts from its line on" 2026-02-02T00:00:00Z "$(value "$OUT" ok.observed_at)"

# not_done NAME FAILED LINE CODE: answer number FAILED has the reason, the rest did not happen.
not_done() {
    is "$1: exits with 1" 1 "$RC"
    is "$1: the reason" "$4" "$(value "$(line "$OUT" "$2")" error.code)"
    is "$1: its index" "$(($2 - 1))" "$(value "$(line "$OUT" "$2")" error.index)"
    is "$1: the others" "cancelled: not run because line $3 failed" \
        "$(value "$(line "$OUT" 1)" error.code): $(value "$(line "$OUT" 1)" error.message)"
    run call fact.current '{"key":"new"}' --store "$A"
    is "$1: nothing happened" not_found "$(value "$ERR" error.code)"
}
feed "$(write new 1; echo; write new '2,"bogus":1'; write new 3)" batch --atomic --store "$A"
is "every line is answered" 3 "$(printf '%s\n' "$OUT" | wc -l)"
not_done "a line that fails" 2 3 invalid_argument
feed "$(write new 1; echo '{nonsense'; write new 3)" batch --atomic --store "$A"
not_done "a line that is not JSON" 2 2 invalid_argument
feed "$(write new 1; echo '{"op":"no.such"}')" batch --atomic --store "$A"
not_done "an unknown operation" 2 2 not_found
feed "$(for i in $(seq 100); do write "k$i" "$i"; done)" batch --atomic --store "$A"
is "100 lines are allowed" 100 "$(printf '%s\n' "$OUT" | grep -c '^{"ok":')"
feed "$(for i in $(seq 102); do write new "$i"; done)" batch --atomic --store "$A"
is "102 lines are answered" 102 "$(printf '%s\n' "$OUT" | wc -l)"
not_done "101 are too many" 101 101 limit
feed '' batch --atomic --store "$A"
is "an empty atomic batch is fine" "0:" "$RC:$OUT"

# ---- Long lines ---------------------------------------------------------------------------------
python3 - >"$TMP/long" <<'P'
print('{"op":"fact.write","args":{"key":"long","value":"' + "x" * 12000000 + '"}}')
print('{"op":"fact.list"}')
P
"$LOCI" batch --store "$S" <"$TMP/long" >"$TMP/out" 2>&1
is "a line that is too long does not end it" "1 2" "$? $(wc -l <"$TMP/out")"
is "it is refused" limit "$(value "$(sed -n 1p "$TMP/out")" error.code)"
has "the next is answered" '{"ok":' "$(sed -n 2p "$TMP/out")"
python3 - >"$TMP/long" <<'P'
print('{"op":"fact.write","args":{"key":"long","value":"' + "x" * 200000 + '"}}')
print('{"op":"fact.current","args":{"key":"long"}}')
P
"$LOCI" batch --store "$S" <"$TMP/long" >"$TMP/out" 2>&1
is "200 kB are not too long" 2 "$(grep -c '^{"ok":' "$TMP/out")"

# ---- A conversation -----------------------------------------------------------------------------
coproc TALK { exec "$LOCI" batch --store "$TMP/talk.db" 2>"$TMP/err"; }
answered=0
for i in $(seq 20); do
    write "t$i" "$i" >&"${TALK[1]}"
    read -r -t 20 answer <&"${TALK[0]}" || break
    case $answer in '{"ok":'*) answered=$((answered + 1)) ;; esac
done
is "each answer comes before the next line is sent" 20 "$answered"
# A write that was answered is durable: another process sees it while the first still runs.
run call fact.current '{"key":"t20"}' --store "$TMP/talk.db"
is "another process sees it" 20 "$(value "$OUT" value)"
pid=$TALK_PID
eval "exec ${TALK[1]}>&-"
wait "$pid"
is "the end of input ends it" 0 "$?"

# ---- The reader closes the pipe -----------------------------------------------------------------
(for i in $(seq 2000); do write "p$i" "$i"; done) |
    ("$LOCI" batch --store "$S"; echo $? >"$TMP/rc") | head -1 >/dev/null
is "a closed pipe ends it with 1" 1 "$(cat "$TMP/rc")"

# ---- Users --------------------------------------------------------------------------------------
feed "$(write u '"ada"')" batch --user ada --store "$S"
run call fact.current '{"key":"u","user_id":"ada"}' --store "$S"
is "--user acts for that user" ada "$(value "$OUT" value)"
finish
