"""Tools: functions, and what a model is told of them."""

from __future__ import annotations

import enum
import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from . import _library
from ._errors import ConfigError

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
            _json_text(input_schema, f"input_schema of the tool {name}"),
            _json_text(output_schema, f"output_schema of the tool {name}"),
            _json_text(annotations, f"annotations of the tool {name}"),
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
    input_schema, output_schema: JSON Schema, instead of the annotations'. An input that does not fit is refused.
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
    text, parameters = _read_docstring(inspect.getdoc(function) or "")
    hints = {} if input_schema is not None and output_schema is not None else _hints(function, name)
    if output_schema is None and "return" in hints:
        output_schema = _schema_or_none(hints["return"])
    if read_only:
        annotations = {"readOnlyHint": True, **(annotations or {})}
    return Tool(
        function=function,
        name=name,
        description=text if description is None else description,
        input_schema=_input_schema(function, name, hints, parameters) if input_schema is None else input_schema,
        output_schema=output_schema,
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


def _json_text(value: Any, what: str) -> bytes | None:
    if value is None:
        return None
    try:
        return json.dumps(value, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigError(f"the {what} is not JSON: {error}") from None


# --- The docstring ---------------------------------------------------------------------------------------------------

_SECTION = re.compile(r"^(Args|Arguments|Parameters|Returns?|Yields|Raises|Examples?|Notes?):\s*$", re.M)
_FIELD = re.compile(r"^:(\w+)(?:\s+[^:\n]*?(\w+))?:\s*", re.M)
_ARGUMENT = re.compile(r"^([ \t]+)\*{0,2}(\w+)(?:\s*\([^)\n]*\))?:\s*", re.M)


def _read_docstring(text: str) -> tuple[str, dict[str, str]]:
    """What it says of the function, and of each parameter, in Google's form or in Sphinx's."""
    parts = re.split(_SECTION, re.split(_FIELD, text, maxsplit=1)[0])
    parameters = {name: " ".join(words.split()) for kind, name, words in _fields(text) if kind in ("param", "parameter")}
    for title, body in zip(parts[1::2], parts[2::2]):
        if title in ("Args", "Arguments", "Parameters"):
            parameters.update(_arguments(body))
    return parts[0].strip(), parameters


def _fields(text: str) -> Iterable[tuple[str, str, str]]:
    parts = re.split(_FIELD, text)[1:]
    return zip(parts[0::3], (name or "" for name in parts[1::3]), parts[2::3])


def _arguments(body: str) -> dict[str, str]:
    found = list(_ARGUMENT.finditer(body))
    # A deeper line with a colon belongs to the parameter above it.
    found = [match for match in found if match.group(1) == found[0].group(1)]
    ends = [match.start() for match in found[1:]] + [len(body)]
    return {match.group(2): " ".join(body[match.end() : end].split()) for match, end in zip(found, ends)}


# --- The schema ------------------------------------------------------------------------------------------------------

_PLAIN: dict[Any, Schema] = {
    str: {"type": "string"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    None: {"type": "null"},
    type(None): {"type": "null"},
    list: {"type": "array"},
    tuple: {"type": "array"},
    dict: {"type": "object"},
    Any: {},
    object: {},
    inspect.Parameter.empty: {},
}
_LISTS = ("list", "Sequence", "Iterable", "Collection", "MutableSequence")
_DICTIONARIES = ("dict", "Mapping", "MutableMapping")


class _NoSchema(Exception):
    """The annotation is of nothing that JSON has."""


def _hints(function: Callable[..., Any], name: str) -> dict[str, Any]:
    target = function if inspect.isroutine(function) else getattr(function, "__call__", function)
    try:
        return typing.get_type_hints(getattr(target, "func", target), include_extras=True)
    except (NameError, TypeError) as error:
        raise ConfigError(f"the annotations of the tool {name} cannot be read: {error}") from None


def _input_schema(function: Callable[..., Any], name: str, hints: dict[str, Any], words: dict[str, str]) -> Schema:
    properties: dict[str, Schema] = {}
    required: list[str] = []
    is_open = False
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind is parameter.VAR_KEYWORD:
            is_open = True
            continue
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise ConfigError(f"the tool {name} is called with names: its parameter {parameter.name} cannot have one")
        properties[parameter.name] = _property(parameter, name, hints, words)
        if parameter.default is parameter.empty:
            required.append(parameter.name)
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": is_open}


def _property(parameter: inspect.Parameter, name: str, hints: dict[str, Any], words: dict[str, str]) -> Schema:
    try:
        schema = dict(_schema(hints.get(parameter.name, parameter.empty)))
    except _NoSchema as error:
        raise ConfigError(
            f"the parameter {parameter.name} of the tool {name} is {error}, which JSON does not have: give the tool an "
            "input_schema (lathe.tool)"
        ) from None
    if parameter.name in words:
        schema.setdefault("description", words[parameter.name])
    if isinstance(parameter.default, (str, bool, int, float)):
        schema["default"] = parameter.default
    return schema


def _schema_or_none(annotation: Any) -> Schema | None:
    try:
        return _schema(annotation) or None
    except _NoSchema:
        return None


def _schema(annotation: Any) -> Schema:
    """JSON Schema of an annotation. Raises _NoSchema."""
    try:
        if annotation in _PLAIN:
            return _PLAIN[annotation]
    except TypeError:  # not hashable, such as Annotated[int, []]
        pass
    if typing.is_typeddict(annotation):
        return _typed_dictionary(annotation)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin is typing.Annotated:
        texts = [word for word in arguments[1:] if isinstance(word, str)]
        return {**_schema(arguments[0]), **({"description": texts[0]} if texts else {})}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(one) for one in arguments]}
    if origin is typing.Literal:
        return _enumeration(arguments, annotation)
    if str(origin) in ("typing.Required", "typing.NotRequired"):  # which Python 3.10 does not have
        return _schema(arguments[0])
    return _container(annotation, origin or annotation, arguments)


def _container(annotation: Any, origin: Any, arguments: tuple[Any, ...]) -> Schema:
    name = getattr(origin, "__name__", "")
    if name in _LISTS:
        return {"type": "array", **({"items": _schema(arguments[0])} if arguments else {})}
    if origin is tuple and len(arguments) == 2 and arguments[1] is Ellipsis:
        return {"type": "array", "items": _schema(arguments[0])}
    if origin is tuple:
        items = [_schema(one) for one in arguments]
        return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
    if name in _DICTIONARIES and (not arguments or arguments[0] is str):
        return {"type": "object", **({"additionalProperties": _schema(arguments[1])} if arguments else {})}
    raise _NoSchema(name or repr(annotation))


def _enumeration(values: tuple[Any, ...], annotation: Any) -> Schema:
    if any(isinstance(value, (bytes, enum.Enum)) for value in values):
        raise _NoSchema(repr(annotation))
    return {"enum": list(values)}


def _typed_dictionary(annotation: Any) -> Schema:
    hints = typing.get_type_hints(annotation, include_extras=True)
    return {
        "type": "object",
        "properties": {key: _schema(hint) for key, hint in hints.items()},
        "required": sorted(annotation.__required_keys__),
    }
