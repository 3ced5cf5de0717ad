#!/usr/bin/env python3
"""Two daemons on one PostgreSQL server that stalls, restarts, crashes, or is half-open for one.

usage: postgres_trouble.py LOCI POSTGRES_SH

Daemon B writes values 1, 2, 3 … of one fact, one after the other, as long as it can. Daemon A is
asked for that fact all the time and answers from memory where it may. No answer of A may be older
than 100 ms: a value is outdated when its successor was acknowledged more than 100 ms before A was
asked (and the time that this machine may need to schedule a thread). That holds before, during and
after the trouble. Half-open means: A's connections go through a proxy of this test, which stops
forwarding and closes nothing, as a router does that has forgotten a connection; B goes on writing.

While A cannot use the server, /readyz answers 503 within two seconds and /livez answers 200 within
one. When the server is back, A answers again, is ready, and its stream has every event, once.
"""
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

loci, script = sys.argv[1], sys.argv[2]
STALE_S, SCHEDULING_S, PATIENCE_S, TROUBLE_S = 0.1, 0.15, 30, 3
tmp = tempfile.mkdtemp()
problems = []


class Server:
    def __init__(self):
        self.process = subprocess.Popen(["bash", script, "fsync=on"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self.dir = self.process.stdout.readline().strip()

    def do(self, command):
        self.process.stdin.write(command + "\n")
        self.process.stdin.flush()
        self.process.stdout.readline()

    def processes(self):
        with open(os.path.join(self.dir, "data", "postmaster.pid"), encoding="utf-8") as file:
            parent = int(file.readline())
        children = subprocess.run(["ps", "--ppid", str(parent), "-o", "pid="], check=False,
                                  capture_output=True, text=True).stdout.split()
        return [parent] + [int(child) for child in children]

    def signal(self, number):
        for pid in self.processes():
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def end(self):
        self.process.stdin.close()
        self.process.wait(30)


class Proxy:
    """Forwards the connections of a Unix socket, or swallows what they say."""
    def __init__(self, server_dir):
        self.dir = tempfile.mkdtemp(dir=tmp)
        self.server_dir, self.is_open = server_dir, threading.Event()
        self.is_open.set()
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(os.path.join(self.dir, ".s.PGSQL.5432"))
        self.listener.listen(64)
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            client, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        self.is_open.wait()
        server = socket.socket(socket.AF_UNIX)
        try:
            server.connect(os.path.join(self.server_dir, ".s.PGSQL.5432"))
        except OSError:
            client.close()
            return
        for pair in ((client, server), (server, client)):
            threading.Thread(target=self.forward, args=pair, daemon=True).start()

    def forward(self, source, target):
        """What was swallowed is lost: the connection is of no use afterwards, and stays open."""
        was_lost = False
        try:
            while True:
                data = source.recv(65536)
                if not data:
                    break
                was_lost |= not self.is_open.is_set()
                if not was_lost:
                    target.sendall(data)
        except OSError:
            pass
        for one in (source, target):
            try:
                one.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Daemon:
    def __init__(self, name, directory):
        self.token = os.path.join(tmp, "token-" + name)
        self.log = open(os.path.join(tmp, name + ".log"), "w")
        self.process = subprocess.Popen(
            [loci, "serve", "--store", "postgresql://loci@/loci?host=" + directory, "--listen",
             "127.0.0.1:0", "--no-socket", "--token-file", self.token, "--json"],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self.log, text=True)
        self.address = json.loads(self.process.stdout.readline())["address"]
        with open(self.token, encoding="utf-8") as file:
            self.secret = file.read().strip()

    def ask(self, path, data=None, timeout=5):
        request = urllib.request.Request(self.address + path, data=data,
                                         headers={"Authorization": "Bearer " + self.secret})
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.read()

    def call(self, operation, args, timeout=5):
        return json.loads(self.ask("/v1/call/" + operation, json.dumps(args).encode(), timeout))

    def status(self, path, timeout):
        """And how long it took."""
        began = time.monotonic()
        try:
            self.ask(path, timeout=timeout)
            status = 200
        except urllib.error.HTTPError as error:
            status = error.code
        except OSError:
            status = 0
        return status, time.monotonic() - began

    def end(self):
        self.process.terminate()
        if self.process.wait(30) != 0:
            problems.append("a daemon ended with %d" % self.process.returncode)


class Writer(threading.Thread):
    """Values in order; when each was acknowledged."""
    def __init__(self, daemon, after):
        super().__init__(daemon=True)
        self.target, self.acked, self.over = daemon, {}, threading.Event()
        self.last = after

    def run(self):
        n = self.last
        while not self.over.is_set():
            n += 1
            args = {"user_id": "u", "key": "k", "value": n, "request_id": "r%d" % n}
            while not self.over.is_set():
                try:
                    self.target.call("fact.write", args)
                except OSError:
                    time.sleep(0.01)
                    continue
                self.acked[n] = time.monotonic()
                self.last = n
                break
            time.sleep(0.03)


class Reader(threading.Thread):
    """Asks A all the time; every answer is compared with what was acknowledged before."""
    def __init__(self, daemon, writer):
        super().__init__(daemon=True)
        self.target, self.writer, self.over = daemon, writer, threading.Event()
        self.good = self.stale = self.failed = self.worst_ms = 0

    def run(self):
        while not self.over.is_set():
            asked = time.monotonic()
            try:
                value = self.target.call("fact.current", {"user_id": "u", "key": "k"})["value"]
            except OSError:
                self.failed += 1
                time.sleep(0.005)
                continue
            successor = self.writer.acked.get(value + 1)
            late = asked - successor - STALE_S if successor is not None else 0
            self.worst_ms = max(self.worst_ms, int(late * 1000))
            if late > SCHEDULING_S:
                self.stale += 1
            else:
                self.good += 1


class Follower(threading.Thread):
    """A stream of A that reconnects where it ended."""
    def __init__(self, daemon):
        super().__init__(daemon=True)
        self.target, self.ids = daemon, []

    def run(self):
        while True:
            request = urllib.request.Request(
                self.target.address + "/v1/events?user_id=u&heartbeat_ms=500&after_seq=%d" %
                (self.ids[-1] if self.ids else 0),
                headers={"Authorization": "Bearer " + self.target.secret,
                         "Accept": "text/event-stream"})
            try:
                with urllib.request.urlopen(request, timeout=10) as stream:
                    for line in stream:
                        if line.startswith(b"id: "):
                            self.ids.append(int(line[4:]))
            except (OSError, http.client.HTTPException, ValueError):
                pass
            time.sleep(0.1)


def wait_until(is_so, what):
    until = time.monotonic() + PATIENCE_S
    while not is_so():
        if time.monotonic() > until:
            problems.append("not in %d seconds: %s" % (PATIENCE_S, what))
            return
        time.sleep(0.02)


def check_probes(name, daemon, until):
    """In the middle of the trouble."""
    time.sleep(0.5)
    while time.monotonic() < until:
        status, took = daemon.status("/readyz", 10)
        if status != 503 or took > 2:
            problems.append("%s: /readyz answered %d after %.2f s" % (name, status, took))
        status, took = daemon.status("/livez", 10)
        if status != 200 or took > 1:
            problems.append("%s: /livez answered %d after %.2f s" % (name, status, took))
        time.sleep(0.1)


def disturb(trouble, daemons, after):
    """Values after the given one; returns the last."""
    name, begin, end = trouble
    a, b = daemons
    writer = Writer(b, after)
    reader = Reader(a, writer)
    writer.start()
    reader.start()
    time.sleep(1)
    begin()
    until = time.monotonic() + TROUBLE_S
    check_probes(name, a, until - 1)  # One that is asked must be answered before the end.
    time.sleep(max(0, until - time.monotonic()))
    end()
    back = writer.last
    wait_until(lambda: writer.last > back + 5, name + ": B writes again")
    good = reader.good
    wait_until(lambda: reader.good > good + 20, name + ": A answers again")
    wait_until(lambda: a.status("/readyz", 10)[0] == 200, name + ": A is ready again")
    time.sleep(1)
    reader.over.set()
    writer.over.set()
    writer.join(PATIENCE_S)
    reader.join(PATIENCE_S)
    print("  %-9s %d written, %d answers of A, %d failed, %d outdated, worst %d ms" %
          (name, writer.last - after, reader.good, reader.failed, reader.stale, reader.worst_ms),
          flush=True)
    if reader.stale:
        problems.append("%s: %d outdated answers, by up to %d ms" %
                        (name, reader.stale, reader.worst_ms))
    return writer.last


def main():
    server = Server()
    proxy = Proxy(server.dir)
    b = Daemon("b", server.dir)
    a = Daemon("a", proxy.dir)
    follower = Follower(a)
    follower.start()
    troubles = [
        ("stalled", lambda: server.signal(signal.SIGSTOP), lambda: server.signal(signal.SIGCONT)),
        ("half-open", proxy.is_open.clear, proxy.is_open.set),
        ("restarted", lambda: server.do("stop"), lambda: server.do("start")),
        ("crashed", lambda: server.do("kill"), lambda: server.do("start")),
    ]
    last = 0
    try:
        for trouble in troubles:
            last = disturb(trouble, (a, b), last)
            seq = b.call("fact.current", {"user_id": "u", "key": "k"})["seq"]
            wait_until(lambda: follower.ids[-1:] == [seq], trouble[0] + ": the stream catches up")
            if follower.ids != list(range(1, seq + 1)):
                problems.append("%s: the stream had %d events of %d" %
                                (trouble[0], len(follower.ids), seq))
    finally:
        server.signal(signal.SIGCONT)
        proxy.is_open.set()
        for daemon in (a, b):
            daemon.end()
        server.end()
    for problem in problems[:20]:
        print("FAIL", problem)
    if problems:
        print("kept:", tmp)
    else:
        subprocess.run(["rm", "-rf", tmp], check=False)
    print("%d passed, %d failed" % (len(troubles) - bool(problems), len(problems)))
    return 1 if problems else 0


sys.exit(main())
