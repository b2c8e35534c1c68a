"""The functions that a program finds: call_tool, call_tools_parallel, set_result, tools, and the tools it names."""
import builtins
import json

to_json, from_json = json.dumps, json.loads  # a program may change the json module
AT_ONCE = 128  # open calls of one call_tools_parallel


def make_api(bridge, start):
    def begin(name, args):
        if not isinstance(name, str):
            raise TypeError(f"a tool's name is a string, not {type(name).__name__}")
        return bridge.start_call(name.encode("utf-8", "replace"), encode_args(name, args))

    def finish(number):
        kind, body = bridge.wait_for(number)
        if kind == FAILURE:
            raise ToolError(body.decode("utf-8", "replace"))
        return from_json(body) if body else None

    def call_tool(name, args=None):
        """Calls a tool by its id, or its function's name, with a dict of arguments, and gives its value.

        Raises ToolError when it fails."""
        number = None
        try:
            number = begin(name, args)
            return finish(number)
        finally:
            bridge.forget(number)

    def call_tools_parallel(calls, return_exceptions=False):
        """Calls several tools at once: [(name, args), ...]. Gives their values in the same order.

        All of them run to their end; then the first failure is raised, or, with return_exceptions=True, stands in the
        place of its value."""
        calls = [read_call(call) for call in calls]
        outcomes = [None] * len(calls)
        numbers = [None] * len(calls)
        try:
            for i in range(len(calls) + AT_ONCE):
                if i >= AT_ONCE and i - AT_ONCE < len(calls) and numbers[i - AT_ONCE] is not None:
                    outcomes[i - AT_ONCE] = attempt(finish, numbers[i - AT_ONCE])
                if i < len(calls):
                    outcomes[i] = attempt(begin, *calls[i])
                    if not isinstance(outcomes[i], Exception):
                        numbers[i] = outcomes[i]
        finally:
            for number in numbers:
                bridge.forget(number)
        if not return_exceptions:
            for outcome in outcomes:
                if isinstance(outcome, Exception):
                    raise outcome
        return outcomes

    def set_result(data):
        """Sets what the program gives back. The last one counts; it is kept when the program fails later."""
        if isinstance(data, str):
            report(TEXT, data.encode("utf-8", "backslashreplace"))
        else:
            report(JSON, encode(data))

    def report(form, body):
        if len(body) > MOST:
            raise ValueError(f"set_result: the result has {len(body)} bytes; at most {MOST >> 20} MiB can be given back")
        try:
            bridge.send(RESULT, form, body=body)
            bridge.has_result = True
        except Closed:
            raise ToolError(CLOSED) from None

    def function_of(name, parameters=()):
        keys = dict(parameters)

        def tool(*args, **kwargs):
            if len(args) == 1 and not kwargs and isinstance(args[0], dict):
                return call_tool(name, args[0])
            given = dict(zip(keys.values(), args))
            if len(args) > len(keys):
                raise TypeError(f"{name}() takes keyword arguments: {', '.join(keys) or 'none'}")
            for key, value in kwargs.items():
                given[keys.get(key, key)] = value
            return call_tool(name, given)

        return tool

    class Tools:
        """All tools by id: tools["server.tool"](argument=1)."""

        def __getitem__(self, name):
            return function_of(name)

        def __repr__(self):
            return 'tools["id"](argument=value) calls any tool by its id'

    api = {
        "call_tool": call_tool,
        "call_tools_parallel": call_tools_parallel,
        "set_result": set_result,
        "ToolError": ToolError,
        "tools": Tools(),
    }
    for name, tool in start["tools"].items():
        if name in api or (name in vars(builtins) and name != tool["id"]):
            continue  # another language's name of a tool is no reason to hide a function of Python
        f = function_of(tool["id"], tool["parameters"])
        f.__name__ = f.__qualname__ = name
        api[name] = f
    for name, f in api.items():
        if not isinstance(f, Tools):
            f.__module__ = "lathe"
    return api


def attempt(f, *args):
    """The value of f, or the error of a tool call. Other errors, such as those of a signal handler, are raised."""
    try:
        return f(*args)
    except (ToolError, TypeError, ValueError, RecursionError, MemoryError) as e:
        return e


def read_call(call):
    """(name, args), [name, args], {"name": ..., "args": ...} or a name alone."""
    if isinstance(call, str):
        return call, None
    if isinstance(call, dict):
        name = call.get("name", call.get("tool"))
        return name, call.get("args", call.get("arguments", call.get("input")))
    if isinstance(call, (tuple, list)) and 1 <= len(call) <= 2:
        return call[0], call[1] if len(call) > 1 else None
    raise TypeError('call_tools_parallel takes a list of (name, args), such as [("server.tool", {"argument": 1})]')


def encode_args(name, args):
    if args is None:
        return b"{}"
    return encode(args)


# --- Values that JSON cannot hold -------------------------------------------------------------------------------------
DEPTH = 200


def encode(value):
    try:
        text = to_json(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        text = to_json(plain(value, set(), 0), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    try:
        return text.encode()
    except UnicodeEncodeError:  # a lone surrogate
        return to_json(from_json(text)).encode()


def plain(value, above, depth):
    """The value in a form that JSON can hold, or at least as a text that describes it."""
    if value is None or isinstance(value, (bool, str)):
        return str(value) if isinstance(value, str) else value
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if value - value == 0 else "NaN" if value != value else f"{'-' * (value < 0)}Infinity"
    if depth > DEPTH:
        return "[too deep]"
    if id(value) in above:
        return "[Circular]"
    above.add(id(value))
    try:
        return plain_object(value, above, depth + 1)
    except RecursionError:
        raise
    except Exception:
        return described(value)
    finally:
        above.discard(id(value))


def plain_object(value, above, depth):
    maps = hasattr(value, "keys") and hasattr(value, "__getitem__") and not isinstance(value, type)
    if isinstance(value, dict) or maps:
        return {plain_key(k): plain(value[k], above, depth) for k in value.keys()}
    if isinstance(value, (set, frozenset)):
        try:
            value = sorted(value)
        except TypeError:
            value = list(value)
    if isinstance(value, (list, tuple, range)):
        return [plain(x, above, depth) for x in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return plain_bytes(bytes(value))
    if isinstance(value, BaseException):
        return {"name": type(value).__name__, "message": str(value)}
    if isinstance(value, type) or callable(value):
        return described(value)
    return plain_other(value, above, depth)


def plain_other(value, above, depth):
    if hasattr(type(value), "__dataclass_fields__"):
        return {k: plain(getattr(value, k), above, depth) for k in value.__dataclass_fields__}
    for method in ("model_dump", "tolist", "isoformat"):  # pydantic; numpy, array; dates
        if callable(getattr(value, method, None)):
            return plain(getattr(value, method)(), above, depth)
    if callable(getattr(value, "to_dict", None)):  # pandas
        try:
            return plain(value.to_dict("records"), above, depth)
        except TypeError:
            return plain(value.to_dict(), above, depth)
    if hasattr(value, "__next__") or hasattr(value, "mapping"):  # an iterator; a dict's view
        return [plain(x, above, depth) for _, x in zip(range(1_000_000), value)]
    import enum
    if isinstance(value, enum.Enum):
        return plain(value.value, above, depth)
    return str(value) if type(value).__str__ is not object.__str__ else described(value)


def plain_key(key):
    if isinstance(key, str):
        return str(key)
    if key is None or isinstance(key, bool):
        return {None: "null", True: "true", False: "false"}[key]
    return str(key)


def plain_bytes(value):
    try:
        return value.decode()
    except UnicodeDecodeError:
        import base64
        return base64.b64encode(value).decode()


def described(value):
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"
