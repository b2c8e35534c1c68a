"""Code mode for language-model agents: runs the programs that models write, with your functions as their tools.

    import lathe

    def add(a: int, b: int) -> int:
        "Adds two numbers."
        return a + b

    with lathe.Sandbox(tools=[add]) as sandbox:
        print(sandbox.run("add({a: 1, b: 2}) * 10").value)  # 30

A program runs in the sandbox of liblathe, inside this process; `prompt()` has a model write the programs. `Sandbox` waits for a program; `AsyncSandbox` is the same
for asyncio. Importing the module loads no library: the first sandbox does (`LATHE_LIBRARY` says where it is, if it is
neither in this package nor where the system looks).
"""

from ._attachments import Attachment
from ._errors import (
    ClosedError,
    ConfigError,
    LimitError,
    ProgramCancelledError,
    ProgramError,
    ProgramMemoryError,
    ProgramTimeoutError,
    PromptError,
    SandboxError,
    Suspended,
)
from ._sandbox import Approval, Decision, PromptResult, Result, Sandbox
from ._tools import Tool, tool

__all__ = [
    "Approval",
    "AsyncSandbox",
    "Attachment",
    "ClosedError",
    "ConfigError",
    "Decision",
    "LimitError",
    "ProgramCancelledError",
    "ProgramError",
    "ProgramMemoryError",
    "ProgramTimeoutError",
    "PromptError",
    "PromptResult",
    "Result",
    "Sandbox",
    "SandboxError",
    "Suspended",
    "Tool",
    "library_version",
    "tool",
]

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._async_sandbox import AsyncSandbox


def library_version() -> str:
    """The version of liblathe, such as "0.1.0"."""
    from ._library import library

    return library().lathe_version().decode()


def __getattr__(name: str) -> object:
    # asyncio takes longer to import than everything else here together.
    if name == "AsyncSandbox":
        from ._async_sandbox import AsyncSandbox

        globals()[name] = AsyncSandbox
        return AsyncSandbox
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
