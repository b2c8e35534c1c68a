#!/usr/bin/env python3
"""A C file named in a comment of src/ or include/, or in docs/internals/, exists.

Names in capitals (NAME_command.c) are patterns. A name with a folder must be the end of a file's path.
"""
import os
import re
import subprocess
import sys

OTHERS = {"sqlite3.h", "wasm-rt.h"}  # files of other projects
NAME = re.compile(r"(?<![\w./<*$-])((?:[\w-]+/)*[\w-]+\.[chS])(?![\w(])")
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.S)


def texts(path):
    """The (line number, text) pairs of a file that may name other files."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if path.endswith(".md"):
        return [(1, text)]
    return [(text.count("\n", 0, m.start()) + 1, m.group()) for m in COMMENT.finditer(text)]


def main():
    files = subprocess.check_output(["git", "ls-files"], text=True).split()
    wrong = []
    for path in files:
        if not re.match(r"(src|include)/.*\.([chS]|js)$|docs/internals/.*\.md$", path):
            continue
        for line, text in texts(path):
            for m in NAME.finditer(text):
                name = m.group(1)
                if re.search(r"[A-Z]{3}", name) or name in OTHERS:
                    continue
                if not any(file == name or file.endswith("/" + name) for file in files):
                    wrong.append(f"{path}:{line + text.count(chr(10), 0, m.start())}: there is no file {name}")
    print("\n".join(wrong), file=sys.stderr if wrong else sys.stdout)
    return 1 if wrong else 0


sys.exit(main())
