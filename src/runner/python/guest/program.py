"""A program's process, from the fork to its end: its streams and walls, its run, and the report of its end."""
import atexit
import builtins
import fcntl
import io
import linecache
import os
import signal
import sys
import textwrap
import threading
import types

FILE = "program.py"
HIGH = 100  # Lathe's descriptors are above those that a program is likely to use
STACK_FRAMES = 20
TRIES = 100
LONGEST = 1 << 20  # characters of an error's text


def live(parent, connection, output, workspace, walls):
    os.setsid()
    walls.leave_with_parent(parent)
    connection = move_descriptors(connection, output)
    reopen_streams()
    os.chdir(workspace)
    os.environ["HOME"] = os.environ["TMPDIR"] = workspace
    bridge = Bridge(connection)
    try:
        walls.narrow_files(workspace)
        walls.prepare()
        rehearse(bridge)
        block_forks()
        start = await_start(bridge)
        walls.limit(start["limits"])
        walls.narrow_calls()
    except OSError as e:
        bridge.send(FAILED, body=to_json({"kind": "walls", "error": str(e)}).encode())
        os._exit(0)
    run(bridge, start, walls)


def rehearse(bridge):
    """Runs a tiny program, so that memory pages that any program writes to are copied now, not while a run waits."""
    start = from_json('{"code": "def f(a):\\n  return [a]\\nf(1)\\n", "tools": {}, "input": null}')
    main = {"__name__": "rehearsal"}
    main.update(make_api(bridge, start))
    builtins.__dict__.update(Value().names())
    exec(prepare(start["code"]), main)
    from_json(encode(main["f"]({"a": "b"})))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.stack_size(2 << 20)
    sys.path.append(os.getcwd())
    if hasattr(sys, "set_int_max_str_digits"):
        sys.set_int_max_str_digits(0)  # the deadline bounds its time


def await_start(bridge):
    try:
        _, body = bridge.wait_for(0)
    except ToolError:
        os._exit(0)  # Lathe does not need this process
    return from_json(body)


def move_descriptors(connection, output):
    """Makes stdin empty and stdout and stderr one pipe, and moves the connection to a high descriptor."""
    null = os.open("/dev/null", os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output, 1)
    os.dup2(output, 2)
    connection = fcntl.fcntl(connection, fcntl.F_DUPFD_CLOEXEC, HIGH)
    os.closerange(3, HIGH)
    return connection


def reopen_streams():
    def text(fd, mode):
        raw = io.FileIO(fd, mode, closefd=False)
        buffer = io.BufferedReader(raw) if mode == "r" else io.BufferedWriter(raw)
        return io.TextIOWrapper(buffer, "utf-8", "backslashreplace" if mode == "w" else "surrogateescape",
                                line_buffering=mode == "w")
    sys.stdin = sys.__stdin__ = text(0, "r")
    sys.stdout = sys.__stdout__ = text(1, "w")
    sys.stderr = sys.__stderr__ = text(2, "w")


def run(bridge, start, walls):
    carry_out = check if start.get("check") else execute
    failure = attempt_all(walls, lambda: carry_out(prepare(start["code"]), world(bridge, start), bridge))
    if failure is None:
        failure = attempt_all(walls, wait_for_threads)
    flush()
    for _ in range(TRIES):
        try:
            bridge.send(DONE if failure is None else FAILED, body=failure or b"")
            os._exit(0)
        except Closed:  # the exit code reports the end
            os._exit(0 if failure is None else 1)
        except BaseException:  # from a signal handler: try again
            pass
    os._exit(1)


def attempt_all(walls, f):
    """The report of f's failure; None: it succeeded."""
    try:
        f()
        return None
    except BaseException as e:
        walls.reserve.close()  # the report that there is no memory takes memory
        return None if is_plain_exit(e) else describe(e)


def is_plain_exit(e):
    return isinstance(e, SystemExit) and (e.code is None or isinstance(e.code, int) and e.code == 0)


def flush():
    for stream in ("stdout", "stderr"):
        try:
            getattr(sys, stream).flush()
        except BaseException:
            pass


def wait_for_threads():
    """Does what Python does when it ends."""
    threading._shutdown()
    atexit._run_exitfuncs()


def prepare(text):
    text = text.removeprefix("\ufeff")
    if text.lstrip("\n")[:1] in (" ", "\t"):
        text = textwrap.dedent(text)
    linecache.cache[FILE] = (len(text), None, text.splitlines(True), FILE)
    tree = compile(text, FILE, "exec", PARSE, dont_inherit=True)
    refuse_processes(text, tree)
    return compile(with_value(tree, text), FILE, "exec", PARSE & ~_ast.PyCF_ONLY_AST, dont_inherit=True)


def check(_, main, __):
    """Runs nothing. The result: [[name, line, column]...] of what is read and defined nowhere, in whatever scope."""
    import ast
    text = "".join(linecache.cache[FILE][2])
    nodes = list(ast.walk(compile(text, FILE, "exec", PARSE, dont_inherit=True)))
    known = {name for node in nodes for name in names_bound_by(node)} | set(main) | set(dir(builtins))
    known |= {"__name__", "__file__", "__doc__", "__annotations__"} | set(Value().names())
    if any(isinstance(node, ast.ImportFrom) and node.names[0].name == "*" for node in nodes):
        return
    lines = text.splitlines()
    main["set_result"]([
        [node.id, node.lineno, len(lines[node.lineno - 1].encode()[:node.col_offset].decode("utf-8", "ignore")) + 1]
        for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in known])


def names_bound_by(node):
    for field in ("name", "asname", "arg", "rest"):  # of functions, classes, imports, handlers, arguments, patterns
        name = getattr(node, field, None)
        if isinstance(name, str):
            yield name.partition(".")[0]
    if type(getattr(node, "ctx", None)).__name__ in ("Store", "Del") and hasattr(node, "id"):
        yield node.id
    names = getattr(node, "names", ())
    yield from (name for name in names if isinstance(name, str))  # global, nonlocal


class Blocked(Exception):
    pass


BLOCKED = "{} is blocked: a program cannot start processes; use call_tool() to reach what is outside"


def refusal(name):
    e = PermissionError(BLOCKED.format(name))
    e.lathe_need = "processes"
    return e


def blocked(name):
    def refuse(*_, **__):
        raise refusal(name)
    return refuse


def block_starts():
    """Gives these functions a better error message. The walls refuse them in any case."""
    for name in dir(os):
        if name in ("system", "popen") or name.startswith(("exec", "spawn", "posix_spawn")) and callable(getattr(os, name)):
            setattr(os, name, blocked(f"os.{name}()"))
    try:
        import _posixsubprocess  # subprocess and multiprocessing use it
        _posixsubprocess.fork_exec = blocked("a new process")
    except ImportError:
        pass


def block_forks():
    for name in ("fork", "forkpty"):
        setattr(os, name, blocked(f"os.{name}()"))


def refuse_processes(text, tree):
    """Refuses a program that starts processes before it runs, with a message that says what to do instead."""
    if "system" not in text and "subprocess" not in text and "popen" not in text:
        return
    import ast
    for node in ast.walk(tree):
        f = node.func if isinstance(node, ast.Call) else None
        if isinstance(f, ast.Attribute) and isinstance(f.value, ast.Name):
            name = f"{f.value.id}.{f.attr}"
            if name in ("os.system", "os.popen") or f.value.id == "subprocess":
                e = Blocked(BLOCKED.format(f"{name}()"))
                e.place = node.lineno, node.col_offset + 1
                raise e


def execute(code, main, bridge):
    """Runs the program. Its value is its result when it has called no set_result."""
    value = Value()
    set_result = main["set_result"]  # a program may change it
    builtins.__dict__.update(value.names())
    try:
        run_code(code, main)
    except Returned:
        pass
    if isinstance(value.value, types.CoroutineType):  # `main()`, without await
        value.value = run_coroutine(value.value)
    if value.value is not None and not bridge.has_result:
        set_result(value.value)


def run_code(code, main):
    if code.co_flags & 0x80:  # a coroutine: it awaits at its top level
        run_coroutine(types.FunctionType(code, main)())
    else:
        exec(code, main)


def run_coroutine(coroutine):
    import asyncio
    return asyncio.run(coroutine)


def world(bridge, start):
    """The program's globals, as a module __main__ of its own."""
    module = types.ModuleType("__main__")
    main = module.__dict__
    main["__file__"] = FILE
    main["input_data"] = start.get("input")
    api = make_api(bridge, start)
    main.update(api)
    own = types.ModuleType("lathe", "What a program calls its tools with; its own text has all of it already.")
    own.__dict__.update(api)
    sys.modules["lathe"] = own
    sys.modules["__main__"] = module
    sys.argv = [FILE]
    builtins.input = no_input
    return main


def no_input(prompt="", /):
    raise EOFError("input() has no answer: a program has no standard input; use input_data, or call a tool")


# --- The report of a failure ------------------------------------------------------------------------------------------
def describe(e):
    report = {"kind": "error", "error": "", "line": 0, "column": 0, "stack": ""}
    try:
        describe_kind(e, report)
        locate(e, report)
        report["stack"] = "\n".join(frames(e))
    except BaseException:  # the error's __str__ fails, or there is no memory
        report["error"] = report["error"] or type(e).__name__
    try:
        return to_json(report).encode()
    except MemoryError:
        return b'{"kind":"memory"}'
    except BaseException:
        return b'{"kind":"error","error":"the program failed with an error that cannot be shown"}'


def describe_kind(e, report):
    if isinstance(e, MemoryError):
        report["kind"] = "memory"
    elif isinstance(e, SystemExit):
        describe_exit(e, report)
    elif isinstance(e, Blocked):
        report["error"] = str(e)
        report["need"] = "processes"
        report["line"], report["column"] = e.place
    else:
        if isinstance(e, NameError):
            report["name"] = (getattr(e, "name", None) or "")[:STACK_FRAMES * 50]
        if needed(e):
            report["need"] = needed(e)
        if isinstance(e, ModuleNotFoundError):
            report["module"] = (e.name or "").partition(".")[0][:STACK_FRAMES * 50]
        report["error"] = shortened(message(e))


def needed(e):
    """What the program wanted that the sandbox refuses and a tool may give, or None."""
    import errno
    if not isinstance(e, OSError):
        return None
    if hasattr(e, "lathe_need"):
        return e.lathe_need
    if type(e).__module__ in ("socket", "urllib.error"):
        return "network"
    if e.errno not in (errno.EACCES, errno.EPERM):
        return None
    return "files" if e.filename is not None else "network" if has_socket(e) else None


def has_socket(e):
    """Whether the error was raised in Python's module for sockets: the sandbox refuses to make one."""
    tb = e.__traceback__
    while tb is not None and tb.tb_next is not None:
        tb = tb.tb_next
    return tb is not None and os.path.basename(tb.tb_frame.f_code.co_filename) == "socket.py"


def describe_exit(e, report):
    if isinstance(e.code, int):
        report["error"] = f"the program exited with code {e.code}"
    else:
        report["error"] = shortened(f"the program exited with code 1: {e.code}")


def shortened(text):
    """Cuts a text that is too long to be sent. Lathe cuts it further for display."""
    if len(text) <= LONGEST:
        return text
    return f"{text[:LONGEST >> 7]}... ({len(text.encode('utf-8', 'backslashreplace'))} bytes)"


def message(e, depth=0):
    name = type(e).__name__
    if type(e).__module__ not in ("builtins", "__main__", "lathe"):
        name = f"{type(e).__module__}.{name}"
    try:
        text = e.msg if isinstance(e, SyntaxError) else str(e)
    except Exception:
        text = "an error without a readable text"
    text = f"{name}: {text}" if text else name
    if isinstance(e, ModuleNotFoundError):
        text += nearest_module((e.name or "").partition(".")[0])
        text += " (there is Python's own library, and what is installed for this interpreter; to reach what is " \
                "outside, call a tool)"
    inner = getattr(e, "exceptions", None)
    if isinstance(inner, tuple) and depth < 3:
        text += "".join(f"; {message(x, depth + 1)}" for x in inner[:3] if isinstance(x, BaseException))
    return text


def nearest_module(name):
    import difflib
    near = difflib.get_close_matches(name, (n for n in sys.stdlib_module_names if n[0] != "_"), 1, 0.8)
    return f". Did you mean: {near[0]}?" if near else ""


def own_frames(e):
    tb = e.__traceback__
    while tb is not None:
        if tb.tb_frame.f_code.co_filename == FILE:
            yield tb
        tb = tb.tb_next


def column(tb):
    positions = getattr(tb.tb_frame.f_code, "co_positions", None)
    if positions is None or tb.tb_lasti < 0:
        return 0
    for i, (_, _, start, _) in enumerate(positions()):
        if i == tb.tb_lasti // 2:
            if start is None:
                return 0
            line = linecache.getline(FILE, tb.tb_lineno).encode()[:start]
            return len(line.decode("utf-8", "ignore")) + 1
    return 0


def locate(e, report):
    if isinstance(e, SyntaxError) and e.filename == FILE:
        report["line"], report["column"] = e.lineno or 0, max(e.offset or 0, 0)
        return
    last = None
    for last in own_frames(e):
        pass
    if last is None and getattr(e, "exceptions", None):
        return locate(e.exceptions[0], report)
    if last is not None:
        report["line"], report["column"] = last.tb_lineno, column(last)


def frames(e):
    found = []
    for tb in own_frames(e):
        name = tb.tb_frame.f_code.co_name
        found.append(f"at {'<program>' if name == '<module>' else name} ({tb.tb_lineno}:{column(tb)})")
        if len(found) > 2 * STACK_FRAMES:
            del found[STACK_FRAMES]
    return reversed(found[-STACK_FRAMES:])
