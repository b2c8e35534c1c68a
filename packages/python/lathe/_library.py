"""liblathe by ctypes: its structs and functions, as lathe.h declares them, and nothing that is ours."""

from __future__ import annotations

import ctypes
import json
import os
from ctypes import POINTER, Structure, c_char, c_char_p, c_int, c_size_t, c_uint64, c_void_p
from typing import NamedTuple

from ._errors import ConfigError, SandboxError, error_of_call

_OK, _TIMEOUT = 0, 10
CALL, APPROVAL, CANCELLED, OUTPUT, LOG, END, WARNING, PROMPT = 1, 2, 3, 4, 5, 6, 7, 8


class Error(Structure):
    _fields_ = [("size", c_size_t), ("status", c_int), ("message", c_char * 1024)]


class Options(Structure):
    _fields_ = [("size", c_size_t), ("config", c_char_p), ("config_file", c_char_p), ("folder", c_char_p)]


class ToolOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("name", c_char_p),
        ("description", c_char_p),
        ("input_schema", c_char_p),
        ("output_schema", c_char_p),
        ("annotations", c_char_p),
        ("approval", c_char_p),
    ]


class RunOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("code", c_char_p),
        ("language", c_char_p),
        ("input", c_char_p),
        ("timeout_ms", c_uint64),
        ("memory_bytes", c_uint64),
        ("data", c_void_p),
        ("can_snapshot", c_int),
        ("by_turns", c_int),
        ("keeps_signals", c_int),
    ]


class PromptOptions(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("input", c_char_p),
        ("model", c_char_p),
        ("mode", c_char_p),
        ("conversation", c_char_p),
        ("user", c_char_p),
        ("prompt", c_char_p),
        ("data", c_void_p),
        ("attachments", c_char_p),
    ]


class _Event(Structure):
    _fields_ = [
        ("size", c_size_t),
        ("type", c_int),
        ("status", c_int),
        ("run", c_uint64),
        ("call", c_uint64),
        ("tool", c_char_p),
        ("text", c_char_p),
        ("json", c_char_p),
        ("data", c_void_p),
    ]


class Event(NamedTuple):
    """An event of the library, copied."""

    type: int
    status: int
    run: int
    call: int
    tool: str
    text: str
    json: str


EventPointer = POINTER(_Event)
_error_p, _text_p, _number_p = POINTER(Error), POINTER(c_void_p), POINTER(c_uint64)
_FUNCTIONS = {
    "lathe_version": (c_char_p, []),
    "lathe_free": (None, [c_void_p]),
    "lathe_open": (c_int, [POINTER(Options), POINTER(c_void_p), _error_p]),
    "lathe_close": (None, [c_void_p]),
    "lathe_add_tool": (c_int, [c_void_p, POINTER(ToolOptions), _error_p]),
    "lathe_remove_tool": (c_int, [c_void_p, c_char_p, _error_p]),
    "lathe_tools": (c_int, [c_void_p, c_char_p, c_size_t, _text_p, _error_p]),
    "lathe_declare": (c_int, [c_void_p, c_char_p, c_size_t, _text_p, _error_p]),
    "lathe_check": (c_int, [c_void_p, POINTER(RunOptions), _text_p, _error_p]),
    "lathe_start": (c_int, [c_void_p, POINTER(RunOptions), _number_p, _error_p]),
    "lathe_turn": (c_int, [c_void_p, c_uint64, c_int, c_int, POINTER(EventPointer)]),
    "lathe_detach": (c_int, [c_void_p, c_uint64, _error_p]),
    "lathe_cancel": (c_int, [c_void_p, c_uint64, _error_p]),
    "lathe_snapshot": (c_int, [c_void_p, c_uint64, _text_p, _error_p]),
    "lathe_restore": (c_int, [c_void_p, c_char_p, c_void_p, _number_p, _error_p]),
    "lathe_prompt": (c_int, [c_void_p, POINTER(PromptOptions), _number_p, _error_p]),
    "lathe_next": (c_int, [c_void_p, c_int, POINTER(EventPointer)]),
    "lathe_event_free": (None, [EventPointer]),
    "lathe_fd": (c_int, [c_void_p]),
    "lathe_answer": (c_int, [c_void_p, c_uint64, c_char_p, _error_p]),
    "lathe_fail": (c_int, [c_void_p, c_uint64, c_char_p, _error_p]),
    "lathe_approve": (c_int, [c_void_p, c_uint64, c_char_p, _error_p]),
    "lathe_reject": (c_int, [c_void_p, c_uint64, c_char_p, _error_p]),
}

#: They return at once, so other threads of Python need not have their turn: one that computes would keep it for 5 ms.
_QUICK = ("lathe_version", "lathe_free", "lathe_start", "lathe_cancel", "lathe_event_free", "lathe_answer", "lathe_fail")

_loaded: ctypes.CDLL | None = None


def _load() -> ctypes.CDLL:
    beside = os.path.join(os.path.dirname(os.path.abspath(__file__)), "liblathe.so.0")
    path = beside if os.path.exists(beside) else os.environ.get("LATHE_LIBRARY") or "liblathe.so.0"
    try:
        return ctypes.CDLL(path)
    except OSError as error:
        raise SandboxError(
            f"liblathe cannot be loaded: {error}. Install it, or set LATHE_LIBRARY to the path of liblathe.so.0"
        ) from None


def library() -> ctypes.CDLL:
    """The library, loaded when it is first asked for. Functions that wait let other threads of Python run meanwhile."""
    global _loaded
    if _loaded is None:
        loaded = _load()
        quick = ctypes.PyDLL(loaded._name, handle=loaded._handle)
        for name, (result, arguments) in _FUNCTIONS.items():
            function = getattr(quick if name in _QUICK else loaded, name)
            function.restype, function.argtypes = result, arguments
            setattr(loaded, name, function)
        _loaded = loaded
    return _loaded


def utf8(text: str | None, what: str) -> bytes | None:
    """A text for the library. None stays None."""
    if text is None:
        return None
    if not isinstance(text, str):
        raise TypeError(f"the {what} is a str, not {type(text).__name__}")
    try:
        encoded = text.encode()
    except UnicodeEncodeError as error:
        raise ConfigError(f"the {what} is not Unicode: {error.reason} at {error.start}") from None
    if b"\0" in encoded:
        raise ConfigError(f"the {what} contains a NUL character")
    return encoded


def text_of(value: bytes | None) -> str:
    """A text of the library, which is UTF-8."""
    return (value or b"").decode("utf-8", "replace")


def take_text(pointer: c_void_p) -> str:
    """A text that a function has returned, which is freed."""
    if not pointer.value:
        return ""
    try:
        return text_of(ctypes.string_at(pointer.value))
    finally:
        library().lathe_free(pointer)


def new_error() -> Error:
    return Error(size=ctypes.sizeof(Error))


def check(status: int, error: Error) -> None:
    """Raises what a function has said, unless it succeeded."""
    if status != _OK:
        raise error_of_call(status, text_of(error.message))


def take_event(env: c_void_p, pointer: ctypes._Pointer[_Event]) -> bool:
    """Has the pointer, which is NULL, point to the next event of the queue, to be freed; False when there is none now."""
    status = library().lathe_next(env, 0, ctypes.byref(pointer))
    if status not in (_OK, _TIMEOUT):
        raise error_of_call(status, "the sandbox is closed")
    return bool(status == _OK)


def read_event(pointer: ctypes._Pointer[_Event]) -> Event:
    it = pointer.contents
    tool, text, report = text_of(it.tool), text_of(it.text), text_of(it.json)
    return Event(it.type, it.status, it.run, it.call, tool, text, report)


class Turns:
    """A run that this thread turns. What each event needs is found once."""

    def __init__(self, env: c_void_p, run: int) -> None:
        loaded = library()
        self._turn, self._free = loaded.lathe_turn, loaded.lathe_event_free
        self._run = (env, run)
        self._pointer = EventPointer()
        self._place = ctypes.byref(self._pointer)

    def next(self, work_ms: int, wait_ms: int) -> Event | None:
        """Carries the run on until its next event; None when a limit was reached (-1: there is none)."""
        status = self._turn(*self._run, work_ms, wait_ms, self._place)
        if status == _TIMEOUT:
            return None
        if status != _OK:
            raise error_of_call(status, "the run has ended")
        try:
            return read_event(self._pointer)
        finally:
            self._free(self._pointer)


def next_event(env: c_void_p) -> Event | None:
    """The next event of the queue; None when there is none now."""
    pointer = EventPointer()
    if not take_event(env, pointer):
        return None
    try:
        return read_event(pointer)
    finally:
        library().lathe_event_free(pointer)
