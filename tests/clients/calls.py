"""calls.py - every operation's example through the Python client, compared with plain HTTP; pages,
batches, faults of a proxy, timeouts, errors, threads, asyncio. It needs loci_client."""

import asyncio
import json
import keyword
import os
import re
import threading
import time
import urllib.error
import urllib.request

from check import done, fails, check
from loci_client import (AsyncLoci, Loci, LociConnectionError, LociError, LociTimeoutError, types)

URL, TOKEN, SOCKET, PROXY = (os.environ[name] for name in ("URL_", "TOKEN", "SOCKET", "PROXY"))
loci = Loci(URL, token=TOKEN)

# ---- Every operation


def plain(name, args, key):
    request = urllib.request.Request("%s/v1/call/%s" % (URL, name), json.dumps(args).encode())
    request.add_header("Authorization", "Bearer " + TOKEN)
    if key:
        request.add_header("Idempotency-Key", key)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


# Members that differ from call to call, and times: a job that is waited for is another one each
# time, and a secret is in the first answer only.
CHANGING = {"counters", "memory", "usage", "job_id", "embedded", "token", "note"}

# Readings of the machine, which change several times per second.
MEASURED = {"guard.status", "store.activity"}


def still(value):
    if isinstance(value, dict):
        return {name: still(each) for name, each in value.items() if name not in CHANGING}
    if isinstance(value, list):
        return [still(each) for each in value]
    if isinstance(value, str):
        return re.sub(r"\d{4}-\d\d-\d\dT[0-9:.]+Z", "*", value)
    return value


def python_name(name):
    return name + "_" if keyword.iskeyword(name) else name


table = loci.op.list()["operations"]
check("the client has the operations of the daemon (tools/generate_clients)", set(),
      {op["name"] for op in table} ^ set(types.OPERATIONS))
for op in table:
    room, method = op["name"].split(".")
    lost = types.OPERATIONS[op["name"]].lost
    example = op.get("example", {})
    key = "compare " + op["name"] if lost == "key" else None
    # The client repeats a change by its key, so it must get the stored answer.
    status, expected = plain(op["name"], example, key)
    args = {python_name(name): value for name, value in example.items()}
    if key:
        args["request_id"] = key
    try:
        answer = getattr(getattr(loci, room), python_name(method))(**args)
        check(op["name"] + " succeeds", 200, status)
        if lost == "fail" or op["name"] in MEASURED:  # Without a key it is run twice.
            check(op["name"] + " has the same members", set(expected), set(answer))
            continue
        if key:
            answer.pop("replayed", None)
        check(op["name"], still(expected), still(answer))
    except LociError as error:
        if lost == "fail" and status == 200:
            check(op["name"] + " finds that it was run before", True, error.status in (404, 409))
            continue
        check(op["name"] + " as an error", (status, expected["code"], expected["detail"]),
              (error.status, error.code, error.message))

# ---- Pages, batches, defaults

nora = Loci(socket=SOCKET, user_id="nora")
keys = ["page_%d" % i for i in range(7)]
for key in keys:
    nora.fact.write(key, None)
first = nora.fact.list(limit=3)["facts"]
check("one page", 3, len(first))
check("all pages, over a socket, of the client's user", keys,
      [fact["key"] for fact in nora.fact.list_all(limit=3)])
check("pages of a list that starts elsewhere", [3, 4, 5, 6, 7],
      [event["seq"] for event in nora.event.list_all(after_seq=2, limit=2)])
check("the other user has none of it", "not_found",
      fails("a fact of another user", loci.fact.get, first[0]["id"]).code)
check("with other options", keys[0],
      loci.with_options(user_id="nora").fact.get(first[0]["id"])["key"])
written, read = nora.batch([("fact.write", {"key": "price", "value": 100}),
                            ("fact.get", {"id": "$0.id"})])
check("a batch", ("created", 100), (written["outcome"], read["value"]))
refused = fails("a batch with an error", nora.batch,
                [("fact.write", {"key": "price", "value": 120}),
                 ("fact.current", {"key": "nothing"})])
check("names its call", ("not_found", 1), (refused.code, refused.details["index"]))
lines = list(loci.store.export_lines())
check("lines of an export", (1, True), (lines[0]["format"], lines[-1]["end"]))

# ---- Errors

bad = fails("a bad argument", loci.fact.write, "", 1)
check("its error", (LociError, "invalid_argument", 400, "key"),
      (type(bad), bad.code, bad.status, bad.details["parameter"]))
check("its trace id", str, type(bad.trace_id))
check("its text", True, str(bad).startswith("invalid_argument: key: "))
check("no operation", ValueError, type(fails("it", loci.call, "no.such")))
check("a wrong token", "unauthenticated",
      fails("it", Loci(URL, token="loci_no").fact.list).code)
check("no daemon", LociConnectionError,
      type(fails("it", Loci("http://127.0.0.1:1", retries=1).fact.list)))
check("a bad url", ValueError, type(fails("it", Loci, "ftp://x")))

# ---- Faults


def through(plan, case, **options):
    return Loci(PROXY, token=TOKEN, client="%s/%s" % (plan, case), **options)


def seen(case):
    with urllib.request.urlopen("%s/seen/%s" % (PROXY, case)) as answer:
        return json.load(answer)


before = time.monotonic()
through("busy-2", "p1").fact.write("busy", 1)
check("503 is retried after the pause that it names", True, time.monotonic() - before >= 1)
sent = seen("p1")
check("with one key", (3, 1, str), (len(sent), len(set(sent)), type(sent[0])))
lost = through("lost-2", "p2").memory.store(text="Plays chess on Fridays")
check("a lost answer is fetched again", True, lost.get("replayed"))
chess = [each for each in loci.memory.list_all() if "chess" in each["text"]]
check("and the call ran once", [1], [each["mentions"] for each in chess])
check("an answer that breaks off", True,
      through("cut-1", "p3").fact.write("cut", 1).get("replayed"))
through("lost-1", "p4").fact.list()
check("a read has no key", [None, None], seen("p4"))
once = fails("without retries", through("busy-1", "p5", retries=0).fact.write, "once", 1)
check("the error is that of the daemon", ("unavailable", 503, 1000, "try later", 7),
      (once.code, once.status, once.retry_after_ms, once.hint, once.details["limit"]))
check("and nothing was sent twice, nor with a key", [None], seen("p5"))
through("busy-1", "p6").fact.write("mine", 1, request_id="my key")
check("an own key stays in the arguments", [None, None], seen("p6"))
gone = fails("a lost answer without a key", through("lost-9", "p11").pipeline.register,
             "reindex", agent_id="indexer")
check("is not fetched again", (LociConnectionError, 1), (type(gone), len(seen("p11"))))
page = fails("a page of a proxy", through("proxy-1", "p7").fact.list)
check("is an error with its status", ("internal", 502), (page.code, page.status))
late = fails("a timeout", through("slow-1", "p8", timeout=0.3).fact.list)
check("it is a timeout", (LociTimeoutError, "timeout"), (type(late), late.code))
check("it also ends the pause between attempts", "timeout",
      fails("it", through("busy-9", "p9", timeout=0.4).fact.list).code)
cut = fails("lines that break off", lambda: list(through("cut-1", "p10").store.export_lines()))
check("are an error", LociConnectionError, type(cut))

# ---- Threads and asyncio

errors = []


def work(number):
    try:
        for i in range(10):
            nora.fact.write("thread_%d_%d" % (number, i), i)
    except LociError as error:
        errors.append(error)


threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
check("four threads on one client", [], errors)
check("wrote all of it", 40, len(list(nora.fact.list_all(prefix="thread_"))))


async def main():
    async with AsyncLoci(socket=SOCKET, user_id="async") as client:
        answers = await asyncio.gather(
            *(client.fact.write("key_%02d" % i, i) for i in range(20)))
        check("calls at the same time", ["created"] * 20, [each["outcome"] for each in answers])
        check("pages", ["key_%02d" % i for i in range(20)],
              [fact["key"] async for fact in client.fact.list_all(limit=7)])
        check("lines", True, [line async for line in client.store.export_lines()][-1]["end"])
        try:
            await client.fact.get("fact_none")
            check("an error", "an error", None)
        except LociError as error:
            check("an error", "not_found", error.code)
        _, read = await client.batch([("fact.write", {"key": "b", "value": 2}),
                                      ("fact.get", {"id": "$0.id"})])
        check("a batch", 2, read["value"])
        check("by name", 2, (await client.call("fact.current", key="b"))["value"])
        other = client.with_options(user_id="another")
        check("with other options", [], (await other.fact.list())["facts"])
        stream = client.event.stream(after_seq=0)
        check("a stream", 1, (await stream.__anext__()).event["seq"])
        await stream.aclose()
        task = asyncio.ensure_future(client.event.stream().__anext__())
        await asyncio.sleep(0.3)
        task.cancel()
        try:
            await asyncio.wait_for(task, 5)
            check("a cancelled stream", "cancelled", None)
        except asyncio.CancelledError:
            check("a cancelled stream", True, task.cancelled())


began = time.monotonic()
asyncio.run(main())
check("asyncio ends soon", True, time.monotonic() - began < 20)
done()
