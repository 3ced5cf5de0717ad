#!/usr/bin/env python3
"""Three daemons on one PostgreSQL server, while everything that can stop is stopped.

usage: postgres_chaos.py LOCI POSTGRES_SH SEED SECONDS [CONNECTIONS]

Writers send facts with a request_id to a daemon of their choice and repeat what was not answered,
with the same request_id, to any. Meanwhile daemons are killed and started, stopped for twice the
lease of a job and continued, and the server is restarted and killed. Three kinds of jobs run all
the time: rebuilds, divisions of the tables into another number of partitions, and embedding of what
was written, which counts what it embeds in the same commits that keep the vectors. In the end every
write that was acknowledged must be there once, no other more than once; no job may have failed; as
many texts must have been embedded, by all runs of all jobs, as there are vectors, and as there are
facts: one more is an effect that happened twice, one less is one that was lost. And the store must
be sound.

Before all that, while nothing else goes on, two workers are fenced for certain. The embeddings come
from a provider of this test's, which can keep a request waiting: so it is known when a daemon is in
the middle of a job, and that daemon is stopped there. Another must take the job over. The first is
continued when the other has completed the job, and, in a second round, while the other still runs
it. It then gets vectors that can be told from all others, and has to find out that they are too
late: it says so, none of them is kept, and it goes on with other jobs.

With CONNECTIONS, a third of them write, each about once per second, and the rest are streams of
events (postgres_streams.py): every stream must be complete, or have been told that it is not. The
daemons read on a streaming replica, which is paused, killed and cut off by restarts of its primary:
what a daemon has acknowledged must be in its next history, wherever that is read. The part with the
fenced workers is left out.
"""
import http.server
import json
import os
import queue
import random
import signal
import struct
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

import postgres_streams

loci, script, seed, seconds = sys.argv[1], sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
rng = random.Random(seed)
connections = int(sys.argv[5]) if len(sys.argv) > 5 else 0
DAEMONS, LEASE_MS = 3, 1000
WRITERS, USERS, PAUSE = (connections // 3, 40, 1) if connections else (6, 4, 0)
PATIENCE = 30
# Of length 1, so they are kept as they are: four floats.
GOOD, LATE = [1, 0, 0, 0], [0, 0, 0, 1]
PSQL = os.path.join(os.environ.get("LOCI_TEST_POSTGRES_BIN", "/usr/lib/postgresql/15/bin"), "psql")
tmp = tempfile.mkdtemp()
lock = threading.Lock()
acked, unsure, written, problems = {}, {}, [], []
reread = [0] # Writes that were read back.


class Server:
    def __init__(self, *arguments):
        self.process = subprocess.Popen(["bash", script, *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.dir = self.process.stdout.readline().strip()

    def do(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def text(self, sql):
        answer = subprocess.run([PSQL, "-h", self.dir, "-U", "loci", "-d", "loci", "-Atc", sql],
                                check=True, capture_output=True, text=True)
        return answer.stdout.strip()

    def number(self, sql):
        """What the store itself says."""
        return int(self.text(sql))

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)


def url_of(server):
    return "postgresql://loci@/loci?host=" + server.dir


class Held:
    """A request to the provider that waits for its answer."""
    def __init__(self, daemon):
        self.daemon, self.vector, self.may_go = daemon, GOOD, threading.Event()

    def release(self, vector):
        self.vector = vector
        self.may_go.set()


class Provider(http.server.ThreadingHTTPServer):
    """Gives every text the same vector. Each daemon has a path of its own, /NUMBER/embeddings."""
    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Embeddings)
        self.hold_next, self.held = 0, queue.Queue()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def url(self, number):
        return "http://127.0.0.1:%d/%d" % (self.server_address[1], number)

    def vector_for(self, number):
        with lock:
            is_held = self.hold_next > 0
            self.hold_next -= is_held
        if not is_held:
            return GOOD
        held = Held(number)
        self.held.put(held)
        held.may_go.wait(2 * PATIENCE)
        return held.vector

    def handle_error(self, request, client_address):
        """Daemons go away in the middle of everything; what matters is in the store."""


class Embeddings(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_POST(self):
        texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
        vector = self.server.vector_for(int(self.path.split("/")[1]))
        body = json.dumps({"data": [{"index": i, "embedding": vector} for i in range(len(texts))]})
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body.encode())

    def log_message(self, *_):
        pass


class Daemon:
    def __init__(self, number, url, provider, replica):
        self.number, self.url, self.token = number, url, os.path.join(tmp, "token-%d" % number)
        self.env = dict(os.environ, LOCI_JOB_LEASE_MS=str(LEASE_MS), LOCI_STORE_READERS="4",
                        LOCI_MODEL_EMBEDDER="provider", LOCI_MODEL_ALLOW_PRIVATE="true",
                        LOCI_MODEL_EMBED_URL=provider.url(number), LOCI_MODEL_EMBED_MODEL="slow",
                        LOCI_MODEL_EMBED_DIMENSIONS=str(len(GOOD)), LOCI_LOG_LEVEL="debug")
        if replica is not None:
            self.env.update(REPLICA_URL=url_of(replica),
                            LOCI_STORE_REPLICAS='{"env":"REPLICA_URL"}')
        self.address = None
        self.log = open(os.path.join(tmp, "daemon-%d.log" % number), "w")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [loci, "serve", "--store", self.url, "--listen", "127.0.0.1:0", "--no-socket",
             "--token-file", self.token, "--json"], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=self.log, text=True, env=self.env)
        line = self.process.stdout.readline()
        self.address = json.loads(line)["address"] if line else None
        with open(self.token, encoding="utf-8") as file:
            self.secret = file.read().strip()

    def kill(self):
        self.process.kill()
        self.process.wait(10)

    def ask(self, path, data, timeout):
        request = urllib.request.Request(self.address + path, data=data,
                                         headers={"Authorization": "Bearer " + self.secret})
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.read()

    def call(self, operation, args, timeout=5):
        return json.loads(self.ask("/v1/call/" + operation, json.dumps(args).encode(), timeout))

    def metric(self, name):
        for line in self.ask("/metrics", None, 5).decode().splitlines():
            if line.startswith(name + " "):
                return int(line.split()[1])
        raise KeyError(name)

    def jobs_done(self):
        return self.metric("loci_jobs_done_total")

    def fenced(self):
        """How often it said that it was, and in which lines."""
        with open(self.log.name, encoding="utf-8") as log:
            return [line for line in log if "job.fenced" in line]


def codes(vector):
    """A vector as the store has it: a scale and one byte per dimension."""
    scale = struct.unpack("<f", struct.pack("<f", max(abs(x) for x in vector) / 127))[0]
    rounded = [int(x / scale + (0.5 if x >= 0 else -0.5)) for x in vector]
    return struct.pack("<f4b", scale, *rounded)


def read_back(daemon, args):
    """A daemon that is killed or cut off may fail to answer, but not answer without the write."""
    try:
        answer = daemon.call("fact.history", {"user_id": args["user_id"], "key": args["key"]})
        is_there = [fact["value"] for fact in answer["facts"]] == [args["value"]]
    except urllib.error.HTTPError as error:
        if error.code != 404:
            return
        is_there = False
    except (OSError, ValueError, TypeError):
        return
    with lock:
        reread[0] += 1
        if not is_there:
            problems.append("daemon %d does not show its write of %s" %
                            (daemon.number, args["value"]))


def write_once(daemons, own, n):
    """Repeats one write until it is acknowledged or the test is over."""
    name = "%d-%d" % (own["id"], n)
    args = {"user_id": "user-%d" % own["rng"].randrange(USERS), "key": "slot-" + name,
            "value": name, "request_id": "request-" + name}
    began = time.monotonic()
    with lock:
        unsure[name] = args
    while not own["over"].is_set():
        daemon = own["rng"].choice(daemons)
        try:
            answer = daemon.call("fact.write", args)
        except (OSError, urllib.error.URLError, ValueError, TypeError):
            time.sleep(0.02)
            continue
        with lock:
            acked[name] = (args, answer["id"])
            written.append((began, args["user_id"]))
            del unsure[name]
        if connections:
            read_back(daemon, args)
        return


def write(daemons, number, over):
    own = {"id": number, "rng": random.Random(seed * 100 + number), "over": over}
    n = 0
    while not over.is_set():
        write_once(daemons, own, n)
        n += 1
        time.sleep(own["rng"].uniform(0, 2 * PAUSE))


def work(daemons, operation, args, over):
    """Jobs: each must end, whoever runs it and whatever happens to them."""
    own = random.Random("%d %s" % (seed, operation))
    while not over.is_set():
        try:
            own.choice(daemons).call(operation, args(own), 20)
        except (OSError, urllib.error.URLError, ValueError, TypeError):
            pass
        time.sleep(0.2)


def wait_until(is_so, what):
    until = time.monotonic() + PATIENCE
    while not is_so():
        if time.monotonic() > until:
            problems.append("not in %d seconds: %s" % (PATIENCE, what))
            return
        time.sleep(0.02)


def remember(daemon, name):
    """A write that check() will ask for."""
    args = {"user_id": "user-0", "key": "slot-" + name, "value": name}
    acked[name] = (args, daemon.call("fact.write", args)["id"])


def work_on(victim):
    """Who was fenced runs jobs again: of those that are added one by one it gets some."""
    before, n = victim.jobs_done(), 0

    def has_done_one():
        nonlocal n
        n += 1
        remember(victim, "more-%d-%d" % (before, n))
        victim.call("model.reembed", {"scope": "store"}, PATIENCE)
        return victim.jobs_done() > before
    wait_until(has_done_one, "daemon %d runs a job after it was fenced" % victim.number)


def fence(server, daemons, provider, is_completed):
    """Stops a daemon in the middle of a job that another then completes, or still runs."""
    what = "is completed" if is_completed else "is run"
    texts = rng.randrange(1, 100)
    for i in range(texts):
        remember(rng.choice(daemons), "%s-%d" % (what, i))
    provider.hold_next = 1 if is_completed else 2
    job = rng.choice(daemons).call("model.reembed", {"scope": "store", "wait": False})["job_id"]
    where = " from jobs where id = '%s'" % job
    first = provider.held.get(timeout=PATIENCE)
    victim, second = daemons[first.daemon], None
    victim.process.send_signal(signal.SIGSTOP)
    try:
        if is_completed:
            time.sleep(2 * LEASE_MS / 1000)
            wait_until(lambda: server.number("select count(*)" + where + " and status = 'done'"),
                       "another daemon completes the job of a stopped one")
        else:
            second = provider.held.get(timeout=PATIENCE)
        first.release(LATE)
    finally:
        victim.process.send_signal(signal.SIGCONT)
    wait_until(lambda: any(job in line for line in victim.fenced()),
               "daemon %d says that it was fenced" % victim.number)
    if second is not None:
        second.release(GOOD)
    wait_until(lambda: server.number("select count(*)" + where + " and status = 'done'"),
               "the job is done")
    embedded = server.number("select cast(cast(result as json) ->> 'embedded' as int)" + where)
    late = server.number("select count(*) from vectors where vector = '\\x%s'" %
                         codes(LATE).hex())
    good = server.number("select count(*) from vectors where vector = '\\x%s'" %
                         codes(GOOD).hex())
    if embedded != texts or good != len(acked) or late != 0:
        problems.append("a job that %s by another: %d of %d texts embedded, %d of %d vectors "
                        "kept, %d late" % (what, embedded, texts, good, len(acked), late))
    if second is not None and second.daemon == victim.number:
        problems.append("a daemon that was stopped took its own job over")
    work_on(victim)
    print("  daemon %d slept while its job of %d texts %s by another" %
          (victim.number, texts, what), flush=True)


def disturb_replica(replica):
    what = rng.choice(["pause", "kill"])
    print("  %s replica" % what, flush=True)
    if what == "kill":
        replica.do("kill")
        time.sleep(rng.uniform(0.1, 0.5))
        replica.do("start")
    else:
        replica.text("select pg_wal_replay_pause()")
        time.sleep(rng.uniform(0.5, 2))
        replica.text("select pg_wal_replay_resume()")


def disturb(server, daemons, replica):
    what = rng.choice(["kill", "stop", "restart", "crash"] + ["replica"] * 2 * bool(replica))
    if what == "replica":
        disturb_replica(replica)
        time.sleep(rng.uniform(0.3, 1.0))
        return
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
            page = daemon.call("event.list", {"user_id": "user-%d" % user, "after_seq": after,
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


def divide(server, daemon):
    """Whatever the divisions before left behind, one that may finish ends as it should."""
    def is_divided():
        try:
            return daemon.call("store.partition", {"partitions": 4}, 60)["status"] == "done"
        except urllib.error.HTTPError:  # A former one with another number still runs.
            return False
    wait_until(is_divided, "the tables are divided")
    tables = server.number("select count(*) from pg_class where relname like 'events\\_\\_%'"
                           " and relkind in ('r', 'p')")
    if tables != 4:
        problems.append("%d tables of events besides the log" % tables)
    daemon.call("store.verify", {}, 60)


def check_jobs(server, daemon):
    """What the jobs did against what there is."""
    daemon.call("model.reembed", {"scope": "store"}, 60)
    # Five claims of one job can all end with their daemon or the server. Such a job gives up and
    # says so, and the next one of its kind does the work; no other failure is expected.
    failed = server.text("select kind, attempts, error_code, error_message from jobs where status"
                         " = 'failed' and (attempts < attempts_max or error_code <> 'unavailable')")
    if failed:
        problems.append("jobs failed: " + failed)
    if server.number("select count(*) from jobs where kind = 'model.reembed'"
                     " and status not in ('done', 'failed')"):
        problems.append("a job is not done")
    embedded = server.number("select sum(cast(cast(result as json) ->> 'embedded' as int))"
                             " from jobs where kind = 'model.reembed'")
    vectors = server.number("select count(*) from vectors")
    facts = server.number("select count(*) from fact_current")
    if not embedded == vectors == facts:
        problems.append("%d texts were embedded for %d vectors of %d facts" %
                        (embedded, vectors, facts))
    divide(server, daemon)
    return server.number("select count(*) from jobs where kind = 'model.reembed'")


def check_replica(daemons):
    """The histories were read on both servers, or this was no test of a replica that is behind."""
    reads, fallbacks = (sum(daemon.metric("loci_replica_%s_total" % name) for daemon in daemons)
                        for name in ("reads", "fallbacks"))
    print("  %d writes read back; since the last kill of each daemon %d reads on the replica, %d "
          "begun there" % (reread[0], reads, fallbacks), flush=True)
    if reads == 0 or reread[0] == 0:
        problems.append("nothing was read on the replica")


def main():
    server = Server("fsync=on")
    replica = Server("--replica-of", server.dir) if connections else None
    provider = Provider()
    daemons = [Daemon(i, url_of(server), provider, replica) for i in range(DAEMONS)]
    try:
        for is_completed in () if connections else (True, False):
            fence(server, daemons, provider, is_completed)
    except (OSError, KeyError, ValueError, queue.Empty, subprocess.CalledProcessError) as error:
        problems.append("fencing: %r" % error)
        provider.hold_next = 0
    over, crowd = threading.Event(), None
    if connections:
        users = ["user-%d" % i for i in range(USERS)]
        of_all = connections // 15
        crowd = postgres_streams.Crowd(daemons, users, connections - WRITERS - of_all, of_all,
                                       seed)
    threads = [threading.Thread(target=write, args=(daemons, i, over)) for i in range(WRITERS)]
    for job in (("store.rebuild", lambda _: {}), ("model.reembed", lambda _: {"scope": "store"}),
                ("store.partition", lambda own: {"partitions": own.choice([1, 2, 3, 5])})):
        threads.append(threading.Thread(target=work, args=(daemons, *job, over)))
    for thread in threads:
        thread.start()
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        disturb(server, daemons, replica)
    time.sleep(1)
    over.set()
    for thread in threads:
        thread.join(60)
    if crowd is not None:
        lines = server.text("select user_id, seq from heads where user_id <> ''").splitlines()
        heads = {line.split("|")[0]: int(line.split("|")[1]) for line in lines}
        problems.extend(crowd.check(heads, written, PATIENCE))
    jobs = 0
    try:
        check(daemons[0])
        jobs = check_jobs(server, daemons[0])
    except (OSError, KeyError, ValueError, subprocess.CalledProcessError) as error:
        problems.append("the check failed: %s %s" % (error, getattr(error, "read", bytes)()[:300]))
    if replica is not None:
        check_replica(daemons)
    fenced = 0
    for daemon in daemons:
        daemon.process.terminate()
        if daemon.process.wait(30) != 0:
            problems.append("daemon %d ended with %d" % (daemon.number, daemon.process.returncode))
        fenced += len(daemon.fenced())
    server.end()
    if replica is not None:
        replica.end()
    if fenced < 2 and not connections:
        problems.append("%d were fenced of the two that had to be" % fenced)
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
