"""The sandbox for asyncio: the loop waits for the library's descriptor, and no thread waits for a program."""

from __future__ import annotations

import asyncio
import contextvars
import ctypes
import inspect
import json
import math
import os
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from . import _library
from ._environment import (
    Approval,
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
from ._errors import ClosedError, SandboxError, Suspended
from ._tools import Tool, read_json

# Of what is waiting; then the loop has its turn again.
_EVENTS_AT_A_TIME = 100
# Seconds that programs may hold up the loop between two of its turns.
_LOOP_TIME = 0.005

_OnApproval = Callable[[Approval], "bool | Decision | Awaitable[bool | Decision]"]


class AsyncSandbox(Environment):
    """Runs programs with your functions, sync or async, as their tools. Use it with `async with`.

        async with lathe.AsyncSandbox(tools=[fetch]) as sandbox:
            result = await sandbox.run("fetch({url: 'https://a.example/'})")

    The arguments are those of Sandbox; on_approval may be async, too. It belongs to the event loop that opened it, and
    all of its methods are called there. A program that waits for a tool costs no thread.
    """

    def __init__(
        self,
        config: Mapping[str, Any] | str | None = None,
        *,
        config_file: str | os.PathLike[str] | None = None,
        folder: str | os.PathLike[str] | None = None,
        tools: Tools = None,
        on_approval: _OnApproval | None = None,
        on_warning: Callable[[str], Any] | None = None,
    ) -> None:
        super().__init__(config, config_file, folder, tools, on_warning)
        self._on_approval = on_approval
        self._runs: dict[int, _Run] = {}
        self._loop: asyncio.AbstractEventLoop | None = None
        self._fd = -1
        self._loop_time_spent = 0.0

    async def open(self) -> None:
        """Opens it, and waits for the MCP servers of the configuration. `async with` does this."""
        opening = asyncio.ensure_future(asyncio.to_thread(self._open))
        try:
            await asyncio.shield(opening)
        except asyncio.CancelledError:
            opening.add_done_callback(lambda done: done.exception() or self._close())
            raise
        self._loop = asyncio.get_running_loop()
        self._fd = _library.library().lathe_fd(self._env)
        self._loop.add_reader(self._fd, self._take_events)

    async def close(self) -> None:
        """Ends it, with the programs and prompts that run: run() and prompt() raise ClosedError. A prompt is left as it is
        in a `store` that is a file: resume_prompt(). A second time it does nothing."""
        if self._loop is None:
            return
        self._loop.remove_reader(self._fd)
        self._loop = None
        self._abandon_all()
        await asyncio.to_thread(self._close)
        self._abandon_all()  # what has begun meanwhile

    def _abandon_all(self) -> None:
        for run in self._runs.values():
            run.abandon(ClosedError("the sandbox was closed"))
        self._runs.clear()

    async def __aenter__(self) -> AsyncSandbox:
        await self.open()
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def run(
        self,
        code: str,
        *,
        tools: Tools = None,
        input: Any = None,
        language: str | None = None,
        timeout: float | None = None,
        memory_bytes: int | None = None,
        can_snapshot: bool = False,
        on_approval: _OnApproval | None = None,
        on_output: Callable[[str], Any] | None = None,
        on_log: Callable[[str], Any] | None = None,
    ) -> Result:
        """Runs a program to its end, as Sandbox.run() does; arguments and exceptions are the same.

        Tools and on_approval are called on the loop, with the context variables of this call. Those that are async run
        as tasks, beside each other where the program calls several at once; a task is cancelled when its answer is no
        longer wanted. To cancel this call cancels the program, and waits until it has ended.
        """
        what = program(code, input, language, timeout, memory_bytes, can_snapshot)
        return await self._carry_out(what, tools, Listeners(on_approval or self._on_approval, on_output, on_log))

    async def restore(
        self,
        snapshot: str,
        *,
        tools: Tools = None,
        on_approval: _OnApproval | None = None,
        on_output: Callable[[str], Any] | None = None,
        on_log: Callable[[str], Any] | None = None,
    ) -> Result:
        """Goes on with a program that was suspended, as Sandbox.restore() does."""
        listeners = Listeners(on_approval or self._on_approval, on_output, on_log)
        return await self._carry_out(restored(snapshot), tools, listeners)

    async def prompt(
        self,
        input: str,
        *,
        attachments: Attachments | None = None,
        model: str | None = None,
        mode: str | None = None,
        conversation: str | None = None,
        user: str | None = None,
        tools: Tools = None,
        on_approval: _OnApproval | None = None,
        on_event: Callable[[str, dict[str, Any]], Any] | None = None,
    ) -> PromptResult:
        """Has a model carry out a prompt, as Sandbox.prompt() does. To cancel this call cancels the prompt."""
        listeners = Listeners(on_approval or self._on_approval, on_event=on_event)
        files = await asyncio.to_thread(attachments_json, attachments) if attachments is not None else None
        what = prompt(
            input=input, attachments=files, model=model, mode=mode, conversation=conversation, user=user
        )
        return await self._carry_out(what, tools, listeners)

    async def resume_prompt(
        self,
        id: str,
        *,
        user: str | None = None,
        tools: Tools = None,
        on_approval: _OnApproval | None = None,
        on_event: Callable[[str, dict[str, Any]], Any] | None = None,
    ) -> PromptResult:
        """Goes on with a prompt that its process left, as Sandbox.resume_prompt() does."""
        listeners = Listeners(on_approval or self._on_approval, on_event=on_event)
        return await self._carry_out(prompt(prompt=id, user=user), tools, listeners)

    async def _carry_out(self, what: Program, tools: Tools, listeners: Listeners) -> Any:
        env = self._enter()
        try:
            all_tools, own = self._borrow_tools(tools)
            try:
                run = self._begin(env, what, all_tools, listeners)
            except BaseException:
                self._give_tools_back(own)
                raise
        finally:
            self._leave()
        try:
            return await run.wait()
        finally:
            if self._env:
                self._give_tools_back(own)

    def _begin(self, env: ctypes.c_void_p, what: Program, tools: dict[str, Tool], listeners: Listeners) -> _Run:
        # Alone it begins on this thread, which hands nothing over then. Several have the library's threads.
        by_turns = what.can_be_turned and not self._runs and self._loop_time_spent < _LOOP_TIME
        run = _Run(self, what, what.start(env, by_turns), tools, listeners)
        self._runs[run.number] = run
        if by_turns:
            self._turn(env, run)
        return run

    def _turn(self, env: ctypes.c_void_p, run: _Run) -> None:
        """As long as it need not wait, for a few milliseconds. The library goes on with it then."""
        began, turns = time.monotonic(), _library.Turns(env, run.number)
        until = began + _LOOP_TIME - self._loop_time_spent
        if self._loop_time_spent == 0:
            asyncio.get_running_loop().call_soon(self._forget_loop_time)
        try:
            while (left_ms := math.ceil((until - time.monotonic()) * 1000)) > 0:
                event = turns.next(left_ms, 0)
                if event is None:
                    break
                self._take_event(event)
                if event.type == _library.END:
                    return
            _library.library().lathe_detach(env, run.number, None)
        finally:
            self._loop_time_spent += time.monotonic() - began

    def _forget_loop_time(self) -> None:
        self._loop_time_spent = 0.0

    async def check(self, code: str, language: str | None = None) -> list[dict[str, Any]]:
        """What is wrong with a program, without running it, as Sandbox.check() tells it."""
        return await asyncio.to_thread(self._check, code, language)

    def _take_events(self) -> None:
        for _ in range(_EVENTS_AT_A_TIME):
            event = _library.next_event(self._env) if self._env else None
            if event is None:
                return
            self._take_event(event)

    def _take_event(self, event: _library.Event) -> None:
        if event.type == _library.WARNING:
            self._warn(event.text)
            return
        run = self._runs.get(event.run)
        if run is not None:
            run.take(event)
            if event.type == _library.END:
                self._runs.pop(event.run, None)

    def _cancel(self, number: int) -> None:
        if self._env:
            _library.library().lathe_cancel(self._env, number, None)


class _Run:
    """The events of one run, and the tasks that answer them."""

    def __init__(
        self, sandbox: AsyncSandbox, what: Program, number: int, tools: dict[str, Tool], listeners: Listeners
    ) -> None:
        self.number = number
        self._sandbox = sandbox
        self._what = what
        self._tools = tools
        self._listeners = listeners
        self._context = contextvars.copy_context()
        self._end: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._tasks: dict[int, asyncio.Future[Any]] = {}
        #: What a function raised that is not a tool's failure: it comes out of run().
        self._failure: BaseException | None = None

    async def wait(self) -> Any:
        cancelled: asyncio.CancelledError | None = None
        while not self._end.done():
            try:
                await asyncio.wait([self._end])
            except asyncio.CancelledError as error:
                cancelled = error
                self._sandbox._cancel(self.number)
        if cancelled is not None:
            self._end.exception()  # taken, so that asyncio does not report it as forgotten
            raise cancelled
        return self._end.result()

    def abandon(self, failure: BaseException) -> None:
        """Ends it without the library."""
        for task in list(self._tasks.values()):
            task.cancel()
        if not self._end.done():
            self._end.set_exception(failure)

    def take(self, event: _library.Event) -> None:
        try:
            self._handle(event)
        except Exception as failure:
            self._fail(failure)

    def _fail(self, failure: BaseException) -> None:
        if self._failure is None:
            self._failure = self._written_down(failure) if isinstance(failure, Suspended) else failure
        self._sandbox._cancel(self.number)

    def _written_down(self, suspended: Suspended) -> BaseException:
        try:
            suspended.snapshot = self._sandbox._snapshot(self.number)
        except SandboxError as error:
            return error
        return suspended

    def _handle(self, event: _library.Event) -> None:
        self._what.take(event)
        if event.type == _library.END:
            self._finish(event)
        elif event.type == _library.CALL:
            self._call(event)
        elif event.type == _library.APPROVAL:
            self._approve(event)
        elif event.type == _library.CANCELLED:
            task = self._tasks.get(event.call)
            if task is not None:
                task.cancel()
        elif event.type in (_library.OUTPUT, _library.LOG, _library.PROMPT):
            self._listeners.hear(event)

    def _finish(self, event: _library.Event) -> None:
        if self._failure is not None:
            self.abandon(self._failure)
            return
        try:
            self._end.set_result(self._what.read_end(event))
        except Exception as failure:
            self.abandon(failure)

    # --- Calls ---

    def _call(self, event: _library.Event) -> None:
        call, calls, tool = event.call, self._sandbox._calls, self._tools.get(event.tool)
        if tool is None:
            calls.fail(call, f"the tool {event.tool} is that of another program")
            return
        try:
            value = self._context.run(tool.function, **read_json(event.json))
        except Suspended:
            raise
        except Exception as error:
            calls.fail_by(call, tool, error)
            return
        if inspect.isawaitable(value):
            self._spawn(call, value, lambda task: self._answer(call, tool, task))
        else:
            calls.answer(call, tool, value)

    def _answer(self, call: int, tool: Tool, task: asyncio.Future[Any]) -> None:
        calls = self._sandbox._calls
        if task.cancelled():
            calls.fail(call, "it was cancelled")
        elif isinstance(error := task.exception(), Suspended):
            self._fail(error)
        elif error is not None:
            calls.fail_by(call, tool, error)
        else:
            calls.answer(call, tool, task.result())

    def _approve(self, event: _library.Event) -> None:
        call, ask = event.call, self._listeners.on_approval
        approval = Approval(event.tool, json.loads(event.json), event.text)
        if ask is None:
            self._sandbox._calls.decide(call, approval.reject("nobody is there to approve it"))
            return
        answer = self._context.run(ask, approval)
        if inspect.isawaitable(answer):
            self._spawn(call, answer, lambda task: self._decide(call, task))
        else:
            self._sandbox._calls.decide(call, decision_of(answer))

    def _decide(self, call: int, task: asyncio.Future[Any]) -> None:
        try:
            decision = Decision(False, None, "it was cancelled") if task.cancelled() else decision_of(task.result())
            self._sandbox._calls.decide(call, decision)
        except Exception as failure:
            self._fail(failure)

    def _spawn(self, call: int, work: Awaitable[Any], done: Callable[[asyncio.Future[Any]], None]) -> None:
        # In a copy of the context of run(), as each task has one.
        task = self._context.run(asyncio.ensure_future, work)
        self._tasks[call] = task

        def finish(task: asyncio.Future[Any]) -> None:
            del self._tasks[call]
            if not self._end.done():
                done(task)
            elif not task.cancelled():
                task.exception()  # taken, so that asyncio does not report it as forgotten

        task.add_done_callback(finish)
