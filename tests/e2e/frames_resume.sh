#!/usr/bin/env bash
# frames_resume.sh - two processes present the token of one suspended frame at the same moment: one
# resumes it, the other gets a conflict that says so. 40 rounds with processes that have the store
# open, 10 with processes that start, in a file and in PostgreSQL.
here=$(dirname "$0")
# shellcheck source=tests/e2e/lib.sh
. "$here/lib.sh"

coproc SERVER { exec "$here/../lib/postgres.sh" 2>/dev/null; }
read -r dir <&"${SERVER[0]}"

# race NAME STORE
race() {
    "$PYTHON" - "$LOCI" "$2" >"$TMP/report" 2>&1 <<'PY'
import json, subprocess, sys, threading

loci, store = sys.argv[1:]
ROUNDS, STARTS = 40, 10


class Process:
    """One `loci batch` with the store open."""

    def __init__(self):
        self.pipe = subprocess.Popen([loci, "batch", "--store", store], stdin=subprocess.PIPE,
                                     stdout=subprocess.PIPE, text=True)

    def send(self, op, args):
        self.pipe.stdin.write(json.dumps({"op": op, "args": args}) + "\n")
        self.pipe.stdin.flush()

    def read(self):
        return json.loads(self.pipe.stdout.readline())

    def call(self, op, args):
        self.send(op, args)
        return self.read()["ok"]


def start_both(token):
    command = [loci, "call", "frame.resume", json.dumps({"token": token}), "--store", store]
    both = [subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            for _ in range(2)]
    answers = []
    for one in both:
        out, err = one.communicate()
        answers.append({"ok": json.loads(out)} if one.returncode == 0 else json.loads(err))
    return answers


host, racers = Process(), [Process(), Process()]
frame = host.call("frame.push", {"goal": "Race"})["id"]
wins = [0, 0]
for racer in racers:
    racer.call("frame.get", {"id": frame})
for turn in range(ROUNDS + STARTS):
    token = host.call("frame.suspend", {"id": frame})["token"]
    if turn < ROUNDS:
        barrier = threading.Barrier(2)

        def present(racer):
            barrier.wait()
            racer.send("frame.resume", {"token": token})

        threads = [threading.Thread(target=present, args=[racer]) for racer in racers]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        answers = [racer.read() for racer in racers]
    else:
        answers = start_both(token)
    won = ["ok" in answer for answer in answers]
    assert sum(won) == 1, "round %d: %s" % (turn, answers)
    winner, loser = answers[won.index(True)]["ok"], answers[won.index(False)]["error"]
    assert winner["status"] == "active" and winner["id"] == frame, winner
    assert loser["code"] == "conflict" and "it was used before" in loser["message"], loser
    assert host.call("frame.get", {"id": frame})["status"] == "active"
    wins[won.index(True)] += 1
for process in [host] + racers:
    process.pipe.stdin.close()
    process.pipe.wait()  # 1 after a conflict.
events = subprocess.run([loci, "events", "--after", "0", "--type", "frame.resumed", "--json",
                         "--store", store], capture_output=True, text=True, check=True).stdout
assert len(events.splitlines()) == ROUNDS + STARTS, events
verify = subprocess.run([loci, "store", "verify", "--store", store], capture_output=True, text=True)
assert verify.returncode == 0, verify.stdout + verify.stderr
print("%d rounds, won %d and %d" % (ROUNDS + STARTS, *wins))
PY
    is "$1: of two processes one resumes the frame" 0 $?
    echo "$1: $(cat "$TMP/report")"
}

race "a file" "$TMP/a.db"
race "PostgreSQL" "postgresql://loci:hush@/loci?host=$dir"
finish
