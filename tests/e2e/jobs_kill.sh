#!/usr/bin/env bash
# jobs_kill.sh - a daemon that is killed while its jobs run leaves each effect once.
#
# Messages are observed over a Unix socket, each with a request id of its own, and repeated until
# they are acknowledged. A scripted chat provider names one fact and one memory for each of them
# (fact.extract), and every fourth message makes a rolling summary due (summary.make). The daemon is
# killed with SIGKILL at random moments and started again: 30 times, 100 with LOCI_TEST_FULL=1.
# KILL_SEED repeats a run.
KILLS=30
[ "${LOCI_TEST_FULL:-0}" != 1 ] || KILLS=100 # Before lib.sh, which clears such variables.
. "$(dirname "$0")/lib.sh"

SEED=${KILL_SEED:-$RANDOM}

run init --store "$TMP/a.db"
"$PYTHON" - "$LOCI" "$TMP" "$KILLS" "$SEED" "$BUILD_DIR/tests/fake_provider" \
    >"$TMP/report" 2>&1 <<'PY'
import collections, json, os, random, signal, subprocess, sys, time

loci, tmp, kills, seed = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
store, sock = os.path.join(tmp, "a.db"), os.path.join(tmp, "s")
random.seed(seed)
MESSAGES_MAX = 4000


def text_of(number):
    return "We decided that shelf r%dx holds $%d of paint." % (number, 100 + number)


with open(os.path.join(tmp, "script"), "w") as script:
    for i in range(MESSAGES_MAX):
        script.write("shelf r%dx\t%s\n" % (i, json.dumps({
            "proposals": [{"key": "shelf_r%dx" % i, "value": "$%d" % (100 + i), "supersedes": None,
                           "quote": "r%dx holds $%d" % (i, 100 + i), "confidence": 0.9}],
            "memories": [{"kind": "memory", "text": "shelf r%dx holds paint" % i,
                          "quote": "shelf r%dx holds $%d of paint" % (i, 100 + i),
                          "confidence": 0.9}]})))
provider = subprocess.Popen([sys.argv[5], "8", os.path.join(tmp, "script")],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
with open(os.path.join(tmp, "config.json"), "w") as config:
    json.dump({"model.chat_url": provider.stdout.readline().strip(), "model.chat_model": "talker",
               "model.allow_private": True, "job.lease_ms": 1000}, config)


def start():
    if os.path.exists(sock):
        os.unlink(sock)
    daemon = subprocess.Popen(
        [loci, "serve", "--store", store, "--socket", sock, "--listen", "127.0.0.1:0",
         "--config", os.path.join(tmp, "config.json")],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    end = time.time() + 20
    while not os.path.exists(sock) and daemon.poll() is None and time.time() < end:
        time.sleep(0.01)
    return daemon


def call(op, args, timeout=10):
    done = subprocess.run([loci, "call", op, json.dumps(args), "--url", "unix:" + sock],
                          capture_output=True, text=True, timeout=timeout)
    return json.loads(done.stdout) if done.returncode == 0 else None


def pages(op, member, args):
    items, cursor = [], None
    while True:
        page = call(op, {**args, "limit": 1000, **({"cursor": cursor} if cursor else {})})
        items += page[member]
        cursor = page["next_cursor"]
        if not cursor:
            return items


def is_active(job):
    return job["kind"] in ("summary.make", "fact.extract") and job["status"] in (
        "queued", "running")


daemon, number, killed, next_kill = start(), 0, 0, time.time() + random.uniform(0.02, 0.4)
deadline = time.time() + 240
try:
    while killed < kills and number < MESSAGES_MAX and time.time() < deadline:
        message = {"session_id": "s%d" % (number % 3), "request_id": "m%d" % number,
                   "role": "user", "text": text_of(number)}
        try:
            number += call("fact.observe", message) is not None
        except subprocess.TimeoutExpired:
            pass
        if daemon.poll() is not None or time.time() >= next_kill:
            daemon.send_signal(signal.SIGKILL)
            daemon.wait()
            killed += 1
            daemon = start()
            next_kill = time.time() + random.uniform(0.02, 0.4)
    begin = time.time()
    jobs = []
    while time.time() < begin + 60:
        jobs = [j for j in pages("job.list", "jobs", {}) if is_active(j)]
        if not jobs:
            break
        time.sleep(0.2)
    print("seed", seed, "messages", number, "kills", killed, "drained in %.1f s" % (
        time.time() - begin))
    print("unfinished", len(jobs))
    stored = sum(call("session.get", {"session_id": "s%d" % i})["turn_count"] for i in range(3))
    print("lost", number - stored)

    jobs = [j for j in pages("job.list", "jobs", {}) if j["kind"] == "fact.extract"]
    print("extractions", len(jobs) == number, "tried again", sum(j["attempts"] > 1 for j in jobs),
          "at most", max(j["attempts"] for j in jobs))
    print("not by the model", collections.Counter(
        (j["status"], (j.get("result") or {}).get("method")) for j in jobs
        if (j.get("result") or {}).get("method") != "model"))
    events = pages("event.list", "events", {})
    facts = collections.Counter(e["payload"]["key"] for e in events if e["type"] == "fact.written")
    print("facts not once", [i for i in range(number) if facts["shelf_r%dx" % i] != 1])
    memories = collections.Counter(
        e["payload"]["text"] for e in events if e["type"] == "memory.stored")
    print("memories not once", [i for i in range(number)
                                if memories["shelf r%dx holds paint" % i] != 1])

    summaries = pages("summary.list", "summaries", {})
    wrong = 0
    for session in {s.get("session_id") for s in summaries if s["kind"] == "rolling"}:
        mine = [s for s in summaries if s.get("session_id") == session and s["kind"] == "rolling"]
        versions = sorted(s["version"] for s in mine)
        seqs = [s["to_seq"] for s in mine]
        wrong += versions != list(range(1, len(mine) + 1)) or len(set(seqs)) != len(seqs)
    print("wrong", wrong)
    print("some", len([s for s in summaries if s["kind"] == "rolling"]) >= 3)
finally:
    daemon.send_signal(signal.SIGTERM)
    daemon.wait()
    provider.communicate()
PY
is "the script runs" 0 "$?"
REPORT=$(cat "$TMP/report")
echo "$REPORT"
has "all kills happened" "kills $KILLS " "$REPORT"
has "no job is left" "unfinished 0" "$REPORT"
has "every acknowledged message is there, once" "lost 0" "$REPORT"
has "each message has one extraction" "extractions True" "$REPORT"
has "each fact was written once" "facts not once []" "$REPORT"
has "and each memory" "memories not once []" "$REPORT"
has "there are summaries" "some True" "$REPORT"
has "each summary was made once" "wrong 0" "$REPORT"
run verify --store "$TMP/a.db"
is "log and tables agree" 0 "$RC"
finish
