"""The contract between the generated rooms and the code that sends their calls."""

from __future__ import annotations

from abc import abstractmethod
from typing import (Any, AsyncGenerator, Dict, Generator, Iterator, Mapping, NamedTuple, Optional,
                    Protocol, Sequence, Tuple)

from .types import Event


class StreamMessage(NamedTuple):
    """An event, or the news that events were missed and the state must be read again."""

    event: Optional[Event]
    """The event; None if the state must be read again."""
    reset: Optional[str] = None
    """The reason, if the state must be read again."""


class EventStream(Iterator[StreamMessage]):
    """A stream of events that reconnects. close() ends it, from any thread; so does `with`."""

    @abstractmethod
    def close(self) -> None: ...

    def __enter__(self) -> EventStream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Caller(Protocol):
    """Sends the calls of the rooms."""

    def call(
        self, name: str, args: Mapping[str, Any], optional: Optional[Mapping[str, Any]] = None
    ) -> Any: ...

    def pages(
        self, name: str, member: str, args: Mapping[str, Any], optional: Mapping[str, Any],
        not_with_cursor: Tuple[str, ...],
    ) -> Generator[Any, None, None]: ...

    def lines(self, name: str) -> Generator[Dict[str, Any], None, None]: ...

    def stream(
        self, path: str, user_id: Optional[str], session_id: Optional[str],
        after_seq: Optional[int], types: Optional[Sequence[str]], heartbeat_ms: int,
    ) -> EventStream: ...


class AsyncCaller(Protocol):
    """Sends the calls of the rooms for asyncio."""

    async def call(
        self, name: str, args: Mapping[str, Any], optional: Optional[Mapping[str, Any]] = None
    ) -> Any: ...

    def pages(
        self, name: str, member: str, args: Mapping[str, Any], optional: Mapping[str, Any],
        not_with_cursor: Tuple[str, ...],
    ) -> AsyncGenerator[Any, None]: ...

    def lines(self, name: str) -> AsyncGenerator[Dict[str, Any], None]: ...

    def stream(
        self, path: str, user_id: Optional[str], session_id: Optional[str],
        after_seq: Optional[int], types: Optional[Sequence[str]], heartbeat_ms: int,
    ) -> AsyncGenerator[StreamMessage, None]: ...
