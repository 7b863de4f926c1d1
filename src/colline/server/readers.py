"""The processes that answer questions: each takes one at a time, over a socket that ends with whoever ends first.

A question waits for the first process that is free. One that is not answered in time costs its process, so that no
walk goes on for nobody.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import socket
from collections import deque
from collections.abc import Mapping
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, TypeAlias, TypeVar, cast

from colline.server import reader

_GRACE = 2.0  # seconds a process has to see that its socket is closed
_ROOM, _MOST_ROOM = 1 << 17, 1 << 20  # bytes an answer is read into, and what is kept of that after a large one
_Waiting: TypeAlias = "asyncio.Future[_Reader]"
_Found = TypeVar("_Found")


class ReaderDiedError(Exception):
    """A process ended while it had a question."""


class _Reader(asyncio.BufferedProtocol):
    """One process and the question it has."""

    def __init__(self) -> None:
        self.process: BaseProcess | None = None
        self.answer: asyncio.Future[Any] | None = None
        self.is_open = True
        self._room = bytearray(_ROOM)
        self._size = 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def put(self, message: bytes) -> asyncio.Future[Any]:
        """A future of what comes back."""
        assert self._transport is not None
        self.answer = asyncio.get_running_loop().create_future()
        self._transport.write(reader.ASKED.pack(len(message)) + message)
        return self.answer

    def get_buffer(self, _: int) -> memoryview:
        return memoryview(self._room)[self._size :]

    def buffer_updated(self, count: int) -> None:
        self._size += count
        head = reader.TOLD.size
        if self._size < head:
            return
        size, more = reader.TOLD.unpack_from(self._room)
        whole = head + size + max(more, 0)
        if self._size < whole:
            if whole > len(self._room):  # a new one: the loop still holds what it has read into
                self._room = self._room[: self._size] + bytes(whole - self._size)
            return
        if self.answer is not None and not self.answer.done():
            self.answer.set_result(self._told(head + size, whole, has_body=more >= 0))
        self._size = 0
        if whole > _MOST_ROOM:
            self._room = bytearray(_ROOM)

    def _told(self, middle: int, end: int, *, has_body: bool) -> Any:
        with memoryview(self._room) as got:
            found = pickle.loads(got[reader.TOLD.size : middle])  # noqa: S301 - our own child wrote it
            return found._replace(body=bytes(got[middle:end])) if has_body else found

    def connection_lost(self, _: Exception | None) -> None:
        self.is_open = False
        if self.answer is not None and not self.answer.done():
            self.answer.set_exception(ReaderDiedError())

    def close(self, *, kill: bool) -> None:
        """Let the process end; at once if it is to be killed."""
        self.is_open = False
        if self._transport is not None:
            self._transport.close()
        if kill and self.process is not None:
            self.process.kill()


class Readers:
    """Up to `most` processes, started as questions come."""

    def __init__(self, lake: Path, most: int, others: Mapping[str, Path], seconds: float) -> None:
        self.lake = lake
        self.others = dict(others)
        self.most = most
        self.seconds = seconds
        self._all: list[_Reader] = []
        self._idle: list[_Reader] = []
        self._queue: deque[_Waiting] = deque()

    async def ask(self, call: str, *arguments: Any) -> Any:
        """What a reader's call returns. Cancelled or out of time, the process that was at it is ended."""
        deadline = asyncio.get_running_loop().time() + self.seconds
        message = pickle.dumps((call, arguments), pickle.HIGHEST_PROTOCOL)
        one = await self._free(deadline)
        try:
            found = await _until(deadline, one.put(message))
        except BaseException:
            self._drop(one)
            raise
        self._give(one)
        if isinstance(found, reader.Fault):
            raise RuntimeError(f"in a reader: {found.text}")
        return found

    async def _free(self, deadline: float) -> _Reader:
        while self._idle:
            one = self._idle.pop()
            if one.is_open:
                return one
            self._drop(one)
        if len(self._all) < self.most:
            return await self._started()
        turn: _Waiting = asyncio.get_running_loop().create_future()
        self._queue.append(turn)
        try:
            return await _until(deadline, turn)
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._give(turn.result())
            raise

    def _give(self, one: _Reader) -> None:
        """Hand the reader to who has waited longest."""
        while self._queue:
            turn = self._queue.popleft()
            if not turn.done():
                turn.set_result(one)
                return
        self._idle.append(one)

    def _drop(self, one: _Reader) -> None:
        """End a reader; whoever waits gets a new one."""
        one.close(kill=True)
        if one in self._all:
            self._all.remove(one)
        if any(not turn.done() for turn in self._queue):
            asyncio.get_running_loop().create_task(self._replace())

    async def _replace(self) -> None:
        if len(self._all) < self.most:
            self._give(await self._started())

    async def _started(self) -> _Reader:
        one = _Reader()
        self._all.append(one)
        ours, theirs = socket.socketpair()
        # spawn: a fork would copy the writing thread's locks in whatever state they are
        spawned = multiprocessing.get_context("spawn")
        one.process = spawned.Process(target=reader.serve, args=(self.lake, self.others, theirs), daemon=True)
        one.process.start()
        theirs.close()
        await asyncio.get_running_loop().create_unix_connection(lambda: one, sock=ours)
        return one

    def close(self) -> None:
        """Let the processes end."""
        for one in self._all:
            one.close(kill=False)
        for one in self._all:
            if one.process is not None:
                one.process.join(_GRACE)
                one.close(kill=True)
        self._all, self._idle = [], []


async def _until(deadline: float, future: asyncio.Future[_Found]) -> _Found:
    """What the future gets, if it does by then; `wait_for` would make a task of each question."""
    timer = asyncio.get_running_loop().call_at(deadline, _give_up, future)
    try:
        return await future
    finally:
        timer.cancel()


def _give_up(future: asyncio.Future[Any]) -> None:
    if not future.done():
        future.set_exception(asyncio.TimeoutError())
