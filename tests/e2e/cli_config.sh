#!/bin/bash
# Settings: default < file < stored < environment < flag, at every step.
. "$(dirname "$0")/lib.sh"
export LOCI_STORE=$TMP/a.db
run init

# shows NAME VALUE ORIGIN OPTIONS…
shows() {
    local name=$1 expected=$2 origin=$3
    shift 3
    run config get call.timeout_ms --json "$@"
    is "$name: value" "$expected" "$(value "$OUT" value)"
    is "$name: origin" "$origin" "$(value "$OUT" origin)"
}
shows "nothing said" 30000 default
echo '{"call.timeout_ms": 11000}' >"$TMP/config.json"
shows "a file" 11000 file --config "$TMP/config.json"
LOCI_CONFIG=$TMP/config.json shows "a file named by a variable" 11000 file
run config set call.timeout_ms 12000
is "set succeeds" 0 "$RC"
shows "a stored value" 12000 store
shows "a stored value outranks the file" 12000 store --config "$TMP/config.json"
LOCI_CALL_TIMEOUT_MS=13000 shows "a variable outranks the store" 13000 environment
LOCI_CALL_TIMEOUT_MS=13000 shows "a flag outranks the variable" 14000 flag \
    --set call.timeout_ms=14000
shows "the last flag counts" 15000 flag --set call.timeout_ms=1 --set call.timeout_ms=15000
LOCI_CALL_TIMEOUT_MS='' shows "an empty variable says nothing" 12000 store
run config unset call.timeout_ms
is "unset succeeds" 0 "$RC"
shows "unset" 30000 default

run config
has "config lists the settings" "call.timeout_ms" "$OUT"
run config set store.durability relaxed
is "a choice" 0 "$RC"
run config get store.durability --json
is "is stored" relaxed "$(value "$OUT" value)"
LOCI_STORE_DURABILITY=full run config get store.durability --json
is "a choice from a variable" full "$(value "$OUT" value)"

# refuses NAME PART COMMAND…: fails, naming what is wrong.
refuses() {
    local name=$1 part=$2
    shift 2
    run "$@"
    isnt "$name: fails" 0 "$RC"
    has "$name: says why" "$part" "$ERR"
}
refuses "an unknown name" "call.timeout_ms" config get call.timeout
refuses "an unknown name to set" "call.timeout_ms" config set call.timout_ms 5
refuses "a value out of range" "call.timeout_ms" config set call.timeout_ms 0
refuses "a value of another kind" "call.timeout_ms" config set call.timeout_ms soon
refuses "a choice that is none" "full" config set store.durability maybe
refuses "an unknown flag" "no.such" status --set no.such=1
refuses "a flag without value" "NAME=VALUE" status --set call.timeout_ms
refuses "a wrong flag" "call.timeout_ms" status --set call.timeout_ms=never
refuses "a file that is not there" "none.json" status --config "$TMP/none.json"
echo '{"call.timeout_ms": ' >"$TMP/broken.json"
refuses "a file that is not JSON" "broken.json" status --config "$TMP/broken.json"
echo '{"no.such": 1}' >"$TMP/unknown.json"
refuses "an unknown name in a file" "no.such" status --config "$TMP/unknown.json"
LOCI_CALL_TIMEOUT_MS=never refuses "a wrong variable" "call.timeout_ms" status
LOCI_CALL_TIMEOUT_MS=never run doctor
is "doctor sees a wrong variable" 1 "$RC"
LOCI_CALL_TIMOUT_MS=5 run doctor
has "doctor sees a variable that is none" "LOCI_CALL_TIMEOUT_MS" "$OUT"
refuses "no name" "NAME" config get
refuses "unset without a name" "NAME" config unset
refuses "a verb that is none" "config" config show
finish
