"""The Python package beside library.mjs, with the same lines: `library.py sync` or `library.py async`.

`library.py import` prints what it takes to import the module, and what the process has in memory, in bytes, before and
after it, and after a sandbox has run its first program.
"""

import sys
import time


def main_import() -> None:
    before = memory()
    start = time.perf_counter_ns()
    import lathe

    took, imported = time.perf_counter_ns() - start, memory()
    sandbox = lathe.Sandbox()
    sandbox.run("1+2")
    print(took, imported - before, memory() - imported)
    sandbox.close()


def memory() -> int:
    with open("/proc/self/smaps_rollup") as lines:
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private"))


def add(a: int, b: int) -> int:
    return a + b


PROGRAMS = {"plus": "1+2", "call": "add({a: 1, b: 2})"}


def lines():
    while line := sys.stdin.readline():
        what, _, count = line.strip().partition(" ")
        yield what, int(count or 0)


def tell(text: str) -> None:
    print(text, flush=True)


def main_sync() -> None:
    import lathe

    with lathe.Sandbox(tools=[add]) as sandbox:
        for what, count in lines():
            times = []
            for _ in range(count):
                start = time.perf_counter_ns()
                result = sandbox.run(PROGRAMS[what])
                times.append(time.perf_counter_ns() - start)
                assert result.value == 3
            tell(" ".join(map(str, times)) if count else f"lathe {lathe.library_version()}")


async def main_async() -> None:
    import lathe

    async with lathe.AsyncSandbox(tools=[add]) as sandbox:
        for what, count in lines():
            times = []
            for _ in range(count):
                start = time.perf_counter_ns()
                result = await sandbox.run(PROGRAMS[what])
                times.append(time.perf_counter_ns() - start)
                assert result.value == 3
            tell(" ".join(map(str, times)) if count else f"lathe {lathe.library_version()}")


if sys.argv[1] == "import":
    main_import()
elif sys.argv[1] == "sync":
    main_sync()
else:
    import asyncio

    asyncio.run(main_async())
