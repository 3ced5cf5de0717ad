#!/bin/bash
# Two agents listen to the guard of a daemon over server-sent events. A third process reports memory
# until the level is critical: the agent that acknowledges is paused and resumed, the one that does
# not is treated as gone and its memory is released.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"

start --store "$TMP/a.db" --set guard.limit_bytes=1000000000 --set guard.agents_bytes_max=950000000

# listen AGENT - its stream goes to $TMP/AGENT.txt.
listen() {
    curl -sN -H "$AUTH" -H "Accept: text/event-stream" "$URL/v1/signals?agent_id=$1" \
        >"$TMP/$1.txt" 2>/dev/null &
    wait_for 20 grep -q '"level":"normal"' "$TMP/$1.txt" || fail "$1 listens" "$(cat "$TMP/$1.txt")"
}

# answer AGENT - acknowledges all signals of its stream that need it, as they arrive.
answer() {
    tail -n +1 -f "$TMP/$1.txt" | while read -r line; do
        case $line in
        data:*'"ack_within_ms":'[0-9]*)
            id=${line#*'"signal_id":'}
            curl -s -o /dev/null -H "$AUTH" "$URL/v1/signals/${id%%,*}/ack" \
                -d "{\"agent_id\":\"$1\"}"
            ;;
        esac
    done &
}

# gets AGENT SIGNAL
gets() {
    wait_for 20 grep -q "^event: $2" "$TMP/$1.txt" || fail "$1 gets $2" "$(cat "$TMP/$1.txt")"
}

# shellcheck disable=SC2317 # Called through the function that waits.
state_is() {
    http GET "/v1/pipelines?agent_id=$1"
    [ "$(value "$BODY" pipelines.0.state 2>/dev/null)" = "$2" ]
}

listen good
answer good
listen bad
for agent in good bad; do
    # The one that will not answer is asked first: its priority is lower.
    priority=$([ "$agent" = bad ] && echo 0 || echo 1)
    call pipeline.register \
        "{\"agent_id\":\"$agent\",\"name\":\"work\",\"priority\":$priority}"
    is "$agent registers" 200 "$STATUS"
    call pipeline.begin "{\"agent_id\":\"$agent\",\"name\":\"work\",\"bytes\":100000000}"
    is "$agent begins" admitted "$(value "$BODY" outcome)"
done
call pipeline.register '{"agent_id":"good","name":"work"}'
is "a pipeline is registered once" 409 "$STATUS"
call guard.release '{"agent_id":"good","name":"never"}'
is "what was never reported cannot be released" 404 "$STATUS"
call signal.ack '{"agent_id":"good","signal_id":999999}'
is "nor a signal acknowledged that was not sent" 404 "$STATUS"
call guard.report '{"agent_id":"good","name":"x","bytes":-5}'
is "nor a negative size reported" 400 "$STATUS"
call guard.report '{"agent_id":"good","name":"x","bytes":900000000}'
is "nor more than the quota" 413 "$STATUS"

# 200 MB are held. With 700 MB more the level is critical.
http PUT /v1/guard/reports/contexts -d '{"agent_id":"other","bytes":700000000}'
is "another agent reports" 200 "$STATUS"
gets good evict_caches
gets good compact_contexts
gets bad pause_pipeline
lacks "the lowest priority is asked first" pause_pipeline "$(cat "$TMP/good.txt")"
wait_for 20 grep -q '"reason":"no_ack"' "$TMP/bad.txt" ||
    fail "its stream ends" "$(cat "$TMP/bad.txt")"
http GET "/v1/pipelines?agent_id=bad"
is "the agent that does not answer is forgotten" "[]" "$(value "$BODY" pipelines)"
http GET /v1/guard
is "and counted" 1 "$(value "$BODY" signals.agents_gone)"
call pipeline.begin '{"agent_id":"good","name":"work"}'
is "work that runs cannot begin" 409 "$STATUS"

# 800 MB are left, which is above the exit of the level: the next is asked.
gets good pause_pipeline
wait_for 10 state_is good paused || fail "the other is paused" "$BODY"
is "and holds nothing" 0 "$(value "$BODY" pipelines.0.bytes)"
http DELETE "/v1/guard/reports/contexts?agent_id=other"
is "the memory is released" 200 "$STATUS"
wait_for 10 state_is good running || fail "it resumes" "$BODY"
gets good resume_pipeline
lacks "an agent that answers stays" "no_ack" "$(cat "$TMP/good.txt")"

# ---- Rights --------------------------------------------------------------------------------------
# token_of SCOPES - a new token.
token_of() {
    call token.create "{\"name\":\"other\",\"scopes\":[$1]}"
    value "$BODY" token
}
reader=$(token_of '"read"')
ask GET "/v1/signals?stream=1" -H "Authorization: Bearer $reader"
is "a reader cannot listen" 403 "$STATUS"
ask GET /v1/guard -H "Authorization: Bearer $reader"
is "nor see the names of others" 403 "$STATUS"
writer=$(token_of '"read","write"')
ask GET "/v1/pipelines" -H "Authorization: Bearer $writer"
is "another token sees its own pipelines only" "[]" "$(value "$BODY" pipelines)"
ask POST /v1/pipelines/work/end -H "Authorization: Bearer $writer" -d '{"agent_id":"good"}'
is "and cannot end those of others" 404 "$STATUS"
http GET "/v1/signals?stream=1&agent_id="
is "an agent has a name" 400 "$STATUS"
http GET "/v1/signals?stream=1&wrong=1"
is "unknown parameters are refused" 400 "$STATUS"

# ---- pause_all -----------------------------------------------------------------------------------
call signal.send '{"signal":"pause_all"}'
is "an administrator pauses all" 200 "$STATUS"
gets good pause_all
call pipeline.end '{"agent_id":"good","name":"work"}'
call pipeline.begin '{"agent_id":"good","name":"work"}'
is "nothing begins" rejected "$(value "$BODY" outcome)"
call signal.send '{"signal":"resume_all"}'
call pipeline.begin '{"agent_id":"good","name":"work"}'
is "until all go on" admitted "$(value "$BODY" outcome)"
"$LOCI" events --store "$TMP/a.db" --json >"$TMP/events" 2>/dev/null
lacks "none of it is in the log" pipeline "$(cat "$TMP/events")"
stop
is "the daemon ends with listeners" 0 "$RC"
finish
