"""Lathe's package for Python beside host.mjs, with the same lines.

`host.py import` prints what it takes to import the module, and what the process has in memory, in bytes, before and
after it, and after a sandbox has run its first program.
"""

import asyncio
import gc
import json
import pathlib
import sys
import time

TOOL_S, SETTLE_S, TIMEOUT_S = 0.01, 3, 60
SMALL, LARGE = 128 << 20, 1500 << 20
SCRIPTS = pathlib.Path(__file__).parent.parent / "programs"
PROGRAMS = {
    "plus": "1+2",
    "call": "add({a: 1, b: 2})",
    "calls": "let sum = 0;\nfor (let i = 0; i < 100; i++) sum = add({a: sum, b: i});\nsum",
    "wait": "slow({});\n1+2",
    "read": "let read = 0;\nfor (const item of load({})) read += item.id + item.name.length + item.at.x"
    " + item.tags.length + (item.open ? 1 : 0);\nread",
}


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
    gc.collect()
    with open("/proc/self/smaps_rollup") as lines:
        return sum(int(line.split()[1]) * 1024 for line in lines if line.startswith(("Private", "Swap:")))


def check(value: object, expected: str) -> None:
    if str(value) != expected:
        raise ValueError(f"a wrong answer: {value} instead of {expected}")


class Host:
    """Programs one after the other run by Sandbox, programs at once by AsyncSandbox."""

    loaded: object = None
    held: "asyncio.Event | None" = None
    waiting = 0

    blocking: "lathe.Sandbox"
    sandbox: "lathe.AsyncSandbox"

    def times(self, count: int, expected: str, code: str, memory_bytes: int) -> "list[int]":
        took = []
        for _ in range(count):
            start = time.perf_counter_ns()
            result = self.blocking.run(code, timeout=TIMEOUT_S, memory_bytes=memory_bytes)
            took.append(time.perf_counter_ns() - start)
            check(result.value, expected)
        return took

    async def burst(self, count: int) -> "list[int]":
        start = time.perf_counter_ns()
        await self.at_once(count)
        return [time.perf_counter_ns() - start]

    async def live(self, count: int) -> "list[int]":
        await self.at_once(1)
        before, self.held, self.waiting = memory(), asyncio.Event(), 0
        ended = asyncio.ensure_future(self.at_once(count))
        while self.waiting < count and not ended.done():
            await asyncio.sleep(0.02)
        figures = [(memory() - before) // count]
        await asyncio.sleep(SETTLE_S)
        figures.append((memory() - before) // count)
        self.held.set()
        await ended
        self.held = None
        return figures

    async def at_once(self, count: int) -> None:
        async def one() -> None:
            check((await self.sandbox.run(PROGRAMS["wait"], timeout=TIMEOUT_S)).value, "3")

        await asyncio.gather(*[one() for _ in range(count)])

    async def answer(self, task: str, count: int, expected: str, what: str) -> str:
        import lathe

        if task == "name":
            return f"lathe {lathe.library_version()}"
        if task in ("burst", "live"):
            return " ".join(map(str, await getattr(self, task)(count)))
        if task == "read":
            self.loaded = json.loads(pathlib.Path(what).read_text())
        code = (SCRIPTS / f"{what}.js").read_text() if task == "script" else PROGRAMS[task]
        return " ".join(map(str, self.times(count, expected, code, LARGE if task == "read" else SMALL)))


async def main() -> None:
    import lathe

    host = Host()

    def add(a: int, b: int) -> int:
        return a + b

    def load() -> object:
        return host.loaded

    async def slow() -> None:
        if host.held is None:
            await asyncio.sleep(TOOL_S)
        else:
            host.waiting += 1
            await host.held.wait()

    host.blocking = lathe.Sandbox(tools=[add, load])
    async with lathe.AsyncSandbox(tools=[slow]) as host.sandbox:
        while line := sys.stdin.readline():
            task, count, expected, what = (line.split() + ["0", "", ""])[:4]
            try:
                answer = f"ok {await host.answer(task, int(count), expected, what)}"
            except Exception as error:
                answer = f"no {error}".splitlines()[0]
            print(answer, flush=True)


if sys.argv[1:] == ["import"]:
    main_import()
else:
    asyncio.run(main())
