"""Tools: functions, and what a model is told of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _library
from ._errors import ConfigError

_encode = json.JSONEncoder(allow_nan=False).encode
#: json.loads, which takes twice as long.
read_json = json.JSONDecoder().decode
Schema = dict[str, Any]


class Tool:
    """A function that programs can call, made by `tool()`.

    The arguments of `tool()` are its attributes. It can be used in several sandboxes.
    """

    __slots__ = ("function", "name", "description", "input_schema", "output_schema", "annotations", "approval", "texts")

    def __init__(
        self,
        function: Callable[..., Any],
        name: str,
        description: str,
        input_schema: Schema,
        output_schema: Schema | None,
        annotations: Mapping[str, Any] | None,
        approval: str | None,
    ) -> None:
        self.function = function
        self.name = name
        self.description = description
        self.input_schema = input_schema
        self.output_schema = output_schema
        self.annotations = annotations
        self.approval = approval
        #: The same as the library takes them.
        self.texts = (
            _library.utf8(name, "name of a tool"),
            _library.utf8(description or None, f"description of the tool {name}"),
            json_bytes(input_schema, f"input_schema of the tool {name}"),
            json_bytes(output_schema, f"output_schema of the tool {name}"),
            json_bytes(annotations, f"annotations of the tool {name}"),
            _library.utf8(approval, f"approval of the tool {name}"),
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.function(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<lathe.Tool {self.name}>"


def tool(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    description: str | None = None,
    input_schema: Schema | None = None,
    output_schema: Schema | None = None,
    annotations: Mapping[str, Any] | None = None,
    read_only: bool = False,
    approval: str | None = None,
) -> Any:
    """Makes a tool of a function, also as a decorator (`@lathe.tool` or `@lathe.tool(approval="it spends money")`).

    A program calls it with one object, whose members are the arguments: `add({a: 1, b: 2})`. What is not given is taken
    from the function: its name, the docstring (with an "Args:" section, or ":param x:" lines, for the parameters), the
    annotations.

    name: "clock" or, with a namespace, "clock.now".
    input_schema: JSON Schema of an object. Annotations are not read then. An input that does not fit is refused.
    output_schema: JSON Schema of the result.
    annotations: hints as in MCP; `read_only=True` is {"readOnlyHint": True}.
    approval: each call is approved first (`on_approval`), for this reason.

    Raises ConfigError for a parameter that JSON cannot fill.
    """
    if function is None:
        return lambda decorated: tool(
            decorated,
            name=name,
            description=description,
            input_schema=input_schema,
            output_schema=output_schema,
            annotations=annotations,
            read_only=read_only,
            approval=approval,
        )
    if not callable(function):
        raise ConfigError(f"a tool is a function, not {type(function).__name__}")
    name = name or _name_of(function)
    from ._schema import read  # it imports much, which a program without tools does not need

    read_description, read_input, read_output = read(function, name, input_schema is None)
    if read_only:
        annotations = {"readOnlyHint": True, **(annotations or {})}
    return Tool(
        function=function,
        name=name,
        description=read_description if description is None else description,
        input_schema=read_input if input_schema is None else input_schema,
        output_schema=read_output if output_schema is None else output_schema,
        annotations=annotations,
        approval=approval,
    )


def _name_of(function: Callable[..., Any]) -> str:
    name: str = getattr(function, "__name__", "")
    if not name.isidentifier():  # "<lambda>", or an object with __call__
        raise ConfigError(f"the tool {name or function!r} has no name: give it one (lathe.tool, or tools={{name: ...}})")
    return name


def as_tools(tools: Iterable[Any] | Mapping[str, Any] | None) -> list[Tool]:
    """Functions and tools, or a mapping from names to them, as tools."""
    if isinstance(tools, Mapping):
        return [_renamed(one, name) for name, one in tools.items()]
    return [one if isinstance(one, Tool) else tool(one) for one in tools or ()]


def _renamed(one: Any, name: str) -> Tool:
    if not isinstance(one, Tool):
        return tool(one, name=name)
    if one.name == name:
        return one
    return Tool(one.function, name, one.description, one.input_schema, one.output_schema, one.annotations, one.approval)


def json_bytes(value: Any, what: str) -> bytes | None:
    """JSON for the library. None stays None. Raises ConfigError."""
    if value is None:
        return None
    try:
        return _encode(value).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"the {what} is not JSON: {error}") from None
