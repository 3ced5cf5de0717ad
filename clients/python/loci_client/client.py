"""The client: sends calls, repeats them where that is safe, pages, batches and streams.

A repeat is safe if the operation only reads, or if the daemon recognises it by its idempotency key.
Each write therefore gets a key unless retries are off; then it is sent exactly once. The few writes
that take no key are repeated only if the daemon refused them.
"""

from __future__ import annotations

import json
import os
import random
import threading
import uuid
from typing import Any, Dict, Generator, List, Mapping, Optional, Sequence, Tuple
from urllib.parse import urlencode

from ._caller import EventStream, StreamMessage
from ._transport import Answer, Deadline, Transport
from .errors import LociConnectionError, LociError, LociTimeoutError, error_of
from .rooms import Rooms
from .types import OPERATIONS, VERSION

_FIRST_PAUSE_S = 0.1
_MAX_PAUSE_S = 10.0
_STREAM_PAUSE_S = 1.0
_MAX_STREAM_PAUSE_S = 30.0


def _pause(attempt: int, first: float, maximum: float) -> float:
    """Exponential back-off with jitter, so that clients do not return together."""
    return min(maximum, first * 2.0 ** min(attempt, 20)) * random.uniform(0.5, 1)


def _is_worth_retry(error: LociError) -> bool:
    return isinstance(error, LociConnectionError) or error.code == "unavailable"


class Sender:
    """Sends the calls of a client and of the copies that its with_options() made."""

    def __init__(
        self,
        transport: Transport,
        headers: Dict[str, str],
        timeout: Optional[float],
        retries: int,
        scope: Dict[str, Optional[str]],
    ) -> None:
        self.transport = transport
        self.headers = headers
        self.timeout = timeout
        self.retries = retries
        self.scope = scope

    def call(
        self, name: str, args: Mapping[str, Any], optional: Optional[Mapping[str, Any]] = None
    ) -> Any:
        if name not in OPERATIONS:
            raise ValueError("there is no operation %s" % name)
        given = self._scoped(name, args, optional or {})
        lost = OPERATIONS[name].lost
        needs_key = lost == "key" and not given.get("request_id")
        return self._ask("/v1/call/" + name, given, needs_key, None, lost != "fail")

    def batch(self, calls: Sequence[Tuple[str, Mapping[str, Any]]],
              idempotency_key: Optional[str]) -> List[Any]:
        body = {"calls": [{"op": name, "args": self._scoped(name, args, {})}
                          for name, args in calls]}
        needs_key = any(name not in OPERATIONS or OPERATIONS[name].lost != "repeat"
                        for name, _ in calls)
        answer = self._ask("/v1/batch", body, needs_key, idempotency_key, True)
        answers: List[Any] = answer["answers"]
        return answers

    def pages(
        self, name: str, member: str, args: Mapping[str, Any], optional: Mapping[str, Any],
        not_with_cursor: Tuple[str, ...],
    ) -> Generator[Any, None, None]:
        more = dict(optional)
        while True:
            page = self.call(name, args, more)
            yield from page[member]
            if page["next_cursor"] is None:
                return
            more["cursor"] = page["next_cursor"]
            for other in not_with_cursor:
                more.pop(other, None)

    def lines(self, name: str) -> Generator[Dict[str, Any], None, None]:
        # The reader decides how long it takes: there is no limit of time.
        answer = self.open("POST", "/v1/call/" + name, self.headers, b"{}", Deadline(None))
        try:
            while True:
                line = answer.line()
                if not line:
                    return
                yield json.loads(line)
        finally:
            answer.close()

    def stream(
        self, path: str, user_id: Optional[str], session_id: Optional[str],
        after_seq: Optional[int], types: Optional[Sequence[str]], heartbeat_ms: int,
    ) -> EventStream:
        return _Stream(self, path, user_id, session_id, after_seq, types, heartbeat_ms)

    def _scoped(self, name: str, args: Mapping[str, Any],
                optional: Mapping[str, Any]) -> Dict[str, Any]:
        given = dict(args)
        given.update((key, value) for key, value in optional.items() if value is not None)
        for key in OPERATIONS[name].scope if name in OPERATIONS else ():
            if given.get(key) is None and self.scope[key] is not None:
                given[key] = self.scope[key]
        return given

    def _ask(self, path: str, body: Any, needs_key: bool, key: Optional[str],
             may_repeat: bool) -> Any:
        headers = dict(self.headers)
        if key is None and needs_key and self.retries > 0:
            key = str(uuid.uuid4())
        if key is not None:
            headers["Idempotency-Key"] = key
        text = json.dumps(body, ensure_ascii=False).encode()
        deadline = Deadline(self.timeout)
        attempt = 0
        while True:
            try:
                return json.loads(self.open("POST", path, headers, text, deadline).read())
            except LociError as error:
                if attempt >= self.retries or not _is_worth_retry(error):
                    raise
                if isinstance(error, LociConnectionError) and not may_repeat:
                    raise
                deadline.sleep(max((error.retry_after_ms or 0) / 1000,
                                   _pause(attempt, _FIRST_PAUSE_S, _MAX_PAUSE_S)))
            attempt += 1

    def open(self, method: str, path: str, headers: Mapping[str, str], body: Optional[bytes],
             deadline: Deadline) -> Answer:
        """The answer to a request; raises the error of an answer that is one."""
        answer = self.transport.send(method, path, headers, body, deadline)
        if not 200 <= answer.status < 300:
            raise error_of(answer.status, answer.read(), answer.retry_after)
        return answer


class _Stream(EventStream):

    def __init__(
        self, sender: Sender, path: str, user_id: Optional[str], session_id: Optional[str],
        after_seq: Optional[int], types: Optional[Sequence[str]], heartbeat_ms: int,
    ) -> None:
        self._query: Dict[str, Any] = {
            "stream": 1, "heartbeat_ms": heartbeat_ms,
            "user_id": user_id or sender.scope["user_id"],
            "session_id": session_id or sender.scope["session_id"],
            "after_seq": after_seq, "types": None if types is None else ",".join(types),
        }
        self._sender = sender
        self._path = path
        self._has_place = bool(self._query["user_id"] or self._query["session_id"])
        # The daemon sends signs of life: a connection without any is dead.
        self._silence_s = 2 * heartbeat_ms / 1000 + 5
        self._answer: Optional[Answer] = None
        self._closed = threading.Event()
        self._messages = self._run()

    def __next__(self) -> StreamMessage:
        try:
            return next(self._messages)
        except LociError:
            if self._closed.is_set():
                raise StopIteration from None
            raise

    def close(self) -> None:
        self._closed.set()
        if self._answer is not None:
            self._answer.interrupt()
        try:
            self._messages.close()
        except ValueError:
            pass  # Another thread is in it, and leaves it now.

    def _run(self) -> Generator[StreamMessage, None, None]:
        if self._has_place and self._query["after_seq"] is None:
            # A connection that breaks before the first event must have a place to return to.
            user_id = self._query["user_id"]
            page = self._sender.call("event.list", {"limit": 1}, {"user_id": user_id})
            self._query["after_seq"] = page["head_seq"]
        path = self._path + "?" + urlencode(
            {name: value for name, value in self._query.items() if value is not None})
        last_id: Optional[str] = None
        connections = failures = 0
        first_pause_s = _STREAM_PAUSE_S
        while not self._closed.is_set():
            try:
                headers = dict(self._sender.headers, Accept="text/event-stream")
                if last_id is not None:
                    headers["Last-Event-ID"] = last_id
                self._answer = self._sender.open(
                    "GET", path, headers, None, Deadline(self._silence_s))
                if self._closed.is_set():
                    return
                # Events of all users have no common order to resume from.
                if connections > 0 and not self._has_place and last_id is None:
                    yield StreamMessage(None, "the stream was connected again")
                connections += 1
                fields: Dict[str, str] = {}
                while True:
                    self._answer.renew(Deadline(self._silence_s))
                    line = self._answer.line()
                    if not line:
                        break
                    failures = 0
                    text = line.decode().rstrip("\r\n")
                    name, _, value = text.partition(":")
                    value = value[1:] if value.startswith(" ") else value
                    if name == "retry" and value.isdigit():
                        first_pause_s = int(value) / 1000
                    elif name == "data" and "data" in fields:
                        fields["data"] += "\n" + value
                    elif name:
                        fields[name] = value
                    if text:
                        continue
                    last_id = fields["id"] if "id" in fields else last_id
                    if "data" in fields:
                        yield _message(fields.get("event", ""), json.loads(fields["data"]))
                    fields = {}
            except LociError as error:
                if not _is_worth_retry(error) and not isinstance(error, LociTimeoutError):
                    raise
            finally:
                if self._answer is not None:
                    self._answer.close()
            self._closed.wait(_pause(failures, first_pause_s, _MAX_STREAM_PAUSE_S))
            failures += 1


def _message(event: str, value: Any) -> StreamMessage:
    if event == "reset":
        return StreamMessage(None, value["reason"])
    if event == "end":
        raise LociError("unauthenticated", "the daemon ended the stream: %s" % value["reason"])
    return StreamMessage(value)


def make_sender(
    url: Optional[str],
    socket: Optional[str],
    token: Optional[str],
    timeout: Optional[float],
    retries: int,
    client: Optional[str],
    scope: Dict[str, Optional[str]],
) -> Sender:
    """A sender with the defaults of the environment."""
    if socket is not None:
        url = "unix:" + socket
    token = token or os.environ.get("LOCI_TOKEN")
    headers = {"Accept": "application/json", "Loci-Client": client or "loci-python/" + VERSION}
    if token:
        headers["Authorization"] = "Bearer " + token
    transport = Transport(url or os.environ.get("LOCI_URL") or "http://127.0.0.1:7077")
    return Sender(transport, headers, timeout, retries, scope)


class Loci(Rooms):
    """A client of a loci daemon. Operations are grouped by room: `loci.fact.write("city", "Oslo")`.

    `url` is such as https://loci.example.com, or unix:PATH (default: LOCI_URL, or 127.0.0.1:7077);
    `socket` is the path of its Unix socket instead. `token` is needed except on a socket (default:
    LOCI_TOKEN). `timeout` is the maximum time of a call with its retries in seconds; None means no
    limit. `client` is the name and version of your program, which its events record. `user_id`,
    `persona_id` and `session_id` are those of all calls that do not name one.

    It keeps connections open between calls, may be used by several threads, and is made once per
    program.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        socket: Optional[str] = None,
        token: Optional[str] = None,
        timeout: Optional[float] = 30.0,
        retries: int = 3,
        client: Optional[str] = None,
        user_id: Optional[str] = None,
        persona_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> None:
        self._use(make_sender(url, socket, token, timeout, retries, client, {
            "user_id": user_id, "persona_id": persona_id, "session_id": session_id}))

    def _use(self, sender: Sender) -> None:
        self._sender = sender
        Rooms.__init__(self, sender)

    def call(self, name: str, **args: Any) -> Any:
        """Call an operation by its name."""
        return self._sender.call(name, {}, args)

    def batch(self, calls: Sequence[Tuple[str, Mapping[str, Any]]], *,
              idempotency_key: Optional[str] = None) -> List[Any]:
        """Run up to 100 calls of one user in one transaction: all of them or none.

        Each call is the name of an operation and its arguments. An argument may be a text such as
        "$0.id", a member of an earlier answer.
        """
        return self._sender.batch(calls, idempotency_key)

    def with_options(
        self,
        *,
        timeout: Optional[float] = ...,  # type: ignore[assignment]
        retries: Optional[int] = None,
        user_id: Optional[str] = None,
        persona_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> Loci:
        """A client with other options on the same connections, for one call or many."""
        other = Loci.__new__(type(self))
        other._use(changed(self._sender, timeout, retries, user_id, persona_id, session_id))
        return other

    def close(self) -> None:
        """Close idle connections. A program may also just end."""
        self._sender.transport.close()

    def __enter__(self) -> Loci:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def changed(sender: Sender, timeout: Any, retries: Optional[int], user_id: Optional[str],
            persona_id: Optional[str], session_id: Optional[str]) -> Sender:
    """The sender with other options."""
    given = {"user_id": user_id, "persona_id": persona_id, "session_id": session_id}
    scope = dict(sender.scope, **{k: v for k, v in given.items() if v is not None})
    return Sender(
        sender.transport, sender.headers, sender.timeout if timeout is ... else timeout,
        sender.retries if retries is None else retries, scope)
