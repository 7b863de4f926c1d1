"""The processes that answer questions, one after the other, over a socket that ends with whoever ends first.

A question waits for the first process that is free. While many wait, each process has its next one already: it would
sleep otherwise until the server has read its answer. None stays behind a slow one for that. A question that is not
answered in time costs its process, so that no walk goes on for nobody.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import pickle
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, cast

from colline.server.query import worker

_SLOW = 0.02  # seconds after which the question behind one is given to another process
_GRACE = 2.0  # seconds a process has to see that its socket is closed
_ROOM, _MOST_ROOM = 1 << 17, 1 << 20  # bytes an answer is read into, and what is kept of that after a large one


class ReaderDiedError(Exception):
    """A process ended while it had a question."""


@dataclass(slots=True, eq=False)
class _Question:
    """A question as it crosses, and what will be told."""

    message: bytes
    answer: asyncio.Future[Any]
    moved: bool = False  # it was behind a slow one, and was given to another process too


class _Reader(asyncio.BufferedProtocol):
    """One process and the questions it has: the one it is at, and the next."""

    def __init__(self, free: Callable[[_Reader], None], drop: Callable[[_Reader], None]) -> None:
        self.process: BaseProcess | None = None
        self.asked: deque[_Question] = deque()
        self.is_open = True
        self.since = 0.0  # when it began with the one it is at
        self._free, self._drop = free, drop
        self._room = bytearray(_ROOM)
        self._size = 0
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def put(self, question: _Question) -> None:
        """Let the process answer it, after the one it is at."""
        assert self._transport is not None
        if not self.asked:
            self.since = time.monotonic()
        self.asked.append(question)
        self._transport.write(worker.ASKED.pack(len(question.message)) + question.message)

    def take_back(self, slow: float) -> _Question | None:
        """The next question, if it waits behind one that takes longer; once, and it may be answered here after all."""
        if len(self.asked) < 2 or self.asked[1].moved or time.monotonic() - self.since < slow:
            return None
        self.asked[1].moved = True
        return self.asked[1]

    def get_buffer(self, _: int) -> memoryview:
        return memoryview(self._room)[self._size :]

    def buffer_updated(self, count: int) -> None:
        self._size += count
        while self._size >= worker.TOLD.size:
            size, more = worker.TOLD.unpack_from(self._room)
            middle = worker.TOLD.size + size
            whole = middle + max(more, 0)
            if self._size < whole:
                if whole > len(self._room):  # a new one: the loop still holds what it has read into
                    self._room = self._room[: self._size] + bytes(whole - self._size)
                return
            self._answered(middle, whole, has_body=more >= 0)
            self._shift(whole)

    def _answered(self, middle: int, end: int, *, has_body: bool) -> None:
        """The next question first: the process is at it while this answer is unpacked and sent."""
        question, self.since = self.asked.popleft(), time.monotonic()
        if self.is_open:
            self._free(self)
        if not question.answer.done():
            question.answer.set_result(self._told(middle, end, has_body=has_body))

    def _shift(self, whole: int) -> None:
        """Keep what was read of the answer after this one."""
        rest = self._room[whole : self._size]
        self._size = len(rest)
        if len(self._room) > _MOST_ROOM:
            self._room = bytearray(max(_ROOM, self._size))
        self._room[: self._size] = rest

    def _told(self, middle: int, end: int, *, has_body: bool) -> Any:
        with memoryview(self._room) as got:
            told = pickle.loads(got[worker.TOLD.size : middle])  # noqa: S301 - our own child wrote it
            if type(told) is not tuple:  # else it is what was found, without its name and its body
                return told
            version, etag, packed, problem = told
            return worker.Found(version, etag, packed, problem, bytes(got[middle:end]) if has_body else None)

    def connection_lost(self, _: Exception | None) -> None:
        self.is_open = False
        if self.asked and not self.asked[0].answer.done():
            self.asked[0].answer.set_exception(ReaderDiedError())
        self._drop(self)

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
        self._queue: deque[_Question] = deque()

    async def ask(self, call: str, *arguments: Any) -> Any:
        """What a reader's call returns. Cancelled or out of time, the process that was at it is ended."""
        loop = asyncio.get_running_loop()
        message = pickle.dumps((call, arguments), pickle.HIGHEST_PROTOCOL)
        question = _Question(message, loop.create_future())
        # `wait_for` would make a task of each question
        timer = loop.call_later(self.seconds, _give_up, question.answer)
        try:
            await self._put(question)
            found = await question.answer
        except BaseException:
            question.answer.cancel()  # where it still waits, nobody is to answer it
            for one in list(self._all):
                self._end_walk(one, question)
            raise
        finally:
            timer.cancel()
        if isinstance(found, worker.Fault):
            raise RuntimeError(f"in a reader: {found.text}")
        return found

    async def _put(self, question: _Question) -> None:
        """Give it to a process that is free, to a new one if there may be more, else let it wait."""
        if self._idle:
            self._idle.pop().put(question)
            return
        self._queue.append(question)
        if len(self._all) < self.most:
            self._free(await self._started())

    def _free(self, one: _Reader) -> None:
        """Give the reader what has waited longest, and while many wait the next one too."""
        if one.asked and one.asked[0].answer.done():  # who asked gave up while it was behind another
            asyncio.get_running_loop().call_later(self.seconds, self._end_walk, one, one.asked[0])
        self._take_back(_SLOW)
        if not one.asked and not self._queue:
            self._take_back(0)
        while self._queue and len(one.asked) < (2 if len(self._queue) > self.most else 1):
            question = self._queue.popleft()
            if not question.answer.done():
                one.put(question)
        if not one.asked:
            self._idle.append(one)

    def _take_back(self, slow: float) -> None:
        """Let questions that wait behind a slow one go first."""
        self._queue.extendleft(question for one in self._all if (question := one.take_back(slow)) is not None)

    def _end_walk(self, one: _Reader, question: _Question) -> None:
        """End a reader that is at a question for nobody."""
        if one.asked and one.asked[0] is question:
            self._drop(one)

    def _drop(self, one: _Reader) -> None:
        """End a reader; whoever waits gets a new one."""
        one.close(kill=True)
        if one not in self._all:
            return
        self._all.remove(one)
        if one in self._idle:
            self._idle.remove(one)
        self._queue.extendleft(question for question in list(one.asked)[1:] if not question.moved)
        if any(not question.answer.done() for question in self._queue):
            asyncio.get_running_loop().create_task(self._replace())

    async def _replace(self) -> None:
        if len(self._all) < self.most:
            self._free(await self._started())

    async def _started(self) -> _Reader:
        one = _Reader(self._free, self._drop)
        ours, theirs = socket.socketpair()
        # spawn: a fork would copy the writing thread's locks in whatever state they are
        spawned = multiprocessing.get_context("spawn")
        one.process = spawned.Process(target=worker.serve, args=(self.lake, self.others, theirs), daemon=True)
        one.process.start()
        self._all.append(one)
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


def _give_up(future: asyncio.Future[Any]) -> None:
    if not future.done():
        future.set_exception(asyncio.TimeoutError())
