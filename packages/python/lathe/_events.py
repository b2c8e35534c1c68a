"""The library's queue of events, for threads that each wait for their own run."""

from __future__ import annotations

import ctypes
import queue
import select
import threading
from collections.abc import Callable
from typing import Any

from . import _library


class Inbox:
    """What has happened in a run, and was not taken yet."""

    def __init__(self, number: int) -> None:
        self.number = number
        #: By the number with which each was handed on; `taken` is the highest that was taken out.
        self.events: dict[int, _library.Event] = {}
        self.taken = 0
        self.is_waiting = False
        #: Has something when a thread that waits is to look again. An interrupt breaks a threading.Condition, but not this.
        self.bell: queue.SimpleQueue[None] = queue.SimpleQueue()

    def take(self) -> _library.Event:
        self.taken = next(iter(self.events))
        return self.events.pop(self.taken)

    def ring(self) -> None:
        if self.is_waiting:
            self.is_waiting = False
            self.bell.put(None)


class Events:
    """Gives each run its events. There is no thread for it: of those that wait, one waits for the library, and hands the
    others what is theirs. When it has an event of its own, the next one takes its place.

    It waits in poll(2), which a signal interrupts: a KeyboardInterrupt comes out of next() at once. It may do so anywhere,
    so an event of the library stays in the slot until it was handed on; if that is done twice, the number tells.
    """

    def __init__(self, env: ctypes.c_void_p, on_warning: Callable[[str], Any]) -> None:
        self._env = env
        self._on_warning = on_warning
        self._poll = select.poll()
        self._poll.register(_library.library().lathe_fd(env), select.POLLIN)
        self._lock = threading.Lock()
        self._inboxes: dict[int, Inbox] = {}
        self._slot = (1, _library.EventPointer())  # of the next event that is handed on; NULL: it was not taken yet
        self._leader: Inbox | None = None  # that of the thread which waits for the library

    def start(self, start: Callable[[], int]) -> Inbox:
        """Starts a run; `start` returns its number."""
        with self._lock:  # no event of it is handed on before it has an inbox
            inbox = Inbox(start())
            self._inboxes[inbox.number] = inbox
        return inbox

    def forget(self, inbox: Inbox) -> None:
        """Events of this run are dropped from now on."""
        with self._lock:
            self._inboxes.pop(inbox.number, None)
            self._call_another(inbox)

    def next(self, inbox: Inbox) -> _library.Event:
        """The next event of a run, which this thread waits for."""
        try:
            while True:
                with self._lock:
                    if inbox.events:
                        return inbox.take()
                    is_leader = self._leader in (None, inbox)
                    self._leader = inbox if is_leader else self._leader
                    inbox.is_waiting = not is_leader
                if is_leader:
                    self._await_library()
                else:
                    inbox.bell.get()
        finally:
            with self._lock:
                inbox.is_waiting = False
                self._call_another(inbox)

    def _call_another(self, inbox: Inbox) -> None:
        """This one waits for the library no more."""
        if self._leader is inbox:
            self._leader = None
        if self._leader is None:
            waiting = next((one for one in self._inboxes.values() if one.is_waiting), None)
            if waiting is not None:
                waiting.ring()

    def _await_library(self) -> None:
        number, pointer = self._slot
        while not pointer:
            self._poll.poll()
            _library.take_event(self._env, pointer)
        event = _library.read_event(pointer)
        with self._lock:
            inbox = self._inboxes.get(event.run)
            if inbox is not None and number > inbox.taken:
                inbox.events[number] = event
                inbox.ring()
        self._slot = (number + 1, _library.EventPointer())
        _library.library().lathe_event_free(pointer)
        if event.type == _library.WARNING:
            self._on_warning(event.text)
