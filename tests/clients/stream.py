"""stream.py DIRECTORY - follows a log with the Python client while the daemon is restarted; writes
the file "ready" at its first event and ends at the fact "last"."""

import os
import sys
import threading
import time

from check import check, done
from loci_client import Loci

loci = Loci(os.environ["URL_"], token=os.environ["TOKEN"])
keys, seqs = [], []
with loci.event.stream(user_id="default", types=["fact.written"]) as stream:
    for message in stream:
        key = message.event["payload"]["key"]
        if keys[-1:] != [key]:
            keys.append(key)
        seqs.append(message.event["seq"])
        with open(os.path.join(sys.argv[1], "ready"), "w"):
            pass
        if key == "last":
            break
check("no event is missing after a restart", ["first", "down", "last"], keys)
check("each arrived once and in order", sorted(set(seqs)), seqs)

every = loci.event.stream(heartbeat_ms=100)
threading.Timer(0.5, every.close).start()
began = time.monotonic()
check("a stream is closed by another thread", [], list(every))
check("and ends at once", True, time.monotonic() - began < 3)
with loci.event.stream(user_id="default", after_seq=0) as stream:
    check("a stream from the beginning", [1, 2, 3], [next(stream).event["seq"] for _ in range(3)])
done()
