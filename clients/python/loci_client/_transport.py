"""HTTP over TCP, TLS or a Unix socket: one request, one answer, no retries.

Idle connections are kept and used again, by any thread, one request at a time each. A connection
that the daemon has closed in the meantime is readable, and is not used.
"""

from __future__ import annotations

import http.client
import select
import socket
import threading
import time
from typing import Any, Dict, List, Mapping, Optional
from urllib.parse import urlsplit

from .errors import LociConnectionError, LociTimeoutError

_IDLE_MAX = 16


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost")
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


class Deadline:
    """The time that a call may take with all its attempts; None means no limit."""

    def __init__(self, seconds: Optional[float]) -> None:
        self._seconds = seconds
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self) -> Optional[float]:
        """Seconds until the end; raises if there are none."""
        if self._end is None:
            return None
        left = self._end - time.monotonic()
        if left <= 0:
            raise self.error()
        return left

    def sleep(self, seconds: float) -> None:
        """Waits, but not beyond the end."""
        left = self.left()
        time.sleep(seconds if left is None else min(seconds, left))
        self.left()

    def error(self) -> LociTimeoutError:
        return LociTimeoutError("no answer within %g s" % (self._seconds or 0))


class Answer:
    """The answer to a request, whose body may not have arrived yet."""

    def __init__(self, transport: Transport, connection: http.client.HTTPConnection,
                 sock: socket.socket, response: http.client.HTTPResponse,
                 deadline: Deadline) -> None:
        self._transport = transport
        self._connection = connection
        self._sock = sock
        self._response = response
        self._deadline = deadline
        self.status = response.status
        self.retry_after = response.getheader("Retry-After")

    def read(self) -> bytes:
        """The whole body. Its connection can be used again."""
        body = b""
        while True:
            self._wait()
            piece = self._guard(self._response.read1, 1 << 20)
            if not piece:
                break
            body += piece
        length = self._response.getheader("Content-Length")
        if length is not None and len(body) < int(length):
            raise self._transport.broken("the answer broke off")
        self._response.close()  # Not the connection, unless the daemon wants that.
        self._transport.keep(self._connection, self._response)
        return body

    def line(self) -> bytes:
        """The next line of the body with its line break; empty at the end."""
        self._wait()
        line: bytes = self._guard(self._response.readline)
        if not line.endswith(b"\n") and self._response.length:
            self.close()
            raise self._transport.broken("the answer broke off")
        return line

    def renew(self, deadline: Deadline) -> None:
        """Sets the time for the rest of the body."""
        self._deadline = deadline

    def interrupt(self) -> None:
        """Ends the connection; a thread that reads from it returns. The reader closes it."""
        try:
            self._sock.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass  # The daemon was first.

    def close(self) -> None:
        self._response.close()
        self._connection.close()

    def _wait(self) -> None:
        self._sock.settimeout(self._deadline.left())

    def _guard(self, read: Any, *args: Any) -> Any:
        try:
            return read(*args)
        except socket.timeout:
            self.close()
            raise self._deadline.error() from None
        except (OSError, http.client.HTTPException, ValueError) as error:
            self.close()
            raise self._transport.broken(error) from error


class Transport:
    """Connections to one daemon. Its URL begins with http:// or https://, or is unix:PATH."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._idle: List[http.client.HTTPConnection] = []
        self._path = ""
        if not url.startswith("unix:"):
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname:
                raise ValueError("url %s does not begin with http://, https:// or unix:" % url)
            self._path = parts.path.rstrip("/")

    def send(self, method: str, path: str, headers: Mapping[str, str], body: Optional[bytes],
             deadline: Deadline) -> Answer:
        """Sends a request and returns at the end of the headers of its answer."""
        sent: Dict[str, str] = dict(headers)
        if body is not None:
            sent["Content-Type"] = "application/json"
        connection = self._take()
        try:
            connection.timeout = deadline.left()
            if connection.sock is not None:
                connection.sock.settimeout(connection.timeout)
            connection.request(method, self._path + path, body, sent)
            sock = connection.sock  # Of a connection that the daemon closes it is soon forgotten.
            sock.settimeout(deadline.left())
            return Answer(self, connection, sock, connection.getresponse(), deadline)
        except socket.timeout:
            connection.close()
            raise deadline.error() from None
        except LociTimeoutError:
            connection.close()
            raise
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise self.broken(error) from error

    def keep(self, connection: http.client.HTTPConnection,
             response: http.client.HTTPResponse) -> None:
        """Takes a connection back after its answer was read."""
        with self._lock:
            if not response.will_close and len(self._idle) < _IDLE_MAX:
                self._idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Closes idle connections."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def broken(self, why: object) -> LociConnectionError:
        return LociConnectionError("%s: %s" % (self._url, why or type(why).__name__))

    def _take(self) -> http.client.HTTPConnection:
        while True:
            with self._lock:
                connection = self._idle.pop() if self._idle else None
            if connection is None:
                return self._new()
            if connection.sock is not None and not _is_readable(connection.sock):
                return connection
            connection.close()

    def _new(self) -> http.client.HTTPConnection:
        if self._url.startswith("unix:"):
            return _UnixConnection(self._url[len("unix:"):])
        parts = urlsplit(self._url)
        host = parts.hostname or ""
        if parts.scheme == "https":
            return http.client.HTTPSConnection(host, parts.port)
        return http.client.HTTPConnection(host, parts.port)


def _is_readable(sock: socket.socket) -> bool:
    poll = getattr(select, "poll", None)
    if poll is None:
        return bool(select.select([sock], [], [], 0)[0])
    poller = poll()
    poller.register(sock, select.POLLIN)
    return bool(poller.poll(0))
