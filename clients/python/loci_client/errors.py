"""Errors of calls. Decide by `code`; show the message to people."""

from __future__ import annotations

import json
from typing import Any, Dict, Optional, cast

_OWN = {"type", "title", "status", "detail", "code", "trace_id", "hint", "retry_after_ms"}


class LociError(Exception):
    """The daemon refused a call, which changed nothing."""

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: Optional[int] = None,
        hint: Optional[str] = None,
        retry_after_ms: Optional[float] = None,
        trace_id: Optional[str] = None,
        details: Optional[Dict[str, Any]] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        """Stable code: one of `ErrorCode`, or `connection` and `timeout`, those of the client."""
        self.message = message
        self.status = status
        """HTTP status of the answer."""
        self.hint = hint
        """Next step, if the daemon knows one."""
        self.retry_after_ms = retry_after_ms
        """Pause in milliseconds that the daemon asks for before the next attempt."""
        self.trace_id = trace_id
        """Id of the request in the daemon's log."""
        self.details = details or {}
        """Further members of the error, such as `head_seq` of a conflict."""

    def __str__(self) -> str:
        return "%s: %s" % (self.code, self.message)


class LociConnectionError(LociError):
    """No daemon was reached, or the answer broke off. It is not known whether the call was run."""

    def __init__(self, message: str) -> None:
        super().__init__("connection", message)


class LociTimeoutError(LociError):
    """No answer arrived in time. It is not known whether the call was run."""

    def __init__(self, message: str) -> None:
        super().__init__("timeout", message)


def error_of(status: int, text: bytes, retry_after: Optional[str]) -> LociError:
    """The error in an answer with this status: a problem document, or the text of a proxy."""
    problem: Dict[str, Any] = {}
    try:
        value = json.loads(text)
        if isinstance(value, dict):
            problem = cast(Dict[str, Any], value)
    except ValueError:
        pass  # Not of the daemon: the status is all there is.
    wait = problem.get("retry_after_ms")
    if wait is None and retry_after is not None and retry_after.isdigit():
        wait = int(retry_after) * 1000
    return LociError(
        problem.get("code") or ("unavailable" if status == 503 else "internal"),
        problem.get("detail") or "HTTP status %d" % status,
        status=status,
        hint=problem.get("hint"),
        retry_after_ms=wait,
        trace_id=problem.get("trace_id"),
        details={name: value for name, value in problem.items() if name not in _OWN},
    )
