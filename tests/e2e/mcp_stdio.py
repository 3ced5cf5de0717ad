"""mcp_stdio.py SCENARIO STORE [ARGUMENT...] - clients of `loci mcp` that need more than a pipe.

LOCI names the program. Each scenario prints one line, which mcp_stdio.sh compares.
"""

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import threading
import time

LOCI = os.environ["LOCI"]
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


class Client:
    """One process; requests are numbered, answers are found by their number."""

    def __init__(self, store, *arguments):
        self.process = subprocess.Popen(
            [LOCI, "mcp", "--store", store, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        self.last_id = 0
        self.rest = b""
        self.notices = []

    def send(self, method, params=None, is_modern=False):
        self.last_id += 1
        params = dict(params or {})
        if is_modern:
            params["_meta"] = META
        message = {"jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params}
        self.write(json.dumps(message).encode() + b"\n")
        return self.last_id

    def write(self, data):
        while data:
            data = data[os.write(self.process.stdin.fileno(), data):]

    def read(self, timeout_s=20):
        """The next message, or None."""
        end = time.monotonic() + timeout_s
        while b"\n" not in self.rest:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                return None
            data = os.read(self.process.stdout.fileno(), 65536)
            if not data:
                return None
            self.rest += data
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def answer(self, number, timeout_s=20):
        while True:
            message = self.read(timeout_s)
            if message is None or message.get("id") == number:
                return message
            self.notices.append(message)

    def call(self, method, params=None, is_modern=False):
        return self.answer(self.send(method, params, is_modern))

    def set_fact(self, key, value):
        return self.send("tools/call", {"name": "set_fact",
                                        "arguments": {"key": key, "value": value}})

    def notice(self, timeout_s):
        return self.notices.pop(0) if self.notices else self.read(timeout_s)

    def initialize(self):
        return self.call("initialize", {"protocolVersion": "2025-11-25", "capabilities": {},
                                        "clientInfo": {"name": "test", "version": "1"}})

    def end(self):
        self.process.stdin.close()
        code = self.process.wait(30)
        self.process.stdout.close()
        return code


def is_good(answer):
    return bool(answer) and "result" in answer and not answer["result"].get("isError")


def read_all(client, numbers):
    """How many of the calls succeeded; answers may come in any order."""
    waiting, good = set(numbers), 0
    while waiting:
        message = client.read()
        if message is None:
            break
        if message.get("id") in waiting:
            waiting.remove(message["id"])
            good += is_good(message)
    return good


def many(store, processes, calls):
    """Processes that write at the same time, each without waiting for its answers."""
    clients = [Client(store) for _ in range(int(processes))]
    numbers = [[client.set_fact(f"k{p}.{i}", i) for i in range(int(calls))]
               for p, client in enumerate(clients)]
    good = sum(read_all(client, sent) for client, sent in zip(clients, numbers))
    codes = {client.end() for client in clients}
    print(good, sorted(codes))


def killed(store, daemon, calls):
    """The daemon is killed while it has calls to answer."""
    client = Client(store)
    first = is_good(client.answer(client.set_fact("before", 1)))
    numbers = [client.set_fact(f"k{i}", i) for i in range(int(calls))]
    os.kill(int(daemon), signal.SIGKILL)
    good = read_all(client, numbers)
    last = is_good(client.answer(client.set_fact("after", 1)))
    print(first, good, last, client.end())


def carry_out(store, listener, seen):
    """A daemon that carries out one call, dies before it answers, and does not come back."""
    connection, _ = listener.accept()
    data = b""
    while b"\r\n\r\n" not in data or len(data.split(b"\r\n\r\n", 1)[1]) < int(
            re.search(rb"Content-Length: (\d+)", data).group(1)):
        data += connection.recv(65536)
    head, body = data.split(b"\r\n\r\n", 1)
    arguments = json.loads(body)
    arguments["request_id"] = re.search(rb"Idempotency-Key: (\S+)", head).group(1).decode()
    operation = re.search(rb"/v1/call/(\S+)", head).group(1).decode()
    done = subprocess.run([LOCI, "--store", store, "call", operation, json.dumps(arguments)],
                          stdout=subprocess.PIPE, check=False)
    seen.append(done.returncode)
    listener.close()
    os.unlink(os.environ["LOCI_SOCKET"])
    connection.close()


def lost(store):
    """The daemon has carried out a call, but its answer is lost: it is not carried out again."""
    listener, seen = socket.socket(socket.AF_UNIX), []
    listener.bind(os.environ["LOCI_SOCKET"])
    listener.listen()
    thread = threading.Thread(target=carry_out, args=(store, listener, seen))
    thread.start()
    client = Client(store)
    answer = client.call("tools/call", {"name": "remember",
                                        "arguments": {"text": "Lives in Oslo"}})
    thread.join()
    print(seen, answer["result"]["structuredContent"]["outcome"], client.end())


def stopped(store, daemon):
    """A call that hangs in the daemon delays nothing else, and can be cancelled."""
    client = Client(store)
    client.answer(client.set_fact("before", 1))
    os.kill(int(daemon), signal.SIGSTOP)
    slow = client.set_fact("slow", 1)
    ping = client.call("ping") == {"jsonrpc": "2.0", "id": slow + 1, "result": {}}
    client.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled",
                             "params": {"requestId": slow}}).encode() + b"\n")
    again = client.call("ping") is not None
    os.kill(int(daemon), signal.SIGCONT)
    is_silent = client.answer(slow, 1) is None
    print(ping, again, is_silent, client.end())


def watch(store, era):
    """A client is told of what another process writes."""
    client, writer = Client(store), Client(store)
    if era == "modern":
        client.send("subscriptions/listen",
                    {"notifications": {"resourceSubscriptions": ["loci://facts"]}}, True)
        first = client.read()["method"]
    else:
        client.initialize()
        first = client.call("resources/subscribe", {"uri": "loci://facts"})["result"]
    time.sleep(0.5)  # It follows the log after it has answered.
    writer.answer(writer.set_fact("city", "Oslo"))
    notice = client.notice(10)
    rest = client.notice(0.5)
    print(json.dumps(first), notice and notice["method"], notice and notice["params"]["uri"],
          notice and notice["params"].get("_meta"), rest, client.end(), writer.end())


def deaf(store, seconds):
    """A client that writes and never reads: the server stops reading, and keeps little."""
    client = Client(store)
    client.answer(client.send("tools/list"))
    os.set_blocking(client.process.stdin.fileno(), False)
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/list"}).encode() + b"\n"
    sent, end = 0, time.monotonic() + float(seconds)
    while time.monotonic() < end:
        try:
            sent += os.write(client.process.stdin.fileno(), line * 100)
        except BlockingIOError:
            time.sleep(0.01)
    with open(f"/proc/{client.process.pid}/status", encoding="ascii") as status:
        rss = next(int(at.split()[1]) for at in status if at.startswith("VmRSS"))
    client.process.stdin.close()
    client.process.stdout.close()
    print("bounded" if rss < 131072 else f"{rss} KiB", client.process.wait(30))


def main():
    scenarios = {"many": many, "killed": killed, "lost": lost, "stopped": stopped, "watch": watch,
                 "deaf": deaf}
    scenarios[sys.argv[1]](*sys.argv[2:])


main()
