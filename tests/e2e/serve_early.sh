#!/bin/bash
# Errors that are answered before the body was read reach clients that still send it: Python's
# urllib and http.client, curl with and without Expect, fetch of Node.js.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=tests/e2e/serve_lib.sh
. "$(dirname "$0")/serve_lib.sh"

start --store "$TMP/a.db"
is "Python reads every early error" "large 413 limit
large-http.client 413 limit
no-token 401 unauthenticated
wrong-token 401 unauthenticated
no-path 404 not_found
chunked 411 invalid_argument
origin 403 forbidden
host 421 forbidden" "$(python3 "$(dirname "$0")/serve_early.py" "$URL" "$TOKEN" 2>&1)"

head -c 25000000 /dev/zero >"$TMP/large"
http POST /v1/facts --data-binary "@$TMP/large"
is "curl that expects 100 Continue reads 413" 413 "$STATUS"
http POST /v1/facts -H Expect: --data-binary "@$TMP/large"
is "curl that does not reads 413" 413 "$STATUS"
if command -v node >/dev/null; then
    is "fetch of Node.js reads 413" 413 "$(node -e '
        const [url, token] = process.argv.slice(1);
        fetch(url + "/v1/facts", {
            method: "POST", body: Buffer.alloc(25e6), headers: { Authorization: "Bearer " + token },
        }).then((reply) => console.log(reply.status), (error) => console.log(error.cause ?? error));
    ' "$URL" "$TOKEN" 2>&1)"
fi
http GET /v1/facts
is "the daemon goes on" 200 "$STATUS"
stop
is "and ends" 0 "$RC"
finish
