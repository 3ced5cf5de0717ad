"""The client for asyncio: the blocking client in threads.

Calls run in threads of the client, each stream in one of its own. A cancelled call goes on in its
thread until its answer or its timeout; a cancelled stream is closed.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import (Any, AsyncGenerator, Callable, Dict, Iterator, List, Mapping, Optional,
                    Sequence, Tuple, TypeVar)

from ._caller import StreamMessage
from .async_rooms import AsyncRooms
from .client import Sender, changed, make_sender

T = TypeVar("T")

_END: Any = object()


async def _each(items: Iterator[T], pool: ThreadPoolExecutor) -> AsyncGenerator[T, None]:
    """The items of a blocking iterator, each fetched in a thread of the pool."""
    loop = asyncio.get_running_loop()
    try:
        while True:
            item = await loop.run_in_executor(pool, next, items, _END)
            if item is _END:
                return
            yield item
    finally:
        close: Optional[Callable[[], None]] = getattr(items, "close", None)
        if close is not None:
            try:
                close()
            except ValueError:
                pass  # A thread is still in the generator, and ends with it.


class AsyncSender:
    """Runs the calls of a sender in threads."""

    def __init__(self, sender: Sender, pool: ThreadPoolExecutor) -> None:
        self.sender = sender
        self.pool = pool

    async def run(self, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self.pool, function, *args)

    async def call(
        self, name: str, args: Mapping[str, Any], optional: Optional[Mapping[str, Any]] = None
    ) -> Any:
        return await self.run(self.sender.call, name, args, optional)

    def pages(
        self, name: str, member: str, args: Mapping[str, Any], optional: Mapping[str, Any],
        not_with_cursor: Tuple[str, ...],
    ) -> AsyncGenerator[Any, None]:
        return _each(self.sender.pages(name, member, args, optional, not_with_cursor), self.pool)

    def lines(self, name: str) -> AsyncGenerator[Dict[str, Any], None]:
        return self._alone(self.sender.lines(name))

    def stream(
        self, path: str, user_id: Optional[str], session_id: Optional[str],
        after_seq: Optional[int], types: Optional[Sequence[str]], heartbeat_ms: int,
    ) -> AsyncGenerator[StreamMessage, None]:
        return self._alone(self.sender.stream(
            path, user_id, session_id, after_seq, types, heartbeat_ms))

    async def _alone(self, items: Iterator[T]) -> AsyncGenerator[T, None]:
        """In a thread of its own: a stream must not take one from the calls."""
        pool = ThreadPoolExecutor(1, "loci-stream")
        messages = _each(items, pool)
        try:
            async for item in messages:
                yield item
        finally:
            await messages.aclose()
            pool.shutdown(wait=False)


class AsyncLoci(AsyncRooms):
    """A client of a loci daemon for asyncio: `await loci.fact.write("city", "Oslo")`.

    The options are those of `Loci`; `threads` is the maximum number of calls at the same time.
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
        threads: int = 16,
    ) -> None:
        sender = make_sender(url, socket, token, timeout, retries, client, {
            "user_id": user_id, "persona_id": persona_id, "session_id": session_id})
        self._use(AsyncSender(sender, ThreadPoolExecutor(threads, "loci")))

    def _use(self, sender: AsyncSender) -> None:
        self._sender = sender
        AsyncRooms.__init__(self, sender)

    async def call(self, name: str, **args: Any) -> Any:
        """Call an operation by its name."""
        return await self._sender.call(name, {}, args)

    async def batch(self, calls: Sequence[Tuple[str, Mapping[str, Any]]], *,
                    idempotency_key: Optional[str] = None) -> List[Any]:
        """Run up to 100 calls of one user in one transaction: all of them or none."""
        return await self._sender.run(self._sender.sender.batch, calls, idempotency_key)

    def with_options(
        self,
        *,
        timeout: Optional[float] = ...,  # type: ignore[assignment]
        retries: Optional[int] = None,
        user_id: Optional[str] = None,
        persona_id: Optional[str] = None,
        session_id: Optional[str] = None,
    ) -> AsyncLoci:
        """A client with other options on the same connections, for one call or many."""
        other = AsyncLoci.__new__(type(self))
        other._use(AsyncSender(
            changed(self._sender.sender, timeout, retries, user_id, persona_id, session_id),
            self._sender.pool))
        return other

    async def close(self) -> None:
        """Close idle connections and end the threads."""
        self._sender.sender.transport.close()
        self._sender.pool.shutdown(wait=False)

    async def __aenter__(self) -> AsyncLoci:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()
