"""Streams of events for postgres_chaos.py, checked by clients that never give up.

A stream of one user is opened again where it broke off (Last-Event-ID), at any daemon. It must have
each event of its user once and in order, from the first to the last. A stream of all users is live:
between two breaks or resets it must have each event of each user once and in order, and none that
was written later than it was opened may be missing in the end.
"""
import json
import random
import threading
import time
import urllib.error
import urllib.request

BREAKS = (OSError, urllib.error.URLError, ValueError, TypeError)


class Stream(threading.Thread):
    def __init__(self, daemons, user, seed, over):
        super().__init__(daemon=True)
        self.daemons, self.user, self.over = daemons, user, over
        self.rng = random.Random(seed)
        self.last = {}  # user -> seq
        self.opened = None  # When a stream of all users began to be complete.
        self.problems, self.breaks, self.resets, self.events = [], 0, 0, 0
        self.moved = time.monotonic()

    def begin(self):
        """A stream of all users knows nothing of what was before."""
        if self.user is None:
            self.last, self.opened = {}, time.monotonic()

    def take(self, event):
        user, seq = event["user_id"], event["seq"]
        before = self.last.get(user, seq - 1 if self.user is None else 0)
        if seq != before + 1 or self.user not in (None, user):
            self.problems.append("a stream of %s: event %d of %s follows %d" %
                                 (self.user or "all users", seq, user, before))
        self.last[user] = seq
        self.events += 1
        self.moved = time.monotonic()

    def follow(self):
        daemon = self.rng.choice(self.daemons)
        query, headers = "?heartbeat_ms=1000", {"Accept": "text/event-stream",
                                                "Authorization": "Bearer " + daemon.secret}
        if self.user is not None:
            query += "&user_id=%s&after_seq=0" % self.user
            if self.last:
                headers["Last-Event-ID"] = str(self.last[self.user])
        request = urllib.request.Request(daemon.address + "/v1/events" + query, headers=headers)
        name = ""
        with urllib.request.urlopen(request, timeout=10) as answer:
            for line in answer:
                if self.over.is_set():
                    return
                if line.startswith(b"retry:"):
                    self.begin()
                elif line.startswith(b"event: "):
                    name = line[7:].strip()
                    if name == b"reset":
                        self.resets += 1
                        self.begin()
                elif line.startswith(b"data: ") and name not in (b"reset", b"end"):
                    self.take(json.loads(line[6:]))

    def run(self):
        while not self.over.is_set():
            try:
                self.follow()
            except BREAKS:
                pass
            self.opened = None
            self.breaks += 1
            time.sleep(self.rng.uniform(0.05, 0.3))

    def missing(self, heads, written):
        """What a stream lacks in the end: `heads` has each user's last seq, `written` pairs of
        the time at which an acknowledged write began and its user."""
        if self.user is not None:
            users = [self.user]
        elif self.opened is None:
            return ["a stream of all users is not open"]
        else:
            users = set(self.last) | {user for began, user in written if began > self.opened}
        return ["a stream of %s ends at event %d of %s, which has %d" %
                (self.user or "all users", self.last.get(user, 0), user, heads[user])
                for user in users if self.last.get(user, 0) != heads.get(user, 0)]


class Crowd:
    """So many streams of one user, round robin, and of all users."""
    def __init__(self, daemons, users, single, of_all, seed):
        self.over = threading.Event()
        self.streams = [Stream(daemons, users[i % len(users)], seed * 1000 + i, self.over)
                        for i in range(single)]
        self.streams += [Stream(daemons, None, seed * 1000 + single + i, self.over)
                         for i in range(of_all)]
        for stream in self.streams:
            stream.start()

    def check(self, heads, written, patience):
        """Waits until nothing is missing, or for so many seconds; returns the problems."""
        until = time.monotonic() + patience
        while True:
            missing = [text for stream in self.streams for text in stream.missing(heads, written)]
            if not missing or time.monotonic() > until:
                break
            time.sleep(0.2)
        self.over.set()
        print("  %d streams: %d events, %d breaks, %d resets" %
              (len(self.streams), sum(s.events for s in self.streams),
               sum(s.breaks for s in self.streams), sum(s.resets for s in self.streams)),
              flush=True)
        return missing + [text for stream in self.streams for text in stream.problems]
