#!/bin/bash
# Many requests at once on an open standard input: each is answered, without waiting for more input.
. "$(dirname "$0")/lib.sh"
S=$TMP/burst.db
run call fact.write '{"key":"city","value":"Oslo"}' --store "$S"
python3 - "$LOCI" "$S" <<'T' >"$TMP/counted" 2>&1
import json, subprocess, sys, threading
COUNT = 1000
server = subprocess.Popen([sys.argv[1], "mcp", "--store", sys.argv[2]],
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE)
messages = [{"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
    "protocolVersion": "2025-11-25", "capabilities": {},
    "clientInfo": {"name": "burst", "version": "1"}}}]
messages += [{"jsonrpc": "2.0", "id": i, "method": "tools/call", "params": {
    "name": "read_facts", "arguments": {"action": "current", "key": "city"}}}
    for i in range(1, COUNT + 1)]
timer = threading.Timer(20, server.kill)
timer.start()
text = "".join(json.dumps(m) + "\n" for m in messages).encode()
threading.Thread(target=lambda: (server.stdin.write(text), server.stdin.flush())).start()
seen = set()
for line in server.stdout:
    answer = json.loads(line)
    assert answer["id"] == 0 or "Oslo" in answer["result"]["content"][0]["text"], line
    seen.add(answer["id"])
    if len(seen) == COUNT + 1:
        break
timer.cancel()
server.stdin.close()
server.wait(10)
print(len(seen))
T
is "every request of a burst is answered" 1001 "$(cat "$TMP/counted")"
finish
