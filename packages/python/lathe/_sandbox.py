"""The sandbox for programs without asyncio: run() waits, and calls the tools on its own thread."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from . import _library
from ._environment import Approval, Decision, Environment, Listeners, Result, Tools, decision_of, result_of, run_options
from ._errors import ConfigError, SandboxError
from ._tools import Tool

__all__ = ["Approval", "Decision", "Result", "Sandbox"]


class Sandbox(Environment):
    """Runs programs with your functions as their tools, until it is closed. Use it with `with`.

        with lathe.Sandbox(tools=[add]) as sandbox:
            result = sandbox.run("add({a: 1, b: 2})")

    config: the configuration, as a mapping or as JSON or YAML text, with the keys of lathe.yaml; config_file: its path.
    folder: where its relative paths begin. Nothing else is read, and without `store` nothing is kept.
    tools: functions, what `lathe.tool()` makes of them, or a mapping from names to them.
    on_approval: decides on calls that need an approval: see run().
    on_warning: is told what a person should know, such as a server that cannot be reached. Else it is logged ("lathe").

    Opening it waits for the MCP servers of the configuration. Any thread may use it, and several may run programs at
    once. A sandbox is not for a forked child: there its methods raise ClosedError.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | str | None = None,
        *,
        config_file: str | os.PathLike[str] | None = None,
        folder: str | os.PathLike[str] | None = None,
        tools: Tools = None,
        on_approval: Callable[[Approval], bool | Decision] | None = None,
        on_warning: Callable[[str], Any] | None = None,
    ) -> None:
        super().__init__(config, config_file, folder, tools, on_warning)
        self._on_approval = on_approval
        self._inside = threading.local()
        self._open()
        self._take_warnings()

    @staticmethod
    def _checked(one: Tool) -> Tool:
        import inspect

        if inspect.iscoroutinefunction(one.function):
            raise ConfigError(f"the tool {one.name} is an async function: lathe.AsyncSandbox can call it")
        return one

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def close(self) -> None:
        """Ends it. Programs that other threads run are waited for. A second time it does nothing."""
        if getattr(self._inside, "count", 0) > 0:
            raise SandboxError("a sandbox cannot be closed by what its own program calls")
        self._close()

    def _take_warnings(self) -> None:
        while (event := _library.next_event(self._env)) is not None:
            text = _library.text_of(event.contents.text)
            is_warning = event.contents.type == _library.WARNING
            _library.library().lathe_event_free(event)
            if is_warning:
                self._warn(text)

    def run(
        self,
        code: str,
        *,
        tools: Tools = None,
        input: Any = None,
        language: str | None = None,
        timeout: float | None = None,
        memory_bytes: int | None = None,
        on_approval: Callable[[Approval], bool | Decision] | None = None,
        on_output: Callable[[str], Any] | None = None,
        on_log: Callable[[str], Any] | None = None,
    ) -> Result:
        """Runs a program to its end.

        language: "js", "ts" or "python"; js where none is said.
        input: JSON; what the program finds in `input`.
        tools: for this program only, beside those of the sandbox.
        timeout: in seconds; what is configured (30) where none is said. Waiting for an approval does not count.
        on_approval: decides on a call that needs an approval: True, False, approval.approve(input),
            approval.reject(reason). Where there is none, the call is rejected.
        on_output, on_log: are told each text when the program puts it out or logs it.

        Tools and these functions are called on this thread, while it waits. What a tool raises is an exception in the
        program, with the message of it; what the other functions raise ends the program, and comes out of here. So does
        KeyboardInterrupt; while no function runs, Python keeps it back until the program calls one, or ends.

        Raises ProgramError where the program fails, ProgramTimeoutError, ProgramMemoryError; ConfigError for a wrong
        argument; LimitError.
        """
        options = run_options(code, input, language, timeout, memory_bytes)
        env = self._enter()
        try:
            all_tools, own = self._borrow_tools(tools)
            try:
                listeners = Listeners(on_approval or self._on_approval, on_output, on_log)
                return self._run(env, options, _Run(self._calls, env, all_tools, listeners))
            finally:
                self._give_tools_back(own)
        finally:
            self._leave()

    def _run(self, env: ctypes.c_void_p, options: _library.RunOptions, run: _Run) -> Result:
        report, error = ctypes.c_void_p(), _library.new_error()
        self._inside.count = getattr(self._inside, "count", 0) + 1
        try:
            status = _library.library().lathe_run(
                env, ctypes.byref(options), _on_event, run, ctypes.byref(report), ctypes.byref(error)
            )
        finally:
            self._inside.count -= 1
        text = _library.take_text(report)
        if run.failure is not None:
            raise run.failure
        return result_of(status, _library.text_of(error.message), text)

    def check(self, code: str, language: str | None = None) -> list[dict[str, Any]]:
        """What is wrong with a program, without running it.

        Each finding is {"line", "column", "endLine"?, "endColumn"?, "severity": "error" or "warning", "message"}.
        """
        return self._check(code, language)


class _Run:
    """The events of one run, on the thread that waits for it."""

    def __init__(self, calls: Any, env: ctypes.c_void_p, tools: dict[str, Tool], listeners: Listeners) -> None:
        self._calls = calls
        self._env = env
        self._tools = tools
        self._listeners = listeners
        #: What a function raised that is not a tool's failure: it comes out of run().
        self.failure: BaseException | None = None

    def take(self, event: _library.Event) -> None:
        """Never raises, as C called it."""
        try:
            if self.failure is None:
                self._handle(event)
        except BaseException as failure:
            self.failure = failure
            _library.library().lathe_cancel(self._env, event.run, None)

    def _handle(self, event: _library.Event) -> None:
        if event.type == _library.CALL:
            self._call(event.call, _library.text_of(event.tool), json.loads(event.json))
        elif event.type == _library.APPROVAL:
            self._approve(event)
        elif event.type in (_library.OUTPUT, _library.LOG):
            self._listeners.hear(event)

    def _call(self, call: int, name: str, arguments: dict[str, Any]) -> None:
        tool = self._tools.get(name)
        if tool is None:
            self._calls.fail(call, f"the tool {name} is that of another program")
            return
        try:
            value = tool.function(**arguments)
        except Exception as error:
            self._calls.fail_by(call, tool, error)
        else:
            self._calls.answer(call, tool, value)

    def _approve(self, event: _library.Event) -> None:
        approval = Approval(_library.text_of(event.tool), json.loads(event.json), _library.text_of(event.text))
        ask = self._listeners.on_approval
        decision = decision_of(ask(approval)) if ask is not None else approval.reject("nobody is there to approve it")
        self._calls.decide(event.call, decision)


@_library.EventFunction
def _on_event(_env: int, event: Any, run: _Run) -> None:
    run.take(event.contents)
