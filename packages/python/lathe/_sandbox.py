"""The sandbox for programs without asyncio: run() waits, and calls the tools on its own thread."""

from __future__ import annotations

import ctypes
import json
import os
import threading
from collections.abc import Callable, Mapping
from typing import Any

from . import _library
from ._environment import (
    Approval,
    Calls,
    Decision,
    Environment,
    Listeners,
    Program,
    PromptResult,
    Result,
    Tools,
    decision_of,
    program,
    prompt,
    restored,
)
from ._attachments import Attachments, attachments_json
from ._errors import ConfigError, SandboxError, Suspended
from ._events import Events, Inbox
from ._tools import Tool, read_json

__all__ = ["Approval", "Decision", "PromptResult", "Result", "Sandbox"]


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
        self._events = Events(self._env, self._warn)
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
        """Ends it. A second time it does nothing.

        From here on nothing begins in it: run() and all else raise ClosedError. Programs and prompts that other threads
        are running go on to their end, and close() waits for as long as they take. An interrupt of it leaves the sandbox
        open.
        """
        if getattr(self._inside, "count", 0) > 0:
            raise SandboxError("a sandbox cannot be closed by what its own program calls")
        self._close()

    def _take_warnings(self) -> None:
        while (event := _library.next_event(self._env)) is not None:
            if event.type == _library.WARNING:
                self._warn(event.text)

    def run(
        self,
        code: str,
        *,
        tools: Tools = None,
        input: Any = None,
        language: str | None = None,
        timeout: float | None = None,
        memory_bytes: int | None = None,
        can_snapshot: bool = False,
        on_approval: Callable[[Approval], bool | Decision] | None = None,
        on_output: Callable[[str], Any] | None = None,
        on_log: Callable[[str], Any] | None = None,
    ) -> Result:
        """Runs a program to its end.

        language: "js", "ts" or "python"; js where none is said.
        input: JSON; what the program finds in `input`.
        tools: for this program only, beside those of the sandbox.
        timeout: in seconds; what is configured (30) where none is said. Waiting for an approval does not count.
        can_snapshot: a tool or on_approval may raise lathe.Suspended, to go on in another process. It is recorded for that.
        on_approval: decides on a call that needs an approval: True, False, approval.approve(input),
            approval.reject(reason). Where there is none, the call is rejected.
        on_output, on_log: are told each text when the program puts it out or logs it.

        Tools and these functions are called on this thread, while it waits. What a tool raises is an exception in the
        program, with the message of it; what the other functions raise ends the program, and comes out of here. So does
        KeyboardInterrupt, at once.

        Raises ProgramError where the program fails, ProgramTimeoutError, ProgramMemoryError; ConfigError for a wrong
        argument; LimitError; Suspended.
        """
        listeners = Listeners(on_approval or self._on_approval, on_output, on_log)
        what = program(code, input, language, timeout, memory_bytes, can_snapshot)
        return self._carry_out(what, tools, listeners)

    def restore(
        self,
        snapshot: str,
        *,
        tools: Tools = None,
        on_approval: Callable[[Approval], bool | Decision] | None = None,
        on_output: Callable[[str], Any] | None = None,
        on_log: Callable[[str], Any] | None = None,
    ) -> Result:
        """Goes on with a program that was suspended, as if run() had never left it.

        snapshot: that of lathe.Suspended, by the same version of the library. The other arguments are those of run().

        The program runs again from its beginning with the answers that its calls had. Calls that had no answer, and
        approvals that were not decided, come again, and so does every text that it had put out. Its time begins anew.

        Raises what run() raises, and ConfigError where this is no snapshot; SandboxError where a tool is missing.
        """
        listeners = Listeners(on_approval or self._on_approval, on_output, on_log)
        return self._carry_out(restored(snapshot), tools, listeners)

    def prompt(
        self,
        input: str,
        *,
        attachments: Attachments | None = None,
        model: str | None = None,
        mode: str | None = None,
        conversation: str | None = None,
        user: str | None = None,
        tools: Tools = None,
        on_approval: Callable[[Approval], bool | Decision] | None = None,
        on_event: Callable[[str, dict[str, Any]], Any] | None = None,
    ) -> PromptResult:
        """Has a model carry out a prompt, which may use all tools. The configuration has `models`.

        attachments: images (PNG, JPEG, GIF, WebP), PDFs and texts that go with it: paths, bytes, or Attachment for bytes
            with a type and a name, such as ["plot.png", Attachment(data, "image/png", "plot.png")].
        model: the `ref` of one of them; mode: "code", "typescript", "classic" ...; the default where none is said.
        conversation: the id of the one that it goes on with (PromptResult.conversation); a new one where none is said.
        user: whose conversation it is, where several people must not see each other's.
        on_event: is told each step: its name and data, as in the events of `lathe serve`, such as ("prompt.stream",
            {"delta": "There are"}).

        tools, on_approval and exceptions are as in run(). A prompt has no time limit; an exception or an interrupt
        cancels it.

        Raises PromptError where it fails or is cancelled; ConfigError for a wrong argument, also an attachment that models
        cannot take; OSError for a file that cannot be read; SandboxError where there is no such conversation.
        """
        listeners = Listeners(on_approval or self._on_approval, on_event=on_event)
        files = attachments_json(attachments)
        what = prompt(
            input=input, attachments=files, model=model, mode=mode, conversation=conversation, user=user
        )
        return self._carry_out(what, tools, listeners)

    def resume_prompt(
        self,
        id: str,
        *,
        user: str | None = None,
        tools: Tools = None,
        on_approval: Callable[[Approval], bool | Decision] | None = None,
        on_event: Callable[[str, dict[str, Any]], Any] | None = None,
    ) -> PromptResult:
        """Goes on with a prompt that its process left, by its id. Needs a `store` in the configuration that is a file.

        The first event of a prompt, "prompt.created", has the id ("promptId"). What the prompt has put out comes again,
        approvals that waited are asked for again, and calls that were under way are made again if their tool is
        read-only or idempotent.
        """
        listeners = Listeners(on_approval or self._on_approval, on_event=on_event)
        return self._carry_out(prompt(prompt=id, user=user), tools, listeners)

    def _carry_out(self, what: Program, tools: Tools, listeners: Listeners) -> Any:
        env = self._enter()
        try:
            all_tools, own = self._borrow_tools(tools)
            try:
                answers = _Answers(self._calls, all_tools, listeners)
                run = self._run_by_turns if what.can_be_turned else self._run_by_events
                return what.read_end(run(env, what, answers))
            finally:
                self._give_tools_back(own)
        finally:
            self._leave()

    def _run_by_turns(self, env: ctypes.c_void_p, what: Program, answers: _Answers) -> _library.Event:
        """Runs it on this thread, which takes a quarter of the time."""
        # A signal is handled between two turns: this is how long it may have to wait.
        limit_ms = 50 if threading.current_thread() is threading.main_thread() else -1
        number = what.start(env, by_turns=True)
        turns = _library.Turns(env, number)
        self._inside.count = getattr(self._inside, "count", 0) + 1
        try:
            while True:
                event = turns.next(limit_ms, limit_ms)
                if event is None:
                    continue
                if event.type == _library.END:
                    return event
                answers.take(event)
        except BaseException as failure:
            try:
                if isinstance(failure, Suspended):
                    failure.snapshot = self._snapshot(number)
            finally:
                self._end_turns(env, number, turns)
            raise
        finally:
            self._inside.count -= 1

    def _end_turns(self, env: ctypes.c_void_p, number: int, turns: _library.Turns) -> None:
        """Waits until nothing of the run goes on. The last event may be lost: to an interrupt."""
        try:
            _library.library().lathe_cancel(env, number, None)
            while True:
                turns.next(50, 50)
        except SandboxError:
            pass  # it has ended
        finally:
            _library.library().lathe_detach(env, number, None)

    def _run_by_events(self, env: ctypes.c_void_p, what: Program, answers: _Answers) -> _library.Event:
        inbox = self._events.start(lambda: what.start(env))
        self._inside.count = getattr(self._inside, "count", 0) + 1
        try:
            while (event := self._events.next(inbox)).type != _library.END:
                what.take(event)
                answers.take(event)
            return event
        except BaseException as failure:
            try:
                if isinstance(failure, Suspended):
                    failure.snapshot = self._snapshot(inbox.number)
            finally:
                self._cancel(env, inbox)
            raise
        finally:
            self._inside.count -= 1
            self._events.forget(inbox)

    def _cancel(self, env: ctypes.c_void_p, inbox: Inbox) -> None:
        """Waits until nothing of the run goes on. The library says when: an interrupt may have lost the last event."""
        while _library.library().lathe_cancel(env, inbox.number, None) == 0:
            self._events.next(inbox)

    def check(self, code: str, language: str | None = None) -> list[dict[str, Any]]:
        """What is wrong with a program, without running it.

        Each finding is {"line", "column", "endLine"?, "endColumn"?, "severity": "error" or "warning", "message"}.
        """
        return self._check(code, language)


class _Answers:
    """What the functions of a run say to its events."""

    def __init__(self, calls: Calls, tools: dict[str, Tool], listeners: Listeners) -> None:
        self._calls = calls
        self._tools = tools
        self._listeners = listeners

    def take(self, event: _library.Event) -> None:
        """Raises what a function has raised that is not a tool's failure."""
        if event.type == _library.CALL:
            self._call(event)
        elif event.type == _library.APPROVAL:
            self._approve(event)
        elif event.type in (_library.OUTPUT, _library.LOG, _library.PROMPT):
            self._listeners.hear(event)

    def _call(self, event: _library.Event) -> None:
        tool = self._tools.get(event.tool)
        if tool is None:
            self._calls.fail(event.call, f"the tool {event.tool} is that of another program")
            return
        try:
            value = tool.function(**read_json(event.json))
        except Suspended:
            raise
        except Exception as error:
            self._calls.fail_by(event.call, tool, error)
        else:
            self._calls.answer(event.call, tool, value)

    def _approve(self, event: _library.Event) -> None:
        approval = Approval(event.tool, json.loads(event.json), event.text)
        ask = self._listeners.on_approval
        decision = decision_of(ask(approval)) if ask is not None else approval.reject("nobody is there to approve it")
        self._calls.decide(event.call, decision)
