"""Files that go with a prompt: paths and bytes, as the library takes them."""

from __future__ import annotations

import base64
import json
import os
import stat
from collections.abc import Iterable
from typing import NamedTuple

from ._errors import ConfigError, LimitError

_BYTES_MAX = 10 * 1024 * 1024  # LT_ATTACHMENTS_BYTES of the library, which says the rest


class Attachment(NamedTuple):
    """A file in memory that goes with a prompt: an image (PNG, JPEG, GIF, WebP), a PDF or a text in UTF-8.

    mime_type: what it is taken for, such as "image/png". The content decides; where this says image or PDF and the
        content is none, the prompt is refused.
    name: what the model is told.
    """

    data: bytes | bytearray | memoryview
    mime_type: str | None = None
    name: str = "attachment"


#: What `attachments=` takes: paths, bytes, and bytes with a type and a name.
Attachments = Iterable["str | os.PathLike[str] | bytes | bytearray | memoryview | Attachment"]


def attachments_json(given: Attachments | None) -> str | None:
    """The attachments as the library takes them. Reads files. Raises ConfigError, LimitError, OSError."""
    if given is None:
        return None
    if isinstance(given, (str, bytes, bytearray, memoryview, os.PathLike, Attachment)):
        raise ConfigError("attachments are a list: attachments=[...]")
    return json.dumps([_member(one) for one in given])


def _member(one: object) -> dict[str, str]:
    if isinstance(one, (str, os.PathLike)):
        one = Attachment(_read(one), None, os.fsencode(os.path.basename(one)).decode("utf-8", "replace"))
    elif isinstance(one, (bytes, bytearray, memoryview)):
        one = Attachment(one)
    if not isinstance(one, Attachment):
        raise ConfigError(f"an attachment is a path, bytes or a lathe.Attachment, not {type(one).__name__}")
    if not isinstance(one.data, (bytes, bytearray, memoryview)):
        raise ConfigError(f"the data of the attachment {one.name!r} is bytes, not {type(one.data).__name__}")
    member = {"name": one.name, "data": base64.b64encode(one.data).decode()}
    return member if one.mime_type is None else {**member, "mimeType": one.mime_type}


def _read(path: str | os.PathLike[str]) -> bytes:
    # Opening a pipe would wait for a writer, and a device may do anything.
    with open(os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK | os.O_NOCTTY), "rb") as file:
        about = os.fstat(file.fileno())
        if not stat.S_ISREG(about.st_mode):
            raise ConfigError(f"{os.fspath(path)!r} cannot be attached: it is no file")
        if about.st_size > _BYTES_MAX:
            raise LimitError(
                f"{os.fspath(path)!r} cannot be attached: it has {about.st_size} bytes, and all attachments of a "
                f"prompt may have {_BYTES_MAX}"
            )
        return file.read(_BYTES_MAX + 1)
