"""What both kinds of sandboxes are made of: the library's environment, its tools, and a run's options and end."""

from __future__ import annotations

import ctypes
import json
import math
import os
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from . import _library
from ._errors import ClosedError, ConfigError, SandboxError, error_of_program, error_of_prompt
from ._tools import Tool, as_tools, json_bytes, tool

TYPE_CHECKING = False
if TYPE_CHECKING:
    import logging

Tools = Iterable[Any] | Mapping[str, Any] | None


class Result(NamedTuple):
    """How a program ended that did not fail."""

    #: Of its last expression, or what it returned at the top level; None: nothing.
    value: Any
    #: The texts that it put out with `output()`, and logged, in order.
    outputs: list[str]
    logs: list[str]
    #: The calls of tools that it made: [{"tool", "input", "result" or "error"}].
    calls: list[dict[str, Any]]
    duration_ms: float


class PromptResult(NamedTuple):
    """What the agent made of a prompt."""

    #: All texts that were put out, by the model and its programs, with line ends between them.
    text: str
    #: All outputs in order: texts, calls of tools with their results, files; as `GET /prompts/ID` of `lathe serve` has them.
    outputs: list[dict[str, Any]]
    #: What the model was paid for: {"inputTokens", "outputTokens", "totalTokens", "requests", ...}.
    usage: dict[str, Any]
    #: "completed".
    state: str
    #: Of the prompt; and of its conversation, which a further prompt goes on with.
    id: str
    conversation: str


class Decision(NamedTuple):
    """What was decided on an Approval; made by its methods."""

    is_approved: bool
    input: Any = None
    reason: str = ""


class Approval(NamedTuple):
    """A call that waits for an approval. The program's clock stands still meanwhile."""

    #: The id of the tool, what it is to be called with, and why somebody must approve it.
    tool: str
    input: Any
    reason: str

    def approve(self, input: Mapping[str, Any] | None = None) -> Decision:
        """The call may be made; with this input instead of its own, where one is given."""
        return Decision(True, input)

    def reject(self, reason: str = "") -> Decision:
        """The call is not made. The program is told the reason."""
        return Decision(False, None, reason)


def decision_of(answer: Any) -> Decision:
    """What an on_approval function has returned."""
    if isinstance(answer, bool):
        return Decision(answer)
    if isinstance(answer, Decision):
        return answer
    raise TypeError(f"on_approval returns a bool or a lathe.Decision, not {type(answer).__name__}")


class Listeners(NamedTuple):
    """The functions of a run that are told what it does. None: nobody is."""

    on_approval: Callable[[Approval], Any] | None
    on_output: Callable[[str], Any] | None = None
    on_log: Callable[[str], Any] | None = None
    on_event: Callable[[str, dict[str, Any]], Any] | None = None

    def hear(self, event: _library.Event) -> None:
        """Tells of a text that the program has put out or logged, or of a step of a prompt."""
        if event.type == _library.PROMPT:
            if self.on_event is not None:
                self.on_event(event.text, json.loads(event.json))
            return
        listener = self.on_output if event.type == _library.OUTPUT else self.on_log
        if listener is not None:
            listener(event.text)


def _log() -> logging.Logger:
    import logging  # rarely needed, and a third of what importing this package would take

    return logging.getLogger("lathe")


def _log_warning(text: str) -> None:
    _log().warning("%s", text)


# --- A run -----------------------------------------------------------------------------------------------------------


class Program:
    """A program to be run, or one to go on with: how it is started, and what its end means."""

    def __init__(self, function: str, *arguments: Any, options: _library.RunOptions | None = None) -> None:
        self._function = function
        self._arguments = arguments if options is None else (ctypes.byref(options), *arguments)
        self._options = options

    @property
    def can_be_turned(self) -> bool:
        """A thread can run it that waits for it (lathe_turn). Where it is a process, threads have nothing to do."""
        return self._options is not None and self._options.language != b"python"

    def start(self, env: ctypes.c_void_p, by_turns: bool = False) -> int:
        """Returns the number of the run."""
        if self._options is not None:
            self._options.by_turns = by_turns
        number, error = ctypes.c_uint64(), _library.new_error()
        function = getattr(_library.library(), self._function)
        _library.check(function(env, *self._arguments, ctypes.byref(number), ctypes.byref(error)), error)
        return number.value

    def take(self, event: _library.Event) -> None:
        """Is told of each event before its end."""

    def read_end(self, event: _library.Event) -> Any:
        """The result. Raises how it failed."""
        report = json.loads(event.json or "{}")
        if event.status != 0:
            raise error_of_program(event.status, event.text, report)
        return Result(report.get("result"), report["outputs"], report["logs"], report["calls"], report["durationMs"])


class Prompt(Program):
    """A prompt to be carried out by the agent, or one to go on with."""

    _conversation = ""

    def take(self, event: _library.Event) -> None:
        if event.type == _library.PROMPT and event.text in ("prompt.created", "prompt.resumed"):
            self._conversation = json.loads(event.json)["conversationId"]

    def read_end(self, event: _library.Event) -> Any:
        report = json.loads(event.json or "{}")
        if event.status != 0:
            raise error_of_prompt(event.status, event.text, report, self._conversation)
        outputs = report["output"]
        text = "\n".join(one["content"] for one in outputs if one["type"] == "text")
        return PromptResult(text, outputs, report["usage"], report["state"], report["id"], self._conversation)


def program(
    code: str,
    input: Any,
    language: str | None,
    timeout: float | None,
    memory_bytes: int | None,
    can_snapshot: bool,
) -> Program:
    """A program to be run. Raises ConfigError."""
    options = run_options(code, input, language, timeout, memory_bytes)
    options.can_snapshot = can_snapshot
    return Program("lathe_start", options=options)


def restored(snapshot: str) -> Program:
    """A program to go on with."""
    return Program("lathe_restore", _library.utf8(snapshot, "snapshot"), None)


def prompt(**texts: str | None) -> Prompt:
    """A prompt, by the members of lathe_prompt_options."""
    encoded = {name: _library.utf8(text, name) for name, text in texts.items()}
    options = _library.PromptOptions(size=ctypes.sizeof(_library.PromptOptions), **encoded)
    return Prompt("lathe_prompt", ctypes.byref(options))


def run_options(
    code: str, input: Any, language: str | None, timeout: float | None, memory_bytes: int | None
) -> _library.RunOptions:
    """The options as the library takes them."""
    if timeout is not None and not (timeout > 0 and math.isfinite(timeout)):
        raise ConfigError(f"the timeout is a number of seconds above 0, not {timeout!r}")
    if memory_bytes is not None and memory_bytes <= 0:
        raise ConfigError(f"memory_bytes is a number above 0, not {memory_bytes!r}")
    return _library.RunOptions(
        size=ctypes.sizeof(_library.RunOptions),
        code=_library.utf8(code, "code"),
        language=_library.utf8(language, "language"),
        input=json_bytes(input, "input"),
        timeout_ms=0 if timeout is None else math.ceil(timeout * 1000),
        memory_bytes=memory_bytes or 0,
    )


class Calls:
    """Answers what the library asks. An answer that nobody wants any more is dropped."""

    def __init__(self, env: ctypes.c_void_p) -> None:
        self._env = env
        self._library = _library.library()

    def answer(self, call: int, tool: Tool, value: Any) -> None:
        """Gives the program what the tool has returned."""
        try:
            text = json_bytes(value, f"result of the tool {tool.name}")
        except ConfigError as error:
            self.fail(call, str(error))
            return
        if self._library.lathe_answer(self._env, call, text, None) == 0:
            return
        error = _library.new_error()  # what Python writes can still be too large or too deep
        if self._library.lathe_answer(self._env, call, text, ctypes.byref(error)) != 0:
            self.fail(call, f"the result of the tool {tool.name}: {_library.text_of(error.message)}")

    def fail(self, call: int, message: str) -> None:
        """The tool has failed: an exception in the program."""
        self._library.lathe_fail(self._env, call, _message_bytes(message), None)

    def fail_by(self, call: int, tool: Tool, error: BaseException) -> None:
        """The function of the tool has raised."""
        _log().debug("the tool %s failed", tool.name, exc_info=error)
        message = str(error)
        self.fail(call, f"{type(error).__name__}: {message}" if message else type(error).__name__)

    def decide(self, call: int, decision: Decision) -> None:
        """Approves the call or rejects it. Raises ConfigError for an input that is not JSON."""
        if not decision.is_approved:
            self._library.lathe_reject(self._env, call, _message_bytes(decision.reason) or None, None)
            return
        self._library.lathe_approve(self._env, call, json_bytes(decision.input, "approved input"), None)


def _message_bytes(message: str) -> bytes:
    return message.replace("\0", " ").encode("utf-8", "replace")


# --- The environment -------------------------------------------------------------------------------------------------


class Environment:
    """An environment of the library, which is open until close().

    Each use of it is counted, as nobody may be inside the library when it is closed.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | str | None,
        config_file: str | os.PathLike[str] | None,
        folder: str | os.PathLike[str] | None,
        tools: Tools,
        on_warning: Callable[[str], Any] | None,
    ) -> None:
        self._env = ctypes.c_void_p()
        self._uses = threading.Condition()
        self._use_count = 0
        self._tools_lock = threading.Lock()
        # Programs keep the tools that they began with: the dictionary is replaced, not changed.
        self._tools = {one.name: self._checked(one) for one in as_tools(tools)}
        self._added: dict[str, Tool] = {}
        self._runs_with: dict[str, int] = {}
        self._warn = on_warning or _log_warning
        self._options = _library.Options(
            size=ctypes.sizeof(_library.Options),
            config=_library.utf8(config, "config") if isinstance(config, str) else json_bytes(config, "config"),
            config_file=None if config_file is None else os.fsencode(config_file),
            folder=None if folder is None else os.fsencode(folder),
        )

    @staticmethod
    def _checked(one: Tool) -> Tool:
        """For a kind of sandbox that cannot call every function."""
        return one

    def _open(self) -> None:
        env, error = ctypes.c_void_p(), _library.new_error()
        library = _library.library()
        _library.check(
            library.lathe_open(ctypes.byref(self._options), ctypes.byref(env), ctypes.byref(error)), error
        )
        self._env = env
        self._calls = Calls(env)
        try:
            for one in self._tools.values():
                self._library_add(one)
        except BaseException:
            self._close()
            raise

    def _close(self) -> None:
        """Waits until nobody is inside. From the beginning on, nobody enters."""
        with self._uses:
            env, self._env = self._env, ctypes.c_void_p()
            try:
                self._uses.wait_for(lambda: self._use_count == 0)
            except BaseException:  # an interrupt: it is still open
                self._env = env
                raise
        if env:
            _library.library().lathe_close(env)

    def __del__(self) -> None:
        if getattr(self, "_env", None):
            warnings.warn(f"{self!r} was not closed", ResourceWarning, source=self, stacklevel=2)
            self._close()

    def _enter(self) -> ctypes.c_void_p:
        """The environment, which stays open until _leave()."""
        with self._uses:
            env = self._opened()
            self._use_count += 1
            return env

    def _opened(self) -> ctypes.c_void_p:
        env = self._env
        if not env:
            raise ClosedError("the sandbox is not open")
        return env

    def _leave(self) -> None:
        with self._uses:
            self._use_count -= 1
            if self._use_count == 0:
                self._uses.notify_all()

    def _snapshot(self, run: int) -> str:
        """A run that waits, written down. Raises SandboxError."""
        return self._text_of("lathe_snapshot", run)

    # --- Tools ---

    def add_tool(self, function: Callable[..., Any], **options: Any) -> None:
        """Adds a tool for all programs that begin from now on, or replaces the one of its name.

        `function` is a Tool, or a function with the options of `lathe.tool()`.
        """
        one = self._checked(tool(function, **options) if options else as_tools([function])[0])
        with self._tools_lock:
            self._enter()
            try:
                self._library_add(one)
            finally:
                self._leave()
            self._tools = {**self._tools, one.name: one}

    def remove_tool(self, name: str) -> None:
        """Removes a tool. Programs that run can call it no more. Raises SandboxError where there is none."""
        with self._tools_lock:
            self._enter()
            try:
                self._library_remove(name)
            finally:
                self._leave()
            self._tools = {known: one for known, one in self._tools.items() if known != name}

    def _library_add(self, one: Tool) -> None:
        env, error = self._opened(), _library.new_error()
        options = _library.ToolOptions(ctypes.sizeof(_library.ToolOptions), *one.texts)
        status = _library.library().lathe_add_tool(env, ctypes.byref(options), ctypes.byref(error))
        _library.check(status, error)
        self._added[one.name] = one

    def _library_remove(self, name: str) -> None:
        env, error = self._opened(), _library.new_error()
        encoded = _library.utf8(name, "name of a tool")
        _library.check(_library.library().lathe_remove_tool(env, encoded, ctypes.byref(error)), error)
        self._added.pop(name, None)

    def _borrow_tools(self, given: Tools) -> tuple[dict[str, Tool], list[Tool]]:
        """All tools of a run, by name; and those that are there for it alone, to be given back at its end.

        Such a tool is the environment's while the run lasts: other runs can see it, but a call of theirs fails.
        """
        if not given:
            return self._tools, []
        own: list[Tool] = []
        try:
            for one in [self._checked(one) for one in as_tools(given)]:
                self._borrow_tool(one)
                own.append(one)
        except BaseException:
            self._give_tools_back(own)
            raise
        return {**self._tools, **{one.name: one for one in own}}, own

    def _borrow_tool(self, one: Tool) -> None:
        with self._tools_lock:
            known = self._added.get(one.name)
            if known is None or known.texts != one.texts:
                self._library_add(one)
            self._runs_with[one.name] = self._runs_with.get(one.name, 0) + 1

    def _give_tools_back(self, own: list[Tool]) -> None:
        if not own:
            return
        with self._tools_lock:
            for one in own:
                self._runs_with[one.name] -= 1
                if self._runs_with[one.name] == 0:
                    del self._runs_with[one.name]
                    self._restore_tool(one.name)

    def _restore_tool(self, name: str) -> None:
        before = self._tools.get(name)
        try:
            if before is None:
                self._library_remove(name)
            elif before.texts != self._added[name].texts:
                self._library_add(before)
        except SandboxError as error:
            _log().debug("the tool %s stays as it is: %s", name, error)

    # --- About all tools ---

    def declare(self, form: str = "prompt", max_tokens: int = 0) -> str:
        """The tools as a model is told of them.

        form: "prompt" is a short listing of about `max_tokens` (0: no limit); "ts" and "python" are declarations.
        """
        return self._text_of("lathe_declare", _library.utf8(form, "form"), max_tokens)

    def search(self, query: str = "", limit: int = 0) -> list[dict[str, Any]]:
        """The tools for a query, best first; "": all of them. `limit` 0: as many as there are.

        Each is {"id", "jsName", "tsName", "description", "inputSchema", "outputSchema"?}.
        """
        found: list[dict[str, Any]] = json.loads(self._text_of("lathe_tools", _library.utf8(query, "query"), limit))
        return found

    def _check(self, code: str, language: str | None) -> list[dict[str, Any]]:
        options = run_options(code, None, language, None, None)
        found: list[dict[str, Any]] = json.loads(self._text_of("lathe_check", ctypes.byref(options)))
        return found

    def _text_of(self, function: str, *arguments: Any) -> str:
        env, text, error = self._enter(), ctypes.c_void_p(), _library.new_error()
        try:
            call = getattr(_library.library(), function)
            _library.check(call(env, *arguments, ctypes.byref(text), ctypes.byref(error)), error)
        finally:
            self._leave()
        return _library.take_text(text)

