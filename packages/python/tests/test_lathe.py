"""The package as its users meet it: LATHE_LIBRARY names the library."""

import asyncio
import base64
import contextvars
import functools
import gc
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import typing
import unittest

import lathe


def add(a: int, b: int = 2) -> int:
    """Adds two numbers.

    Args:
        a: the first
            note: an integer
        b (int): the second
    """
    return a + b


def raises(error: BaseException) -> typing.Callable[[], None]:
    def fail() -> None:
        raise error

    return fail


#: An image of one pixel.
DOT = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


def fake_model(test: type[unittest.TestCase], replies: dict[str, list[str]]) -> dict[str, typing.Any]:
    """A configuration with a recorded model, which answers a prompt of this text with these replies in turn."""
    root = pathlib.Path(__file__).parents[3]
    folder = tempfile.TemporaryDirectory()
    test.addClassCleanup(folder.cleanup)
    recording = pathlib.Path(folder.name, "recording.json")
    recording.write_text(json.dumps({"turns": [{"user": user, "replies": texts} for user, texts in replies.items()]}))
    server = subprocess.Popen(
        ["node", str(root / "examples/recorded-model.mjs"), str(recording)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    for end in (server.wait, server.stdout.close, server.stdin.close):  # it ends with its input; the last one is first
        test.addClassCleanup(end)
    port = server.stdout.readline().decode().removeprefix("PORT ").strip()
    return {
        "models": [{"ref": "fake", "baseUrl": f"http://127.0.0.1:{port}/v1"}],
        "defaults": {"model": "fake", "mode": "code"},
        "store": f"sqlite:{folder.name}/lathe.db",
    }


class Unpublished(unittest.TestCase):
    def test_has_the_version_of_the_library_and_cannot_be_uploaded(self) -> None:
        text = (pathlib.Path(__file__).parent.parent / "pyproject.toml").read_text()
        self.assertEqual(re.findall(r'^version = "(.*)"', text, re.M), [lathe.library_version()])
        self.assertIn("Private :: Do Not Upload", text)

    def test_says_what_to_do_without_the_library(self) -> None:
        code = "import lathe; lathe.Sandbox()"
        environment = {**os.environ, "LATHE_LIBRARY": "/nowhere/liblathe.so"}
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        self.assertRegex(done.stderr, r"SandboxError: liblathe cannot be loaded: /nowhere.*set LATHE_LIBRARY")


class Tools(unittest.TestCase):
    def test_are_read_from_the_function(self) -> None:
        tool = lathe.tool(add)
        self.assertEqual((tool.name, tool.description), ("add", "Adds two numbers."))
        self.assertEqual(
            tool.input_schema,
            {
                "type": "object",
                "properties": {
                    "a": {"type": "integer", "description": "the first note: an integer"},
                    "b": {"type": "integer", "description": "the second", "default": 2},
                },
                "required": ["a"],
                "additionalProperties": False,
            },
        )
        self.assertEqual(tool.output_schema, {"type": "integer"})

    def test_have_the_schemas_of_annotations(self) -> None:
        Point = typing.TypedDict("Point", {"x": float, "y": float})

        def draw(
            points: list[Point],
            colour: typing.Literal["red", "blue"],
            size: typing.Annotated[int | None, "in pixels"] = None,
            names: dict[str, str] | None = None,
            pair: tuple[int, str] = (1, ""),
            anything: typing.Any = None,
            **more: object,
        ) -> set[int]:
            """Draws.

            :param points: where
            :returns: what
            """
            return set()

        number = {"type": "number"}
        point = {"type": "object", "properties": {"x": number, "y": number}, "required": ["x", "y"]}
        schema = lathe.tool(draw).input_schema
        self.assertEqual(schema["required"], ["points", "colour"])
        self.assertTrue(schema["additionalProperties"])
        self.assertEqual(
            schema["properties"],
            {
                "points": {"type": "array", "items": point, "description": "where"},
                "colour": {"enum": ["red", "blue"]},
                "size": {"anyOf": [{"type": "integer"}, {"type": "null"}], "description": "in pixels"},
                "names": {"anyOf": [{"type": "object", "additionalProperties": {"type": "string"}}, {"type": "null"}]},
                "pair": {
                    "type": "array",
                    "prefixItems": [{"type": "integer"}, {"type": "string"}],
                    "minItems": 2,
                    "maxItems": 2,
                },
                "anything": {},
            },
        )
        self.assertIsNone(lathe.tool(draw).output_schema)

    def test_may_be_anything_that_can_be_called(self) -> None:
        class Adder:
            def __call__(self, a: int) -> int:
                """Adds."""
                return a

            def method(self, a: int) -> int:
                """Adds."""
                return a

        cached = functools.lru_cache(Adder().method)
        for function in (Adder(), Adder().method, cached, functools.partial(add, b=1)):
            tool = lathe.tool(function, name="it")
            self.assertRegex(tool.description, "^Adds")
            self.assertEqual((tool.input_schema["properties"]["a"]["type"], tool.input_schema["required"]), ("integer", ["a"]))

    def test_that_json_cannot_call_are_refused(self) -> None:
        def sets(items: set[int]) -> None: ...
        def positional(a: int, /) -> None: ...
        async def later() -> None: ...

        with self.assertRaisesRegex(lathe.ConfigError, "parameter items of the tool sets is set, which JSON"):
            lathe.tool(sets)
        with self.assertRaisesRegex(lathe.ConfigError, "parameter a cannot"):
            lathe.tool(positional)
        with self.assertRaisesRegex(lathe.ConfigError, "async function: lathe.AsyncSandbox"):
            lathe.Sandbox(tools=[later])
        with self.assertRaisesRegex(lathe.ConfigError, "<lambda>. has no name"):
            lathe.Sandbox(tools=[lambda: 1])
        with self.assertRaisesRegex(lathe.ConfigError, "built-in plugin"):
            lathe.Sandbox(tools={"artifact.mine": add})


class Sync(unittest.TestCase):
    def setUp(self) -> None:
        self.sandbox = lathe.Sandbox(tools=[add])
        self.addCleanup(self.sandbox.close)

    def test_a_program_calls_a_function(self) -> None:
        said: list[str] = []
        result = self.sandbox.run(
            "output('o'); console.log('l'); add({a: input.n}) * 10", input={"n": 1}, on_output=said.append, on_log=said.append
        )
        self.assertEqual((result.value, result.outputs, result.logs, said), (30, ["o"], ["l"], ["o", "l"]))
        self.assertEqual(result.calls, [{"tool": "add", "input": {"a": 1}, "result": 3}])
        self.assertEqual(self.sandbox.run("const n: number = 1; n + 1", language="ts").value, 2)
        self.assertIsNone(self.sandbox.run("undefined").value)

    def test_a_failure_has_its_place(self) -> None:
        with self.assertRaises(lathe.ProgramError) as caught:
            self.sandbox.run("output('before');\nnull.x")
        error = caught.exception
        self.assertEqual((error.line, error.column, error.outputs), (2, 1, ["before"]))
        self.assertRegex(error.message, "^TypeError: ")
        self.assertIn("(line 2, column 1)", str(error))
        self.assertIn("(2:1)", error.stack)
        self.assertEqual(self.sandbox.check("1 +")[0]["line"], 1)

    def test_limits(self) -> None:
        with self.assertRaises(TimeoutError) as caught:
            self.sandbox.run("while (true);", timeout=0.05)
        self.assertIsInstance(caught.exception, lathe.ProgramTimeoutError)
        with self.assertRaises(MemoryError):
            self.sandbox.run("const a = []; for (;;) a.push(new Array(1e5).fill(1))", memory_bytes=16 << 20)

    def test_what_a_tool_raises_is_an_exception_in_the_program(self) -> None:
        tools = {
            "bad": raises(KeyError("k")),
            "sets": lambda: {1},
            "nan": lambda: float("nan"),
            "deep": lambda: deep,
            "surrogate": lambda: "\ud800",
        }
        deep: list[typing.Any] = []
        for _ in range(900):
            deep = [deep]
        code = "Object.fromEntries(Object.entries({bad, sets, nan, deep}).map(([n, f]) => { try { return [n, f()] } catch (e) { return [n, e.message] } }))"
        value = self.sandbox.run(code, tools=tools).value
        self.assertEqual(value["bad"], "Tool \"bad\" failed: KeyError: 'k'")
        self.assertIn("the result of the tool sets is not JSON", value["sets"])
        self.assertIn("the result of the tool nan is not JSON", value["nan"])
        self.assertIn("the result of the tool deep", str(value["deep"]))

    def test_an_interrupt_in_a_tool_ends_the_program(self) -> None:
        with self.assertRaises(KeyboardInterrupt):
            self.sandbox.run("for (;;) stop({})", tools={"stop": raises(KeyboardInterrupt())})
        with self.assertRaisesRegex(ValueError, "mine"):
            self.sandbox.run("output('x'); for (;;);", on_output=lambda text: raises(ValueError("mine"))())

    def test_an_interrupt_ends_a_program_that_calls_nothing(self) -> None:
        begun = threading.Event()

        def interrupt() -> None:
            begun.wait(60)
            os.kill(os.getpid(), signal.SIGINT)

        interrupter = threading.Thread(target=interrupt)
        interrupter.start()
        with self.assertRaises(KeyboardInterrupt):
            self.sandbox.run("begin({}); for (;;);", tools={"begin": begun.set})
        interrupter.join()
        self.assertEqual(self.sandbox.run("add({a: 1})").value, 3)

    def test_a_signal_ends_a_program_that_waits(self) -> None:
        before = signal.signal(signal.SIGALRM, lambda *_: raises(ValueError("it is time"))())
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            with self.assertRaisesRegex(ValueError, "it is time"):
                self.sandbox.run("sleep(60000)", timeout=60)
        finally:
            signal.signal(signal.SIGALRM, before)

    def test_approvals(self) -> None:
        order = lathe.tool(lambda **given: given, name="order", approval="it spends money")
        asked: list[lathe.Approval] = []

        def run(decide: typing.Callable[[lathe.Approval], typing.Any] | None) -> typing.Any:
            return self.sandbox.run("order({item: 'tea'})", tools=[order], on_approval=decide).value

        self.assertEqual(run(lambda approval: asked.append(approval) or True), {"item": "tea"})
        self.assertEqual(asked, [lathe.Approval("order", {"item": "tea"}, "it spends money")])
        self.assertEqual(run(lambda approval: approval.approve({"item": "coffee"})), {"item": "coffee"})
        for decide, why in ((None, "nobody is there"), (lambda a: a.reject("too much"), "too much"), (lambda a: False, "")):
            with self.assertRaisesRegex(lathe.ProgramError, f"not approved.*{why}"):
                run(decide)
        with self.assertRaisesRegex(TypeError, "a bool or a lathe.Decision"):
            run(lambda approval: "yes")

    def test_a_suspended_program_goes_on_in_another_sandbox(self) -> None:
        order = lathe.tool(lambda item: f"{item} is on its way", name="order", approval="it spends money")
        asked: list[int] = []

        def count(a: int) -> int:
            asked.append(a)
            return a

        later = raises(lathe.Suspended())
        with self.assertRaises(lathe.Suspended) as caught:
            self.sandbox.run(
                "output('o'); [count({a: input}), order({item: 'tea'})]",
                input=7,
                tools=[count, order],
                can_snapshot=True,
                on_approval=lambda approval: later(),
            )
        said: list[str] = []
        with lathe.Sandbox(tools=[count, order], on_approval=lambda approval: True) as other:
            result = other.restore(caught.exception.snapshot, on_output=said.append)
            with self.assertRaisesRegex(lathe.ConfigError, "no snapshot"):
                other.restore("{}")
        self.assertEqual((result.value, asked, said), ([7, "tea is on its way"], [7], ["o"]))
        with self.assertRaises(lathe.Suspended) as caught:
            self.sandbox.run("wait({})", tools={"wait": later}, can_snapshot=True)
        with self.assertRaisesRegex(lathe.SandboxError, '"wait", which is not there'):
            self.sandbox.restore(caught.exception.snapshot)
        with self.assertRaisesRegex(lathe.ConfigError, "without can_snapshot"):
            self.sandbox.run("wait({})", tools={"wait": later})

    def test_tools_of_one_run_are_gone_after_it(self) -> None:
        self.assertEqual(self.sandbox.run("add({})", tools={"add": lambda: "own"}).value, "own")
        self.assertEqual(self.sandbox.run("add({a: 1})").value, 3)
        self.sandbox.run("extra({})", tools={"extra": lambda: 1})
        with self.assertRaisesRegex(lathe.ProgramError, "extra"):
            self.sandbox.run("extra({})")
        self.sandbox.add_tool(lambda: 7, name="extra")
        self.assertEqual(self.sandbox.run("extra({})").value, 7)
        self.assertIn("extra", self.sandbox.declare())
        self.assertEqual(self.sandbox.search("Adds two numbers", 1)[0]["id"], "add")
        self.sandbox.remove_tool("extra")
        with self.assertRaises(lathe.SandboxError):
            self.sandbox.remove_tool("extra")

    def test_a_program_keeps_the_tools_that_it_began_with(self) -> None:
        self.sandbox.add_tool(lambda: self.sandbox.add_tool(lambda: "new", name="later") or "called", name="change")
        self.sandbox.add_tool(lambda: "old", name="later")
        self.assertEqual(self.sandbox.run("[change({}), later({})]").value, ["called", "old"])
        self.assertEqual(self.sandbox.run("later({})").value, "new")
        with self.assertRaisesRegex(lathe.ConfigError, "built-in plugin"):
            self.sandbox.run("1", tools={"leftover": add, "artifact.mine": add})
        self.assertNotIn("leftover", self.sandbox.declare())

    def test_bad_arguments(self) -> None:
        for options, why in (
            ({"code": "a\0b"}, "NUL"),
            ({"code": "\ud800"}, "not Unicode"),
            ({"code": ""}, "no code"),
            ({"code": "1", "language": "cobol"}, "no language"),
            ({"code": "1", "input": {1}}, "input is not JSON"),
            ({"code": "1", "timeout": -1}, "timeout"),
            ({"code": "1", "memory_bytes": 5}, "memory_bytes"),
        ):
            with self.subTest(why), self.assertRaisesRegex(lathe.ConfigError, why):
                self.sandbox.run(**options)
        with self.assertRaisesRegex(lathe.ConfigError, 'did you mean "timeoutMs"'):
            lathe.Sandbox({"sandbox": {"timeout": 1}})
        with self.assertRaisesRegex(lathe.ConfigError, "config is not JSON"):
            lathe.Sandbox({"sandbox": {1}})
        with self.assertRaises(TypeError):
            self.sandbox.run(b"1")  # type: ignore[arg-type]

    def test_threads_run_beside_each_other_and_are_waited_for(self) -> None:
        meeting, values = threading.Barrier(4, timeout=60), []

        def run(i: int) -> None:
            values.append(self.sandbox.run("meet({})", tools={"meet": lambda: meeting.wait() * 0 + i}).value)

        threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(values), [0, 1, 2, 3])
        begun, go = threading.Event(), threading.Event()
        late = threading.Thread(target=lambda: values.append(self.sandbox.run("wait({})", tools={"wait": lambda: begun.set() or go.wait(60)}).value))
        late.start()
        begun.wait(60)
        closing = threading.Thread(target=self.sandbox.close)
        closing.start()
        go.set()
        closing.join()
        late.join()
        self.assertEqual(values[-1], True)
        with self.assertRaises(lathe.ClosedError):
            self.sandbox.run("1")

    def test_a_tool_cannot_close_its_sandbox(self) -> None:
        with self.assertRaisesRegex(lathe.ProgramError, "cannot be closed by"):
            self.sandbox.run("close({})", tools={"close": self.sandbox.close})

    def test_a_forked_child_is_told(self) -> None:
        child = os.fork()
        if child == 0:
            try:
                self.sandbox.run("1")
            except lathe.ClosedError:
                os._exit(7)
            os._exit(1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)

    def test_one_that_was_not_closed_warns(self) -> None:
        with self.assertWarns(ResourceWarning):
            lathe.Sandbox()
            gc.collect()

    def test_warnings_are_told(self) -> None:
        config = {"mcpServers": {"docs": {"url": "http://127.0.0.1:1/mcp"}}}
        told: list[str] = []
        lathe.Sandbox(config, on_warning=told.append).close()
        self.assertIn("docs", told[0])
        with self.assertLogs("lathe", "WARNING"):
            lathe.Sandbox(config).close()


class SyncOnAnotherThread(Sync):

    # Signals come to the main thread.
    test_an_interrupt_ends_a_program_that_calls_nothing = None  # type: ignore[assignment]
    test_a_signal_ends_a_program_that_waits = None  # type: ignore[assignment]

    def run(self, result: unittest.TestResult | None = None) -> None:  # type: ignore[override]
        thread = threading.Thread(target=super().run, args=(result,))
        thread.start()
        thread.join()

    def test_a_program_within_a_program(self) -> None:
        inner = {"inner": lambda: self.sandbox.run("add({a: 1, b: 2}) + 1").value}
        self.assertEqual(self.sandbox.run("inner({}) * 10", tools=inner).value, 40)

    def test_a_program_that_is_not_recorded_cannot_be_suspended(self) -> None:
        with self.assertRaisesRegex(lathe.SandboxError, "can_snapshot"):
            self.sandbox.run("wait({})", tools={"wait": raises(lathe.Suspended())})


class Prompts(unittest.IsolatedAsyncioTestCase):
    config: dict[str, typing.Any]

    @classmethod
    def setUpClass(cls) -> None:
        how_much, done = "```js\noutput(stock({item: 'tea'}))\n```", "```js\noutput('That is all.'); done()\n```"
        files = "[Attached: dot.png][Attached: attachment]\n# Notes\n[Attached: dot]What is this?"
        cls.config = fake_model(
            cls, {"How much tea?": [how_much, done], "And now?": [done], files: [done], "Nothing": []}
        )

    def test_a_prompt(self) -> None:
        stock = lathe.tool(lambda item: {"tea": 41}[item], name="stock", approval="it is far to go")
        events: list[tuple[str, dict[str, typing.Any]]] = []
        approvals: list[lathe.Approval] = []
        with lathe.Sandbox(self.config, tools=[stock]) as sandbox:
            result = sandbox.prompt(
                "How much tea?",
                on_approval=lambda approval: approvals.append(approval) or True,
                on_event=lambda name, data: events.append((name, data)),
            )
            self.assertEqual((result.text, result.state), ("41\nThat is all.", "completed"))
            self.assertEqual(result.usage["requests"], 2)
            self.assertEqual([one["function"] for one in result.outputs if one["type"] == "tool"][:2], ["code.execute", "stock"])
            self.assertEqual(approvals, [lathe.Approval("stock", {"item": "tea"}, approvals[0].reason)])
            self.assertIn("it is far to go", approvals[0].reason)
            self.assertEqual((events[0][0], events[-1][0]), ("prompt.created", "prompt.completed"))
            self.assertEqual((events[0][1]["promptId"], events[0][1]["conversationId"]), (result.id, result.conversation))
            again = sandbox.prompt("And now?", conversation=result.conversation, mode="code", model="fake")
            self.assertEqual((again.text, again.conversation), ("That is all.", result.conversation))
            self.assertNotEqual(again.id, result.id)

    def test_failures(self) -> None:
        with lathe.Sandbox(self.config, tools={"stock": lambda item: 1}) as sandbox:
            with self.assertRaisesRegex(lathe.PromptError, "nothing was for this") as caught:
                sandbox.prompt("Nothing")
            error = caught.exception
            self.assertEqual((error.state, error.outputs, len(error.id), len(error.conversation)), ("failed", [], 32, 32))
            for options, kind, why in (
                ({"mode": "waltz"}, lathe.ConfigError, "waltz"),
                ({"conversation": "0" * 32}, lathe.SandboxError, "Conversation"),
                ({"user": ""}, lathe.ConfigError, "user"),
            ):
                with self.assertRaisesRegex(kind, why):
                    sandbox.prompt("And now?", **options)
            with self.assertRaisesRegex(ValueError, "mine"):
                sandbox.prompt("And now?", on_event=lambda name, data: raises(ValueError("mine"))())
            with self.assertRaises(KeyboardInterrupt):
                sandbox.prompt("How much tea?", tools={"stock": lambda item: raises(KeyboardInterrupt())()})
        with lathe.Sandbox() as sandbox, self.assertRaisesRegex(lathe.ConfigError, "models"):
            sandbox.prompt("And now?")

    async def test_files_go_with_a_prompt(self) -> None:
        own = tempfile.TemporaryDirectory()
        self.addCleanup(own.cleanup)
        folder = pathlib.Path(own.name)
        path, broken = folder / "dot.png", folder / "broken.png"
        path.write_bytes(DOT)
        broken.write_text("<html>")
        os.mkfifo(folder / "pipe")
        files = [path, b"# Notes\n", lathe.Attachment(memoryview(DOT), "image/png", "dot")]
        with lathe.Sandbox(self.config) as sandbox:
            # The fake model answers this text and these attachments only.
            self.assertEqual(sandbox.prompt("What is this?", attachments=files).text, "That is all.")
            for wrong, kind, why in (
                ("dot.png", lathe.ConfigError, "a list"),
                ([3], lathe.ConfigError, "not int"),
                ([lathe.Attachment("text")], lathe.ConfigError, "bytes, not str"),
                ([str(broken)], lathe.ConfigError, '"broken.png": it is named like an image'),
                ([lathe.Attachment(b"<html>", "image/png")], lathe.ConfigError, "media type is that of an image"),
                ([b""], lathe.ConfigError, "empty"),
                ([folder / "pipe"], lathe.ConfigError, "no file"),
                ([folder / "none.png"], FileNotFoundError, "none.png"),
                ([b"a" * 600_000], lathe.LimitError, "512 KiB"),
                ([b"a"] * 21, lathe.ConfigError, "at most 20"),
            ):
                with self.assertRaisesRegex(kind, why):
                    sandbox.prompt("What is this?", attachments=wrong)
        async with lathe.AsyncSandbox(self.config) as sandbox:
            self.assertEqual((await sandbox.prompt("What is this?", attachments=iter(files))).text, "That is all.")

    async def test_a_prompt_that_its_process_leaves_goes_on(self) -> None:
        begun, ids = asyncio.Event(), []

        async def stock(item: str) -> int:
            begun.set()
            return await asyncio.Future()

        def hear(name: str, data: dict[str, typing.Any]) -> None:
            ids.append(data["promptId"])

        read_only = lathe.tool(stock, read_only=True)
        sandbox = lathe.AsyncSandbox(self.config, tools=[read_only])
        await sandbox.open()
        task = asyncio.create_task(sandbox.prompt("How much tea?", on_event=hear))
        await begun.wait()
        await sandbox.close()
        with self.assertRaises(lathe.ClosedError):
            await task
        async with lathe.AsyncSandbox(self.config, tools=[lathe.tool(lambda item: 5, name="stock", read_only=True)]) as sandbox:
            result = await sandbox.resume_prompt(ids[0])
            self.assertEqual((result.text, result.id, len(result.conversation)), ("5\nThat is all.", ids[0], 32))

    async def test_cancelling_the_task_cancels_the_prompt(self) -> None:
        begun, events = asyncio.Event(), []

        async def stock(item: str) -> None:
            begun.set()
            await asyncio.Event().wait()

        async with lathe.AsyncSandbox(self.config, tools=[stock]) as sandbox:
            task = asyncio.create_task(sandbox.prompt("How much tea?", on_event=lambda name, data: events.append(name)))
            await begun.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
        self.assertEqual(events[-1], "prompt.cancelled")


class Async(unittest.IsolatedAsyncioTestCase):
    async def test_async_tools_run_at_once_with_the_variables_of_the_caller(self) -> None:
        who: contextvars.ContextVar[str] = contextvars.ContextVar("who", default="nobody")
        inside = 0
        all_inside = asyncio.Event()

        async def meet() -> str:
            nonlocal inside
            inside += 1
            if inside == 3:
                all_inside.set()
            await all_inside.wait()
            return who.get()

        async with lathe.AsyncSandbox(tools=[meet, add]) as sandbox:
            who.set("me")
            result = await sandbox.run("await Promise.all([meet({}), meet({}), meet({})])")
            self.assertEqual(result.value, ["me"] * 3)
            many = (sandbox.run("own({})", tools={"own": (lambda i: lambda: i)(i)}) for i in range(50))
            self.assertEqual([one.value for one in await asyncio.gather(*many)], list(range(50)))
            self.assertEqual((await sandbox.run("add({a: 1})")).value, 3)
            self.assertEqual((await sandbox.check("1 +"))[0]["line"], 1)

    async def test_the_loop_goes_on_while_a_program_computes_or_waits(self) -> None:
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.005)
                turns += 1

        async def later(n: int) -> int:
            await asyncio.sleep(0.02)
            return n

        async with lathe.AsyncSandbox(tools=[add, later]) as sandbox:
            counting = asyncio.create_task(count())
            code = "let n = add({a: 1}); n += later({n: 2}); sleep(5); n + add({a: 1})"
            self.assertEqual((await sandbox.run(code)).value, 8)
            with self.assertRaises(lathe.ProgramTimeoutError):
                await sandbox.run("add({a: 1}); for (;;);", timeout=0.2)
            counting.cancel()
            self.assertGreater(turns, 1)
            for _ in range(20):  # each of them alone
                self.assertEqual((await sandbox.run("let n = 0; for (let i = 0; i < 1e5; i++); add({a: n})")).value, 2)

    async def test_cancelling_the_task_cancels_program_and_tool(self) -> None:
        begun, events = asyncio.Event(), []

        async def forever() -> None:
            begun.set()
            try:
                await asyncio.Event().wait()
            finally:
                events.append("tool")

        async with lathe.AsyncSandbox(tools=[forever]) as sandbox:
            task = asyncio.create_task(sandbox.run("forever({})"))
            await begun.wait()
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            await asyncio.sleep(0)
            self.assertEqual(events, ["tool"])
            with self.assertRaises(asyncio.TimeoutError):
                await asyncio.wait_for(sandbox.run("for (;;);"), 0.05)
            with self.assertRaises(lathe.ProgramTimeoutError):
                await sandbox.run("forever({})", timeout=0.05)

    async def test_approvals_and_failures(self) -> None:
        @lathe.tool(approval="it spends money")
        async def order(item: str) -> str:
            if item == "gold":
                raise ValueError("sold out")
            return item

        async def decide(approval: lathe.Approval) -> lathe.Decision:
            await asyncio.sleep(0)
            return approval.approve({"item": "coffee"})

        async with lathe.AsyncSandbox(tools=[order]) as sandbox:
            self.assertEqual((await sandbox.run("order({item: 'tea'})", on_approval=decide)).value, "coffee")
            with self.assertRaisesRegex(lathe.ProgramError, "ValueError: sold out"):
                await sandbox.run("order({item: 'gold'})", on_approval=lambda approval: True)
            with self.assertRaisesRegex(lathe.ProgramError, "nobody is there"):
                await sandbox.run("order({item: 'tea'})")
            with self.assertRaises(ZeroDivisionError):
                await sandbox.run("order({item: 'tea'})", on_approval=lambda approval: bool(1 / 0))

    async def test_a_suspended_program_goes_on_in_another_sandbox(self) -> None:
        async def wait(a: int) -> None:
            await asyncio.sleep(0)
            raise lathe.Suspended

        snapshots = []
        async with lathe.AsyncSandbox(tools=[wait, add]) as sandbox:
            for tool in (wait, lambda a: raises(lathe.Suspended())()):
                with self.assertRaises(lathe.Suspended) as caught:
                    await sandbox.run("wait({a: add({a: 1})}) + 1", tools={"wait": tool}, can_snapshot=True)
                snapshots.append(caught.exception.snapshot)
            with self.assertRaisesRegex(lathe.ConfigError, "without can_snapshot"):
                await sandbox.run("wait({a: 1})")
        async with lathe.AsyncSandbox(tools={"wait": lambda a: a * 10, "add": lambda a: 0}) as sandbox:
            for snapshot in snapshots:
                self.assertEqual((await sandbox.restore(snapshot)).value, 31)

    async def test_closing_ends_what_runs(self) -> None:
        begun = asyncio.Event()

        async def forever() -> None:
            begun.set()
            await asyncio.Event().wait()

        sandbox = lathe.AsyncSandbox(tools=[forever])
        with self.assertRaises(lathe.ClosedError):
            await sandbox.run("1")
        await sandbox.open()
        task = asyncio.create_task(sandbox.run("forever({})"))
        await begun.wait()
        await sandbox.close()
        await sandbox.close()
        with self.assertRaises(lathe.ClosedError):
            await task

    async def test_opening_tells_what_is_wrong(self) -> None:
        with self.assertRaises(lathe.ConfigError):
            async with lathe.AsyncSandbox("sandbox: 3"):
                pass


if __name__ == "__main__":
    unittest.main()
