#!/usr/bin/env python3
"""Three daemons on one PostgreSQL server, while everything that can stop is stopped.

usage: postgres_chaos.py LOCI POSTGRES_SH SEED SECONDS

Writers send facts with a request_id to a daemon of their choice and repeat what was not answered,
with the same request_id, to any. Meanwhile daemons are killed and started, stopped for twice the
lease of a job and continued, and the server is restarted and killed. Two kinds of jobs run all the
time: rebuilds, and embedding of what was written, which counts what it embeds in the same commits
that keep the vectors. In the end every write that was acknowledged must be there once, no other
more than once; no job may have failed; as many texts must have been embedded, by all runs of all
jobs, as there are vectors, and as there are facts: one more is an effect that happened twice, one
less is one that was lost. And the store must be sound.
"""
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

loci, script, seed, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
rng = random.Random(seed)
DAEMONS, WRITERS, USERS, LEASE_MS = 3, 6, 4, 1000
PSQL = os.path.join(os.environ.get("LOCI_TEST_POSTGRES_BIN", "/usr/lib/postgresql/15/bin"), "psql")
tmp = tempfile.mkdtemp()
lock = threading.Lock()
acked, unsure, problems = {}, {}, []


class Server:
    def __init__(self):
        self.process = subprocess.Popen(["bash", script, "fsync=on"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.dir = self.process.stdout.readline().strip()

    def do(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def number(self, sql):
        """What the store itself says."""
        answer = subprocess.run([PSQL, "-h", self.dir, "-U", "loci", "-d", "loci", "-Atc", sql],
                                check=True, capture_output=True, text=True)
        return int(answer.stdout)

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)


class Daemon:
    def __init__(self, number, url):
        self.number, self.url, self.token = number, url, os.path.join(tmp, "token-%d" % number)
        self.address = None
        self.log = open(os.path.join(tmp, "daemon-%d.log" % number), "w")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [loci, "serve", "--store", self.url, "--listen", "127.0.0.1:0", "--no-socket",
             "--token-file", self.token, "--json"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=self.log, text=True,
            env=dict(os.environ, LOCI_JOB_LEASE_MS=str(LEASE_MS), LOCI_STORE_READERS="4",
                     LOCI_MODEL_EMBEDDER="lexical", LOCI_LOG_LEVEL="debug"))
        line = self.process.stdout.readline()
        self.address = json.loads(line)["address"] if line else None
        with open(self.token, encoding="utf-8") as file:
            self.secret = file.read().strip()

    def kill(self):
        self.process.kill()
        self.process.wait(10)

    def call(self, operation, args, timeout=5):
        request = urllib.request.Request(
            self.address + "/v1/call/" + operation, data=json.dumps(args).encode(),
            headers={"Authorization": "Bearer " + self.secret})
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.load(answer)


def write_once(daemons, own, n):
    """Repeats one write until it is acknowledged or the test is over."""
    name = "%d-%d" % (own["id"], n)
    args = {"user_id": "user-%d" % own["rng"].randrange(USERS), "key": "slot-" + name,
            "value": name, "request_id": "request-" + name}
    with lock:
        unsure[name] = args
    while not own["over"].is_set():
        try:
            answer = own["rng"].choice(daemons).call("fact.write", args)
        except (OSError, urllib.error.URLError, ValueError, TypeError):
            time.sleep(0.02)
            continue
        with lock:
            acked[name] = (args, answer["id"])
            del unsure[name]
        return


def write(daemons, number, over):
    own = {"id": number, "rng": random.Random(seed * 100 + number), "over": over}
    n = 0
    while not over.is_set():
        write_once(daemons, own, n)
        n += 1


def work(daemons, operation, args, over):
    """Jobs: each must end, whoever runs it and whatever happens to them."""
    own = random.Random("%d %s" % (seed, operation))
    while not over.is_set():
        try:
            own.choice(daemons).call(operation, args, 20)
        except (OSError, urllib.error.URLError, ValueError, TypeError):
            pass
        time.sleep(0.2)


def disturb(server, daemons):
    what = rng.choice(["kill", "stop", "restart", "crash"])
    victim = rng.choice(daemons)
    print("  %s %s" % (what, victim.number if what in ("kill", "stop") else "server"), flush=True)
    if what == "kill":
        victim.kill()
        victim.start()
    elif what == "stop":
        victim.process.send_signal(signal.SIGSTOP)
        time.sleep(2 * LEASE_MS / 1000)
        victim.process.send_signal(signal.SIGCONT)
    else:
        server.do("stop" if what == "restart" else "kill")
        time.sleep(rng.uniform(0.1, 0.5))
        server.do("start")
    time.sleep(rng.uniform(0.3, 1.0))


def check(daemon):
    """What the store holds against what was acknowledged."""
    found = {}
    for user in range(USERS):
        after = 0
        while True:
            page = daemon.call("event.list", {"user_id": "user-%d" % user, "after": after,
                                              "limit": 1000}, 60)
            for event in page["events"]:
                if event["seq"] != after + 1:
                    problems.append("user-%d: event %d follows %d" % (user, event["seq"], after))
                after = event["seq"]
                value = event["payload"].get("value")
                found[value] = found.get(value, 0) + 1
            if not page["events"]:
                break
    for name in acked:
        if found.get(name, 0) != 1:
            problems.append("acknowledged, and there %d times: %s" % (found.get(name, 0), name))
    for name in unsure:
        if found.get(name, 0) > 1:
            problems.append("%s is there %d times" % (name, found[name]))
    daemon.call("store.verify", {}, 60)


def check_jobs(server, daemon):
    """What the jobs did against what there is."""
    daemon.call("model.reembed", {"scope": "store"}, 60)
    failed = server.number("select count(*) from jobs where status = 'failed'")
    if failed:
        problems.append("%d jobs failed" % failed)
    if server.number("select count(*) from jobs where kind = 'model.reembed' and status <> 'done'"):
        problems.append("a job is not done")
    embedded = server.number("select sum(cast(cast(result as json) ->> 'embedded' as int))"
                             " from jobs where kind = 'model.reembed'")
    vectors = server.number("select count(*) from vectors")
    facts = server.number("select count(*) from fact_current")
    if not embedded == vectors == facts:
        problems.append("%d texts were embedded for %d vectors of %d facts" %
                        (embedded, vectors, facts))
    return server.number("select count(*) from jobs where kind = 'model.reembed'")


def main():
    server = Server()
    url = "postgresql://loci@/loci?host=" + server.dir
    daemons = [Daemon(i, url) for i in range(DAEMONS)]
    over = threading.Event()
    threads = [threading.Thread(target=write, args=(daemons, i, over)) for i in range(WRITERS)]
    for job in (("store.rebuild", {}), ("model.reembed", {"scope": "store"})):
        threads.append(threading.Thread(target=work, args=(daemons, *job, over)))
    for thread in threads:
        thread.start()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        disturb(server, daemons)
    time.sleep(1)
    over.set()
    for thread in threads:
        thread.join(60)
    jobs = 0
    try:
        check(daemons[0])
        jobs = check_jobs(server, daemons[0])
    except (OSError, KeyError, ValueError, subprocess.CalledProcessError) as error:
        problems.append("the check failed: %s %s" % (error, getattr(error, "read", bytes)()[:300]))
    fenced = 0
    for daemon in daemons:
        daemon.process.terminate()
        if daemon.process.wait(30) != 0:
            problems.append("daemon %d ended with %d" % (daemon.number, daemon.process.returncode))
        with open(daemon.log.name, encoding="utf-8") as log:
            fenced += log.read().count("job.fenced")
    server.end()
    for problem in problems[:20]:
        print("FAIL", problem)
    print("seed %d: %d acknowledged, %d not, %d jobs, %d fenced, %d problems" %
          (seed, len(acked), len(unsure), jobs, fenced, len(problems)))
    if problems:
        print("kept:", tmp)
    else:
        subprocess.run(["rm", "-rf", tmp], check=False)
    return 1 if problems or len(acked) < 20 or jobs < 2 else 0


sys.exit(main())
