#!/usr/bin/env bash
# frames_kill.sh - an agent that is killed finds its stack and the work in progress again.
#
# 1,000 random operations on frames go through `loci batch`, which is killed with SIGKILL at 20
# random moments. After each kill actor.resume must return exactly the stack and the running tool
# calls of the acknowledged operations; only the one operation without an answer may or may not have
# happened. At the end store.verify must find that the log gives the same rows. KILL_SEED repeats a
# run.
. "$(dirname "$0")/lib.sh"

SEED=${KILL_SEED:-$RANDOM}

"$PYTHON" - "$LOCI" "$TMP/a.db" "$SEED" >"$TMP/report" 2>&1 <<'PY'
import json, random, subprocess, sys

loci, store, seed = sys.argv[1], sys.argv[2], int(sys.argv[3])
random.seed(seed)
OPERATIONS, KILLS = 1000, 20


class Model:
    """The stack from the root to the leaf: [id, goal, running call ids, used]."""

    def __init__(self):
        self.stack, self.names = [], 0

    def choose(self):
        self.names += 1
        name = "n%d" % self.names
        if not self.stack:
            return "frame.push", {"goal": name, "actor_id": "a", "budget": 10**9}
        leaf = self.stack[-1]
        kind = random.choice(["push", "pop", "begin", "begin", "end", "use", "handle"])
        if kind == "push" and len(self.stack) < 12:
            return "frame.push", {"goal": name, "parent_id": leaf[0]}
        if kind == "pop" and len(self.stack) > 1:
            return "frame.pop", {"id": leaf[0], "result": "found " + name}
        if kind == "begin":
            return "frame.tool_begin", {"frame_id": leaf[0], "call_id": name, "name": "grep"}
        if kind == "end" and leaf[2]:
            call = random.choice(leaf[2])
            return "frame.tool_end", {"frame_id": leaf[0], "call_id": call, "output": "out " + name}
        if kind == "handle":
            return "frame.handle_add", {"frame_id": leaf[0], "text": "text " * 500 + name}
        return "frame.use", {"frame_id": leaf[0], "tokens": 7}

    def apply(self, op, args, id):
        if op == "frame.push":
            self.stack.append([id, args["goal"], [], 0])
        elif op == "frame.pop":
            used = self.stack.pop()[3]
            self.stack[-1][3] += used
        elif op == "frame.tool_begin":
            self.stack[-1][2].append(args["call_id"])
        elif op == "frame.tool_end":
            self.stack[-1][2].remove(args["call_id"])
        elif op == "frame.use":
            self.stack[-1][3] += args["tokens"]

    def state(self):
        stack = [(goal, used) for _, goal, _, used in self.stack]
        return stack, sorted(call for frame in self.stack for call in frame[2])


def resume():
    out = subprocess.run([loci, "call", "actor.resume", '{"actor_id":"a"}', "--store", store],
                         capture_output=True, text=True, check=True).stdout
    answer = json.loads(out)
    stack = [(f["goal"], f["budget"]["used"]) for f in answer["frame_stack"]]
    calls = sorted(p["call_id"] for p in answer["pending_work"] if p["type"] == "tool_in_progress")
    assert len(calls) == len(answer["pending_work"]), answer["pending_work"]
    assert answer["recovery_summary"]["frames_recovered"] == len(stack)
    return (stack, calls), [f["id"] for f in answer["frame_stack"]]


model, done, kills, lost = Model(), 0, 0, 0
ends = sorted(random.sample(range(1, OPERATIONS), KILLS)) + [OPERATIONS]
for end in ends:
    batch = subprocess.Popen([loci, "batch", "--store", store], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    while True:
        op, args = model.choose()
        batch.stdin.write(json.dumps({"op": op, "args": args}) + "\n")
        batch.stdin.flush()
        if done >= end:
            break
        answer = json.loads(batch.stdout.readline())
        assert "ok" in answer, (op, args, answer)
        model.apply(op, args, answer["ok"].get("id"))
        done += 1
    batch.kill()  # With one operation on its way.
    batch.wait()
    kills += 1
    found, ids = resume()
    if found != model.state():
        model.apply(op, args, None)
        lost += 1
    assert found == model.state(), "%s\n%s" % (found, model.state())
    for frame, id in zip(model.stack, ids):
        assert frame[0] in (None, id)
        frame[0] = id
verify = subprocess.run([loci, "store", "verify", "--store", store], capture_output=True, text=True)
assert verify.returncode == 0, verify.stdout + verify.stderr
print("%d operations, %d kills, %d operations without an answer happened" % (done, kills, lost))
PY
is "an agent that is killed finds its stack and its pending work" 0 $?
cat "$TMP/report"
echo "seed $SEED"
finish
