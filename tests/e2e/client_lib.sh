# shellcheck shell=bash disable=SC2034 # Its variables are for the scripts that source it.
# client_lib.sh - a daemon and a faulty proxy for the tests of the clients. Sourced after lib.sh and
# serve_lib.sh.
#
#     client_package                      # sets CLIENT, the packed client for Node.js
#     client_daemon                       # exports URL_, TOKEN, SOCKET and PROXY
#     client_test COMMAND…                # adds its checks to this test
#     client_restarts COMMAND…            # the same, and restarts the daemon while it runs
#
# Run by itself it starts both and asks whether they live.
if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    # shellcheck source=tests/e2e/lib.sh
    . "$(dirname "$0")/lib.sh"
    # shellcheck source=tests/e2e/serve_lib.sh
    . "$(dirname "$0")/serve_lib.sh"
fi
CLIENT_TESTS=$(cd "$(dirname "${BASH_SOURCE[0]}")/../clients" && pwd)

# client_package - packs clients/node as CLIENT, once per version of its sources, as the compiler is
# slow. Needs install_clients.
client_package() {
    local source=$REPOSITORY/clients/node lock
    CLIENT=$NPM/$(cd "$source" && find . -type f -not -path '*/dist/*' \
        -not -path '*/node_modules/*' -print0 | sort -z | xargs -0 sha256sum | sha256sum |
        cut -c 1-16).tgz
    exec {lock}>"$NPM/pack.lock"
    flock "$lock"
    if [ ! -e "$CLIENT" ]; then
        mkdir "$TMP/made"
        cp -r "$source/." "$TMP/made"
        ln -sfn "$NPM/node_modules" "$TMP/made/node_modules"
        (cd "$TMP/made" && npm pack --cache "$TMP/cache" >"$TMP/pack.log" 2>&1) ||
            fail "npm pack" "$(tail -20 "$TMP/pack.log")"
        rm -f "$NPM"/*.tgz
        mv "$TMP"/made/loci-client-*.tgz "$CLIENT"
    fi
    exec {lock}>&-
}

client_daemon() {
    mkdir "$TMP/transfer"
    run config set store.transfer_dir "$TMP/transfer" --store "$TMP/a.db"
    start --store "$TMP/a.db"
    python3 "$CLIENT_TESTS/faulty_proxy.py" "$URL" >"$TMP/proxy.out" 2>"$TMP/proxy.log" &
    wait_for 20 test -s "$TMP/proxy.out" || fail "the proxy starts" "$(cat "$TMP/proxy.log")"
    PROXY=$(cat "$TMP/proxy.out")
    SOCKET=$TMP/daemon.sock
    URL_=$URL # URL is a class in Node.js, and easily overwritten.
    export URL_ TOKEN SOCKET PROXY
}

# page_file NAME - the content of a file that docs/clients.md shows.
page_file() {
    awk -v mark="<!-- file: $1 -->" '
        $0 == mark { is_found = 1; next }
        is_found && /^```/ { if (is_inside) exit; is_inside = 1; next }
        is_inside' "$CLIENT_TESTS/../../docs/clients.md"
}

# client_counts - adds the checks in $TMP/client.out; the last line has their number.
client_counts() {
    local counts
    counts=$(tail -1 "$TMP/client.out" | sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed$/\1 \2/p')
    grep -v ' passed, .* failed$' "$TMP/client.out"
    if [ -z "$counts" ]; then
        fail "$* ends" "exit status $RC"
        return
    fi
    passed=$((passed + ${counts% *}))
    failed=$((failed + ${counts#* }))
}

client_test() {
    timeout 120 "$@" >"$TMP/client.out" </dev/null
    RC=$?
    client_counts "$@"
}

client_restarts() {
    local client url=${URL#http://}
    rm -f "$TMP/ready"
    timeout 60 "$@" "$TMP" >"$TMP/client.out" </dev/null &
    client=$!
    # It follows from now on, so the first fact is changed until that was seen.
    # shellcheck disable=SC2317 # Called by wait_for.
    has_seen_first() {
        call fact.write "{\"key\":\"first\",\"value\":\"$RANDOM$RANDOM\"}"
        test -e "$TMP/ready"
    }
    wait_for 20 has_seen_first || fail "the stream starts"
    stop
    is "the daemon ends with a stream" 0 "$RC"
    run fact write down 2 --store "$TMP/a.db"
    is "a write while it is down" 0 "$RC"
    launch --listen "$url" --socket "$TMP/daemon.sock" --token-file "$TMP/token" --json \
        --store "$TMP/a.db"
    call fact.write '{"key":"last","value":3}'
    is "a write after its start" 200 "$STATUS"
    wait "$client"
    RC=$?
    client_counts "$@"
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
    client_daemon
    ask GET /livez
    is "the daemon lives" 200 "$STATUS"
    is "the proxy lives" '[]' "$(curl -sS --max-time 20 "$PROXY/seen/none")"
    stop
    is "it ends" 0 "$RC"
    finish
fi
