#!/usr/bin/env bash
# window_kill.sh - a daemon that is killed at any moment keeps the window as it was acknowledged.
#
# Resources are paged in and out, weighed and annotated over a Unix socket. The daemon is killed
# with SIGKILL at random moments and started again: 10 times, 60 with LOCI_TEST_FULL=1. After each
# start every resource is in the state of its last acknowledged call, or of the one that was cut
# off. KILL_SEED repeats a run.
KILLS=10
[ "${LOCI_TEST_FULL:-0}" != 1 ] || KILLS=60 # Before lib.sh, which clears such variables.
. "$(dirname "$0")/lib.sh"

SEED=${KILL_SEED:-$RANDOM}

run init --store "$TMP/a.db"
"$PYTHON" - "$LOCI" "$TMP" "$KILLS" "$SEED" >"$TMP/report" 2>&1 <<'PY'
import json, os, random, signal, subprocess, sys, threading, time

loci, tmp, kills, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
store, sock = os.path.join(tmp, "a.db"), os.path.join(tmp, "s")
random.seed(seed)


def start():
    if os.path.exists(sock):
        os.unlink(sock)
    daemon = subprocess.Popen(
        [loci, "serve", "--store", store, "--socket", sock, "--listen", "127.0.0.1:0"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.time() + 20
    while not os.path.exists(sock) and daemon.poll() is None and time.time() < end:
        time.sleep(0.01)
    return daemon


def call(op, args):
    done = subprocess.run([loci, "call", op, json.dumps(args), "--url", "unix:" + sock],
                          capture_output=True, text=True, timeout=20)
    return json.loads(done.stdout) if done.returncode == 0 else None


def seen():
    rows = call("resource.list", {"limit": 100})["resources"]
    return {r["uri"]: (r["state"], r["attention"], len(r["annotations"])) for r in rows}


def step(state):
    """A change that is allowed, and the row after it."""
    name, weight, notes = state
    is_active = name in ("loaded", "hot")
    what = random.choice(["page", "page", "attention", "annotate"])
    if what == "page" and is_active:
        return "resource.page_out", {}, ("indexed", weight, notes)
    if what == "page":
        return "resource.page_in", {}, ("hot" if weight > 1 else "loaded", weight, notes)
    if what == "attention":
        new = random.choice([0, 1, 4])
        return ("resource.attention", {"attention": new},
                ("hot" if new > 1 else "loaded", new, notes) if is_active else (name, new, notes))
    return "resource.annotate", {"text": "note"}, (name, weight, notes + 1)


daemon, acked, killed, calls = start(), {}, 0, 0
call("window.open", {"context_max": 100000})
for i in range(12):
    row = call("resource.discover", {"name": "r%d" % i, "text": "word " * (i + 1)})
    acked[row["uri"]] = ("cold", 1, 0)
deadline = time.time() + 240
while killed < kills and time.time() < deadline:
    timer = threading.Timer(random.uniform(0.02, 0.5), daemon.send_signal, [signal.SIGKILL])
    timer.start()
    cut = None
    while cut is None:
        uri = random.choice(sorted(acked))
        if acked[uri][2] >= 30:
            continue
        op, args, after = step(acked[uri])
        if call(op, {"id": uri, **args}) is None:
            cut = (uri, after)
        else:
            acked[uri] = after
            calls += 1
    timer.join()
    daemon.wait()
    killed += 1
    daemon = start()
    now = seen()
    if now[cut[0]] == cut[1]:
        acked[cut[0]] = cut[1]
    for uri in acked:
        if now[uri] != acked[uri]:
            print("seed %d: %s is %s, acknowledged was %s" % (seed, uri, now[uri], acked[uri]))
            daemon.kill()
            sys.exit(1)
daemon.terminate()
daemon.wait()
print("%d kills, %d calls" % (killed, calls))
sys.exit(0 if killed == kills and calls > 0 else 1)
PY
is "every resource is in the acknowledged state: $(tail -1 "$TMP/report")" 0 "$?"
run verify --store "$TMP/a.db"
is "the log and the rows agree" 0 "$RC"
finish
