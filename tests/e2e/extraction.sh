#!/bin/bash
# Facts from messages with a chat provider on this machine: from the command line, in a batch, and
# over HTTP beside a provider that keeps silent.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"

# proposal KEY VALUE QUOTE
proposal() {
    printf '{"proposals":[{"key":"%s","value":"%s","supersedes":null,' "$1" "$2"
    printf '"quote":"%s","confidence":0.9}]}' "$3"
}
{
    printf 'Köln\t%s\n' "$(proposal home_city Köln 'wohnen jetzt in Köln')"
    printf '大阪\t%s\n' "$(proposal workplace 大阪 '大阪で働きます')"
    printf 'presupuesto\t%s\n' "$(proposal budget '7.000 euros' 'sube a 7.000 euros')"
    printf 'peanuts\t%s\n' "$(proposal allergies popcorn 'allergic to popcorn')"
    printf 'prose\tI am sorry, there is nothing in it.\n'
    printf 'silence\t!hang\n'
} >"$TMP/script"

coproc PROVIDER { "$BUILD_DIR/tests/fake_provider" 8 "$TMP/script"; }
provider=$PROVIDER_PID
read -r -u "${PROVIDER[0]}" address
cat >"$TMP/config.json" <<JSON
{"model.chat_url": "$address", "model.chat_model": "talker", "model.allow_private": true,
 "model.chat_key": {"env": "CHAT_KEY"}, "model.timeout_ms": 500}
JSON
export CHAT_KEY=sk-canary-e2e
loci() { "$LOCI" --store "$TMP/a.db" --config "$TMP/config.json" "$@"; }

out=$(loci call fact.observe '{"text":"Wir wohnen jetzt in Köln."}')
is "the message is left to the job" queued "$(value "$out" extraction)"
out=$(loci call job.get "{\"id\":\"$(value "$out" job_id)\"}")
is "which has run" "done" "$(value "$out" status)"
is "and made a fact" created "$(value "$out" result.outcomes.0.outcome)"
is "in German" Köln "$(value "$(loci call fact.current '{"key":"home_city"}')" value)"

# In a batch the job runs after its line.
out=$(printf '%s\n' '{"op":"fact.observe","args":{"text":"来月から大阪で働きます。"}}' \
    '{"op":"fact.current","args":{"key":"workplace"}}' \
    '{"op":"fact.observe","args":{"text":"El presupuesto sube a 7.000 euros."}}' \
    '{"op":"fact.current","args":{"key":"budget"}}' | loci batch)
has "in Japanese" '"value":"大阪"' "$(line "$out" 2)"
has "in Spanish" '"value":"7.000 euros"' "$(line "$out" 4)"

# A model that makes things up, or does not answer as asked.
out=$(loci call fact.observe '{"text":"I am fine with peanuts."}')
out=$(loci call job.get "{\"id\":\"$(value "$out" job_id)\"}")
is "what was not said is refused" 1 "$(value "$out" result.refused)"
is "and changes nothing" "[]" "$(value "$out" result.outcomes)"
out=$(loci call fact.observe '{"text":"Some prose."}')
is "a bad answer fails no write" queued "$(value "$out" extraction)"
out=$(loci call job.get "{\"id\":\"$(value "$out" job_id)\"}")
is "the job waits for a better one" queued "$(value "$out" status)"
is "and says why" unavailable "$(value "$out" error.code)"

# The daemon answers while the provider keeps silent, and ends when it is asked to.
start --store "$TMP/a.db" --config "$TMP/config.json"
http POST /v1/observations -d '{"text":"There is silence."}'
is "a write over HTTP does not wait" 200 "$STATUS"
job=$(value "$BODY" job_id)
http GET "/v1/jobs/$job"
has "for its job" '"kind":"fact.extract"' "$BODY"
lacks "which has no result yet" '"method"' "$BODY"
http POST /v1/observations -d '{"text":"Wir wohnen jetzt in Köln."}'
job=$(value "$BODY" job_id)
# shellcheck disable=SC2317 # Called by wait_for.
is_done() {
    http GET "/v1/jobs/$job"
    [ "$(value "$BODY" status)" = "done" ]
}
wait_for 30 is_done
is "other messages are read meanwhile" repeated "$(value "$BODY" result.outcomes.0.outcome)"
stop
is "the daemon ends well" 0 "$RC"
kill "$provider"
wait "$provider" 2>/dev/null
is "the key is in no file" "" "$(grep -l canary "$TMP"/a.db* "$TMP/daemon.log" "$TMP/daemon.out" \
    "$TMP/body" 2>/dev/null)"
finish
