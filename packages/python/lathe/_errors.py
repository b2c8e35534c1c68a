"""What can go wrong, as exceptions."""

from __future__ import annotations

from typing import Any


class SandboxError(Exception):
    """The base of all of them: the library could not do what it was asked."""

    #: The number of the library, lathe_status in lathe.h; 0 when the library was not asked.
    status: int = 0


class ConfigError(SandboxError, ValueError):
    """The configuration, a tool or an argument is wrong; the message says what, and where."""


class LimitError(SandboxError):
    """A limit of the library was reached, or there is no memory."""


class ClosedError(SandboxError):
    """The sandbox is closed, or belongs to the process that this one was forked from."""


class ProgramError(SandboxError):
    """The program failed. `str()` has the message and the place."""

    #: Of the failure, such as "TypeError: x is not a function".
    message: str
    #: Where it failed, from 1; None where that is not known.
    line: int | None
    column: int | None
    #: The lines of code around it, and the calls that led there; "" where they are not known.
    context: str
    stack: str
    #: What the program had put out and logged, and the calls of tools that it had made.
    outputs: list[str]
    logs: list[str]
    calls: list[dict[str, Any]]

    def __init__(self, message: str, report: dict[str, Any] | None = None) -> None:
        report = report or {}
        self.message = message
        self.line = report.get("line")
        self.column = report.get("column")
        self.context = report.get("context", "")
        self.stack = report.get("stack", "")
        self.outputs = report.get("outputs", [])
        self.logs = report.get("logs", [])
        self.calls = report.get("calls", [])
        super().__init__(message, report)

    def __str__(self) -> str:
        return f"{self.message} (line {self.line}, column {self.column})" if self.line else self.message


class ProgramTimeoutError(ProgramError, TimeoutError):
    """The program took longer than it may."""


class ProgramMemoryError(ProgramError, MemoryError):
    """The program needed more memory than it may."""


class ProgramCancelledError(ProgramError):
    """The program was cancelled."""


class PromptError(SandboxError):
    """The agent could not carry out the prompt, or it was cancelled."""

    #: "failed" or "cancelled".
    state: str
    #: Of the prompt and its conversation; "" where it did not get as far.
    id: str
    conversation: str
    #: What the prompt had put out by then, and what it had used, as in PromptResult.
    outputs: list[dict[str, Any]]
    usage: dict[str, Any]

    def __init__(self, message: str, report: dict[str, Any] | None = None, conversation: str = "") -> None:
        report = report or {}
        self.state = report.get("state", "cancelled")
        self.id = report.get("id", "")
        self.conversation = conversation
        self.outputs = report.get("output", [])
        self.usage = report.get("usage", {})
        super().__init__(message)


class Suspended(Exception):
    """Raised by a tool or by on_approval, to write the program down and end it: this exception comes out of run() then.

        def decide(approval):
            raise lathe.Suspended  # somebody decides tomorrow

        try:
            sandbox.run(code, can_snapshot=True, on_approval=decide)
        except lathe.Suspended as suspended:
            save(suspended.snapshot)  # for restore(), in this process or another one
    """

    #: The program with what its calls were answered, as JSON. Who can change it can approve: keep it accordingly.
    snapshot: str = ""


NOMEM, LIMIT, INVALID, SYNTAX, CONFIG, CLOSED = 1, 2, 3, 4, 6, 8
TIMEOUT, CANCELLED, UNSUPPORTED, FORKED = 10, 11, 18, 100

_of_calls: dict[int, type[SandboxError]] = {
    NOMEM: LimitError,
    LIMIT: LimitError,
    INVALID: ConfigError,
    SYNTAX: ConfigError,
    CONFIG: ConfigError,
    UNSUPPORTED: ConfigError,
    CLOSED: ClosedError,
    FORKED: ClosedError,
}
_of_programs: dict[int, type[ProgramError]] = {
    NOMEM: ProgramMemoryError,
    TIMEOUT: ProgramTimeoutError,
    CANCELLED: ProgramCancelledError,
}


def error_of_call(status: int, message: str) -> SandboxError:
    """What a function of the library said."""
    error = _of_calls.get(status, SandboxError)(message)
    error.status = status
    return error


def error_of_program(status: int, message: str, report: dict[str, Any]) -> SandboxError:
    """How a run ended. One that never began has no report: then an argument was wrong, or the library failed."""
    if "durationMs" not in report and status not in _of_programs:
        return error_of_call(status, message)
    error = _of_programs.get(status, ProgramError)(message, report)
    error.status = status
    return error


def error_of_prompt(status: int, message: str, report: dict[str, Any], conversation: str) -> SandboxError:
    """How a prompt ended. One that never began has no report, as a program."""
    if "state" not in report and status != CANCELLED:
        return error_of_call(status, message)
    error = PromptError(message, report, conversation)
    error.status = status
    return error
