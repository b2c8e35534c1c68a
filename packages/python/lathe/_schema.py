"""What a function says of itself, for a model: its docstring, and JSON Schema of its annotations."""

from __future__ import annotations

import enum
import functools
import inspect
import re
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any

from ._errors import ConfigError

Schema = dict[str, Any]


def read(function: Callable[..., Any], name: str, has_annotations: bool) -> tuple[str, Schema, Schema | None]:
    """The description, and the schemas of the input and, where it is known, of the result.

    Without annotations the schemas are empty. Raises ConfigError for a parameter that JSON cannot fill.
    """
    called = function
    while isinstance(function, functools.partial):
        function = function.func
    described = function if inspect.isroutine(function) or hasattr(function, "__wrapped__") else function.__call__
    text, words = _read_docstring(inspect.getdoc(described) or "")
    if not has_annotations:
        return text, {}, None
    hints = _hints(described, name)
    return text, _input_schema(called, name, hints, words), _schema_or_none(hints.get("return", Any))


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
    try:
        return typing.get_type_hints(function, include_extras=True)
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
