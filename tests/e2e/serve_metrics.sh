#!/bin/bash
# /metrics, and the pages that need no credentials.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"
start --store "$TMP/a.db"

# figure NAME - the value of one sample of the last answer.
figure() { printf '%s\n' "$BODY" | awk -v name="$1" '$1 == name { print $2 }'; }

for i in 1 2 3; do call fact.write "{\"key\":\"k$i\",\"value\":$i,\"user_id\":\"u$i\"}"; done
call fact.get '{"id":"fact_00000000000000000000000000"}'
http GET /v1/nowhere
curl -sSN --max-time 30 -H "$AUTH" -H 'Accept: text/event-stream' "$URL/v1/events" >"$TMP/stream" &
stream=$!
wait_for 10 test -s "$TMP/stream"
http GET /metrics
is "figures are to be had" 200 "$STATUS"
has "as Prometheus wants them" "text/plain; version=0.0.4" "$HEADERS"
if command -v promtool >/dev/null; then
    is "promtool has nothing to say" "" "$(printf '%s\n' "$BODY" | promtool check metrics 2>&1)"
else
    echo "promtool is missing: script/setup installs it" >&2
fi
is "which loci" 1 "$(figure "loci_build_info{version=\"$("$LOCI" --version | awk '{print $2}')\"}")"
is "calls by operation and status" 3 \
    "$(figure 'loci_http_requests_total{operation="fact.write",code="200"}')"
is "failed ones, too" 1 "$(figure 'loci_http_requests_total{operation="fact.get",code="404"}')"
is "and what is no operation" 1 "$(figure 'loci_http_requests_total{operation="none",code="404"}')"
is "how long they took" 3 \
    "$(figure 'loci_http_request_duration_seconds_count{operation="fact.write"}')"
is "streams" 1 "$(figure loci_http_streams)"
is "users" 3 "$(figure loci_users)"
is "events" 3 "$(figure loci_events_total)"
is "the store answers" 1 "$(figure loci_store_up)"
is "jobs" 0 "$(figure 'loci_jobs{status="running"}')"
for name in loci_store_bytes loci_commits_total loci_reads_total process_resident_memory_bytes \
    process_open_fds 'loci_http_bytes_total{direction="in"}' \
    'loci_http_bytes_total{direction="out"}' loci_http_connections \
    'loci_memory_bytes{category="engine"}'; do
    is "$name is something" yes "$(figure "$name" | awk '{ print ($1 > 0) ? "yes" : $1 }')"
done
is "when it started" yes "$(figure process_start_time_seconds |
    awk -v now="$(date +%s)" '{ print ($1 > now - 600 && $1 <= now + 1) ? "yes" : $1 }')"
# The guard, and an agent that shares its limit.
call guard.report '{"agent_id":"a","name":"x","bytes":5000000}'
call pipeline.register '{"agent_id":"a","name":"p"}'
http GET /metrics
is "pressure" 0 "$(figure loci_guard_level)"
is "agents" 1 "$(figure loci_guard_agents)"
is "memory by category" 5000000 "$(figure 'loci_guard_category_bytes{category="llm_buffers"}')"
is "pipelines by state" 0 "$(figure 'loci_guard_pipelines{state="paused"}')"
is "rejected work" 0 "$(figure 'loci_guard_admissions_total{result="rejected"}')"
is "signals" 0 "$(figure 'loci_guard_signals_total{signal="pause_pipeline"}')"
for name in loci_guard_used_bytes loci_guard_limit_bytes; do
    is "$name is something" yes "$(figure "$name" | awk '{ print ($1 > 0) ? "yes" : $1 }')"
done
lacks "names of agents are not shown" '"a/x' "$BODY"
call guard.release '{"agent_id":"a","name":"x"}'
kill "$stream"
wait "$stream" 2>/dev/null

# ---- Figures that must not mislead ---------------------------------------------------------------
# shellcheck disable=SC2317 # wait_for calls it.
idle() {
    http GET /metrics
    [ "$(figure 'loci_jobs{status="queued"}')$(figure 'loci_jobs{status="running"}')" = 00 ]
}
wait_for 20 idle
is "no job is queued when none is due" 0 "$(figure 'loci_jobs{status="queued"}')"
is "the next upkeep is scheduled" yes \
    "$(figure 'loci_jobs{status="scheduled"}' | awk '{ print ($1 > 0) ? "yes" : $1 }')"
reads=$(figure loci_reads_total)
for _ in 1 2 3; do http GET /metrics; done
is "scrapes, jobs and upkeep are no reads" "$reads" "$(figure loci_reads_total)"
call fact.current '{"key":"k1","user_id":"u1"}'
http GET /metrics
is "a call that reads is one" "$((reads + 1))" "$(figure loci_reads_total)"
is "errors by code" 2 "$(figure 'loci_errors_total{code="not_found"}')"
for name in loci_write_queue_seconds loci_write_group_seconds loci_commit_seconds \
    loci_fsync_seconds; do
    is "$name was measured" yes "$(figure "${name}_count" | awk '{ print ($1 > 0) ? "yes" : $1 }')"
done
is "there was no backup" 0.000000 "$(figure loci_last_backup_timestamp_seconds)"
"$LOCI" --store "$TMP/a.db" store backup "$TMP/backup.db" >"$TMP/out" ||
    fail "backup" "$(cat "$TMP/out")"
http GET /metrics
is "the time of the last backup" yes "$(figure loci_last_backup_timestamp_seconds |
    awk -v now="$(date +%s)" '{ print ($1 > now - 600 && $1 <= now + 1) ? "yes" : $1 }')"
printf '%s\n' "$BODY" >"$TMP/metrics"

# ---- The dashboard, the alerts and the page of the manual name what there is ---------------------
ROOT=$(cd "$(dirname "$0")/../.." && pwd)
families=$(awk '$1 == "#" && $2 == "TYPE" { print $3 }' "$TMP/metrics" | sort)
named() {
    grep -ohE '(loci|process)_[a-z0-9_]+' "$@" | sed -E 's/_(bucket|sum|count)$//' | sort -u
}
for file in packaging/grafana/loci.json packaging/prometheus/loci.rules.yml; do
    is "$file names only metrics that there are" "" \
        "$(comm -23 <(named "$ROOT/$file") <(printf '%s\n' "$families"))"
done
is "the manual describes every metric" "" \
    "$(comm -13 <(named "$ROOT/docs/monitoring.md") <(printf '%s\n' "$families"))"
is "and no other" "" \
    "$(comm -23 <(named "$ROOT/docs/monitoring.md") <(printf '%s\n' "$families"))"
python3 -m json.tool "$ROOT/packaging/grafana/loci.json" >/dev/null || fail "the dashboard is JSON"
if command -v promtool >/dev/null; then
    has "promtool accepts the alerts" SUCCESS \
        "$(promtool check rules "$ROOT/packaging/prometheus/loci.rules.yml" 2>&1)"
fi

# Permissions: the figures are about all tenants.
ask GET /metrics
is "not without a token" 401 "$STATUS"
call token.create '{"name":"reader","scopes":["read","write"]}'
AUTH="Authorization: Bearer $(value "$BODY" token)" http GET /metrics
is "nor without the scope metrics" 403 "$STATUS"
call token.create '{"name":"prometheus","scopes":["metrics"]}'
scraper=$(value "$BODY" token)
AUTH="Authorization: Bearer $scraper" http GET /metrics
is "with the scope metrics" 200 "$STATUS"
AUTH="Authorization: Bearer $scraper" http GET /v1/facts
is "which allows nothing else" 403 "$STATUS"
call token.create '{"name":"narrow","scopes":["metrics"],"user_id":"u"}'
AUTH="Authorization: Bearer $(value "$BODY" token)" http GET /metrics
is "nor narrowed to a user" 403 "$STATUS"
call token.create '{"name":"capped","scopes":["admin"],"authority":"employee"}'
AUTH="Authorization: Bearer $(value "$BODY" token)" http GET /metrics
is "nor as an admin with a ceiling: the figures are of all tenants" 403 "$STATUS"
STATUS=$(curl -sS -o /dev/null -w '%{http_code}' --unix-socket "$TMP/daemon.sock" \
    http://localhost/metrics)
is "but on one's own socket" 200 "$STATUS"

# ---- Pages ---------------------------------------------------------------------------------------
ask GET /start
is "a page to start from" 200 "$STATUS"
has "says what this is" "state engine" "$BODY"
has "which version it is" "<h1>$("$LOCI" --version)</h1>" "$BODY"
has "links the reference" 'href="/docs"' "$BODY"
has "links the OpenAPI document" 'href="/openapi.json"' "$BODY"
has "links the metrics" 'href="/metrics"' "$BODY"
lacks "without a script" "<script" "$BODY"
ask GET /docs
is "the reference to read" 200 "$STATUS"
has "as text" "text/plain; charset=utf-8" "$HEADERS"
has "to be asked for again" "no-cache" "$HEADERS"
run reference --markdown
is "is the one made from the table" "$BODY" "$OUT"
ask HEAD /docs
is "its head alone" 200 "$STATUS"
ask POST /docs
is "nothing can be posted to a page" 405 "$STATUS"
ask GET /openapi.json
is "the API for programs" 200 "$STATUS"
run reference --openapi
is "which needs no daemon" "$BODY" "$OUT"
ask GET /docs/
is "a page that is none" 404 "$STATUS"
stop
is "it ends" 0 "$RC"
finish
