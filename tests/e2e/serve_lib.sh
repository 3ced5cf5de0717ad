# shellcheck shell=bash disable=SC2034,SC2120 # Used by the scripts that source it.
# serve_lib.sh - starts a daemon to test and sends it requests. Sourced after lib.sh.
#
#     start --store "$TMP/a.db"          # sets DAEMON, URL, TOKEN and AUTH
#     http GET /v1/facts                 # sets BODY, STATUS and HEADERS
#     stop                               # sets RC
#
# Run by itself it starts one and asks whether it lives.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    # shellcheck source=tests/e2e/lib.sh
    . "$(dirname "$0")/lib.sh"
fi
unset XDG_RUNTIME_DIR NOTIFY_SOCKET

# launch ARGUMENT… - `loci serve` in the background; returns when it has said where it listens.
launch() {
    rm -f "$TMP/daemon.out"
    "$LOCI" serve "$@" >"$TMP/daemon.out" 2>"$TMP/daemon.log" </dev/null &
    DAEMON=$!
    wait_for 20 test -s "$TMP/daemon.out" && return
    fail "the daemon starts" "$(tail -5 "$TMP/daemon.log")"
    finish
}

# start ARGUMENT… - a daemon on a free port of this machine, with a token for administrators.
start() {
    launch --listen 127.0.0.1:0 --socket "$TMP/daemon.sock" --token-file "$TMP/token" --json "$@"
    URL=$(value "$(cat "$TMP/daemon.out")" address)
    TOKEN=$(cat "$TMP/token")
    AUTH="Authorization: Bearer $TOKEN"
}

# stop [SIGNAL] - and wait until it has ended.
stop() {
    kill "-${1:-TERM}" "$DAEMON"
    wait "$DAEMON"
    RC=$?
}

# http METHOD PATH [CURL-ARGUMENT…] - with the token.
http() {
    ask "$1" "$2" -H "$AUTH" "${@:3}"
}

# ask METHOD PATH [CURL-ARGUMENT…] - without it.
ask() {
    local method=(-X "$1")
    [ "$1" != HEAD ] || method=(-I)
    STATUS=$(curl -sS --max-time 20 "${method[@]}" -o "$TMP/body" -D "$TMP/headers" \
        -w '%{http_code}' "${@:3}" "$URL$2" 2>"$TMP/curl.err") ||
        STATUS="curl: $(cat "$TMP/curl.err")"
    BODY=$(cat "$TMP/body" 2>/dev/null)
    HEADERS=$(tr -d '\r' <"$TMP/headers" 2>/dev/null)
}

# call OP JSON - POST /v1/call/OP.
call() { http POST "/v1/call/$1" -d "$2"; }

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    start --store "$TMP/a.db"
    ask GET /livez
    is "the daemon lives" 200 "$STATUS"
    stop
    is "it ends" 0 "$RC"
    finish
fi
