"""Reads C as far as the lints need it: tokens, declarations, record bodies and function bodies. No preprocessor.

Comments are blanked and directives are dropped, so that both branches of an #if are read. Each declaration becomes a
Declared. A struct, union or enum with a body becomes a Record, wherever it stands; where it stood only its tag remains.
"""
import bisect
import os
import re
import subprocess
from collections import namedtuple

COMMENT = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
DIRECTIVE = re.compile(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", re.M)
LITERAL = r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|'
TOKEN = re.compile(LITERAL + r'[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|->|\.\.\.|[-+*/%&|^=!<>]=|\S')
NAME = re.compile(r"[A-Za-z_]\w*\Z")

RECORDS = {"struct", "union", "enum"}
STORAGE = {"typedef", "static", "extern", "inline", "register", "_Noreturn", "_Thread_local", "__thread"}
STORAGE |= {"const", "volatile", "restrict", "_Atomic", "__extension__"}
ARITHMETIC = {"unsigned", "signed", "long", "short", "int", "char", "double", "float"}
WITH_PARENTHESES = {"__attribute__", "_Alignas", "__asm__", "asm", "_Static_assert", "__typeof__"}
STATEMENTS = {"return", "if", "else", "for", "while", "do", "switch", "case", "default", "goto", "break", "continue"}
STATEMENTS |= {"sizeof"}
CLOSERS = {"(": ")", "[": "]", "{": "}"}

Token = namedtuple("Token", "text line")
# kind: "function", "pointer" (to a function) or "object"; params: their tokens, for the first two; tail: what follows.
Declared = namedtuple("Declared", "name type kind params tail storage line")
Record = namedtuple("Record", "kind name members line")
# A definition of a function: its head as a Declared, and the tokens between its braces.
Function = namedtuple("Function", "head body")


def sources(*patterns):
    """The files of the tree that git knows of or would add."""
    command = ["git", "ls-files", "-z", "-co", "--exclude-standard", *patterns]
    out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout.decode()
    return sorted(f for f in set(out.split("\0")) if f and os.path.isfile(f))


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def blank(match):
    return re.sub(r"[^\n]", " ", match.group(0))


def without_comments(text):
    """The same text with comments blanked; literals stay."""
    return COMMENT.sub(lambda m: blank(m) if m.group(0).startswith("/") else m.group(0), text)


def tokens_of(text):
    """The tokens of a file, without comments and directives."""
    text = DIRECTIVE.sub(blank, without_comments(text))
    ends = [m.start() for m in re.finditer("\n", text)]
    return [Token(m.group(0), bisect.bisect_left(ends, m.start()) + 1) for m in TOKEN.finditer(text)]


def is_name(token):
    return NAME.match(token.text) is not None


def closing(tokens, at):
    """The index of what closes the bracket at `at`."""
    depth = 0
    for i in range(at, len(tokens)):
        if tokens[i].text in CLOSERS:
            depth += 1
        elif tokens[i].text in ")]}":
            depth -= 1
            if depth == 0:
                return i
    return len(tokens) - 1


def opening(tokens, at):
    """The index of what opens the bracket that closes at `at`."""
    depth = 0
    for i in range(at, -1, -1):
        if tokens[i].text in (")", "]", "}"):
            depth += 1
        elif tokens[i].text in CLOSERS:
            depth -= 1
            if depth == 0:
                return i
    return 0


def split(tokens, mark):
    """The tokens in parts at every `mark` outside of brackets."""
    parts, part, i = [], [], 0
    while i < len(tokens):
        end = closing(tokens, i) if tokens[i].text in CLOSERS else i
        if tokens[i].text == mark:
            parts.append(part)
            part = []
        else:
            part.extend(tokens[i : end + 1])
        i = end + 1
    return [p for p in parts + [part] if p]


def tag_and_body(tokens, at):
    """Behind struct, union or enum: where the tag is and where the body would begin; the same place without a tag."""
    while at + 1 < len(tokens) and tokens[at].text == "__attribute__":
        at = closing(tokens, at + 1) + 1
    return (at, at + 1) if at < len(tokens) and is_name(tokens[at]) else (at, at)


def fold_records(tokens, records):
    """The tokens without the bodies of structs, unions and enums, which are appended to `records`."""
    out, i = [], 0
    while i < len(tokens):
        tag, body = (i, i) if tokens[i].text not in RECORDS else tag_and_body(tokens, i + 1)
        if body == i or body >= len(tokens) or tokens[body].text != "{":
            out.append(tokens[i])
            i += 1
            continue
        end = closing(tokens, body)
        name = tokens[tag].text if body > tag else f"unnamed_{tokens[i].line}_{len(records)}"
        members = fold_records(tokens[body + 1 : end], records)
        records.append(Record(tokens[i].text, name, members, tokens[i].line))
        out += [tokens[i], Token(name, tokens[i].line)]
        i = end + 1
    return out


def read_specifiers(tokens):
    """The storage words and the type in front of the declarators, and where those begin."""
    storage, kind, i = set(), None, 0
    while i < len(tokens) and is_name(tokens[i]):
        text = tokens[i].text
        if text in STORAGE:
            storage.add(text)
        elif text in WITH_PARENTHESES and i + 1 < len(tokens):
            i = closing(tokens, i + 1)
        elif text in RECORDS and i + 1 < len(tokens):
            i += 1
            kind = tokens[i].text
        elif text.isupper() and i + 1 < len(tokens) and is_name(tokens[i + 1]):
            pass  # a macro that stands for attributes
        elif kind is None or (text in ARITHMETIC and kind in ARITHMETIC):
            kind = text
        else:
            break
        i += 1
    return storage, kind, i


def read_declarator(tokens, kind, storage):
    """One declarator as a Declared; None where there is no name."""
    i = 0
    while i < len(tokens) and tokens[i].text in ("*", "const", "restrict", "volatile"):
        i += 1
    if i >= len(tokens):
        return None
    if tokens[i].text == "(":
        end = closing(tokens, i)
        names = [t for t in tokens[i:end] if is_name(t) and t.text != "const"]
        if not names or end + 1 >= len(tokens) or tokens[end + 1].text != "(":
            return None
        params = closing(tokens, end + 1)
        name, tail = names[0], tokens[params + 1 :]
        return Declared(name.text, kind, "pointer", tokens[end + 2 : params], tail, storage, name.line)
    if not is_name(tokens[i]):
        return None
    name, rest = tokens[i], tokens[i + 1 :]
    if rest and rest[0].text == "(":
        params = closing(rest, 0)
        return Declared(name.text, kind, "function", rest[1:params], rest[params + 1 :], storage, name.line)
    return Declared(name.text, kind, "object", [], rest, storage, name.line)


def declared_in(tokens):
    """The Declareds of one declaration without its semicolon. A member without a name is called ""."""
    storage, kind, at = read_specifiers(tokens)
    if kind is None:
        return []
    if at >= len(tokens):
        return [Declared("", kind, "object", [], [], storage, tokens[0].line)]
    found = [read_declarator(part, kind, storage) for part in split(tokens[at:], ",")]
    return [d for d in found if d is not None]


class Source:
    """One file: `declared` at its top level, its `functions`, its `records`, and all `tokens`."""

    def __init__(self, path, text):
        self.path = path
        self.records = []
        self.declared = []
        self.functions = []
        self.tokens = fold_records(tokens_of(text), self.records)
        self.read_top_level()

    def read_top_level(self):
        begin, i, tokens = 0, 0, self.tokens
        while i < len(tokens):
            text = tokens[i].text
            if text == ";":
                self.declared += declared_in(tokens[begin:i])
                begin = i + 1
            elif text == "{" and self.is_linkage(begin, i):
                begin = i + 1
            elif text == "{" and not any(t.text == "=" for t in tokens[begin:i]):
                end = closing(tokens, i)
                heads = [d for d in declared_in(tokens[begin:i]) if d.kind == "function"]
                self.functions += [Function(h, tokens[i + 1 : end]) for h in heads[:1]]
                i = end
                begin = i + 1
            elif text in CLOSERS:
                i = closing(tokens, i)
            elif text == "}":
                begin = i + 1
            i += 1

    def is_linkage(self, begin, at):
        return [t.text for t in self.tokens[begin:at]] == ["extern", '"C"']


def members_of(record):
    """The members of a struct or union."""
    return [d for part in split(record.members, ";") for d in declared_in(part)]
