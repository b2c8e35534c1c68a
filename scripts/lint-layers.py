#!/usr/bin/env python3
"""Checks what the compiler does not: layers, third-party headers, headers that compile alone, who may allocate.

Prints one line per finding, "file:line: what is wrong", and exits 1 when there is one.
"""
import os
import re
import subprocess
import sys
import tempfile

# Text and numbers only: nothing that waits.
PURE = {"base", "json", "js", "text", "types", "trace"}

# Layer -> the layers below it that it may include (docs/ARCHITECTURE.md). Siblings are blind to each other.
LAYERS = {
    "base": set(),
    "json": {"base"},
    "js": {"base"},
    "text": {"base", "json"},
    "types": {"base", "json", "js", "text"},
    "trace": {"base", "json"},
    "sandbox": {"base"},
    "io": {"base"},
    "jail": {"base"},
    "mcp": PURE | {"io"},
    "model": PURE | {"io"},
    "tool": PURE | {"io"},
    "store": PURE | {"io", "tool"},
    "store/sqlite": PURE | {"io", "tool", "store"},
    "runner": PURE | {"io", "tool"},  # the interface: its folders are rooms above replay
    "replay": PURE | {"io", "tool", "runner"},
    "runner/typecheck": PURE | {"io", "jail", "tool", "runner"},  # below the runners that check types
    "runner/quickjs": PURE | {"io", "sandbox", "tool", "runner", "runner/typecheck", "replay"},
    "runner/deno": PURE | {"io", "sandbox", "jail", "tool", "runner", "runner/typecheck", "replay"},
    "runner/python": PURE | {"io", "sandbox", "jail", "tool", "runner", "replay"},
    "plugin": PURE | {"io", "tool", "store", "runner", "replay"},
    "source": PURE | {"io", "mcp", "tool", "config"},
    "agent": PURE | {"io", "tool", "model", "store", "runner", "replay", "plugin"},
    "config": {"base", "json", "text"},
    "telemetry": PURE | {"io", "model", "tool", "runner", "config"},
    "clients": {"base", "json", "text", "config"},
    "app": PURE | {
        "io", "sandbox", "jail", "mcp", "model", "tool", "source", "store", "runner", "runner/quickjs", "runner/deno",
        "runner/python", "runner/typecheck", "replay", "plugin", "agent", "config", "telemetry"
    },
    "gateway": PURE | {
        "io", "mcp", "model", "tool", "store", "runner", "replay", "plugin", "agent", "config", "telemetry", "app"
    },
    "serve": PURE | {
        "io", "mcp", "model", "tool", "store", "runner", "replay", "plugin", "agent", "config", "telemetry", "app", "gateway"
    },
    "embed": PURE | {"io", "jail", "tool", "store", "runner", "replay", "plugin", "agent", "config", "app"},
    "cli": PURE | {
        "io", "sandbox", "jail", "mcp", "model", "tool", "source", "store", "runner", "runner/quickjs", "runner/deno",
        "runner/python", "runner/typecheck", "replay", "plugin", "agent", "config", "telemetry", "clients", "app", "gateway",
        "serve"
    },
}

# Third-party headers, and the one directory of src/ that may include each.
THIRD_PARTY = {
    "uv.h": "io",
    "curl.h": "io",
    "evp.h": "io",
    "histedit.h": "io",
    "microhttpd.h": "io",
    "yaml.h": "config",
    "sqlite3.h": "store/sqlite",
    "wasm-rt.h": "sandbox",
    "qjs.h": "sandbox",
    "lz4.h": "sandbox",
    "lz4hc.h": "sandbox",
}

ALLOCATORS = re.compile(r"(?<![\w.>])(malloc|calloc|realloc|reallocarray|free|strdup|strndup|asprintf|vasprintf)\s*\(")
ALLOCATES = "src/base/mem.c"

# The terminal is the command line's: who opens a session through another way in has none.
TERMINAL = re.compile(r"(?<![\w.>])(stdin|stdout|stderr|isatty|printf|puts|putchar|getchar)\b(?!\s*=[^=])")
MAY_USE_TERMINAL = ("src/cli/", "src/sandbox/mkimage.c")

# Marks of unfinished work, and paths of somebody's machine, in anything that is tracked.
UNFINISHED = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "X" * 3, "HA" + "CK"]) + r")\b")
MACHINE_PATH = re.compile(r"(?<![\w.$}-])/(" + "|".join(["home/[a-z]", "Users/[A-Z]", "wo" + "rk/", "ro" + "ot/"]) + ")")
TEXT = (".c", ".h", ".S", ".py", ".sh", ".mjs", ".js", ".ts", ".md", ".txt", ".cmake", ".yaml", ".yml")

INCLUDE = re.compile(r'^\s*#\s*include\s+([<"])([^>"]+)[>"]')

findings = []


def found(path, line, what):
    findings.append((path, line, what))


def tracked():
    out = subprocess.run(["git", "ls-files", "-z", "-co", "--exclude-standard"], stdout=subprocess.PIPE, check=True)
    return [f for f in out.stdout.decode().split("\0") if f and os.path.isfile(f)]


def read_lines(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read().split("\n")


def without_comments(lines):
    """The same lines with comments and literals blanked, so that prose is not taken for code."""
    text = "\n".join(lines)
    token = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
    return token.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text).split("\n")


def after_parenthesis(text, at):
    """The place after the parenthesis that opens at `at`."""
    depth = 0
    for i in range(at, len(text)):
        depth += (text[i] == "(") - (text[i] == ")")
        if depth == 0:
            return i + 1
    return len(text)


def check_braces(path, lines):
    """Every body of if, else, for and while stands in braces."""
    text = "\n".join(re.sub(r"^\s*#.*", "", line).rstrip("\\") for line in without_comments(lines))
    for match in re.finditer(r"\b(if|for|while)\s*(?=\()|\belse\b(?!\s*if\b)", text):
        end = after_parenthesis(text, match.end()) if match.group(1) else match.end()
        body = text[end:].lstrip()[:1]
        ends_do = match.group(1) == "while" and text[: match.start()].rstrip().endswith("}")
        if body != "{" and not ends_do:
            found(path, text.count("\n", 0, match.start()) + 1, f"{match.group(0).strip()} needs braces around its body")


def room_of(path):
    """The layer of a path below src/: its folder within a room where that is a layer of its own."""
    parts = path.split("/")
    return "/".join(parts[:2]) if "/".join(parts[:2]) in LAYERS else parts[0]


def check_include(path, layer, number, quote, name):
    base = name.split("/")[-1]
    is_ours = os.path.exists(os.path.join("src", name))  # config/yaml.h is no <yaml.h>
    if base in THIRD_PARTY and layer != THIRD_PARTY[base] and not is_ours:
        found(path, number, f"{name} may be included in src/{THIRD_PARTY[base]} only")
    top = room_of(name)
    if quote == '"' and "/" in name and top in LAYERS:
        if top != layer and top not in LAYERS[layer]:
            found(path, number, f"{layer} may not include {name}: that layer is not below it")
    elif quote == '"' and "/" not in name and base not in THIRD_PARTY and not os.path.exists(f"include/{name}"):
        found(path, number, f'include "{name}" by its path from src/, such as "{layer}/{name}"')


def check_source(path):
    layer = room_of(path.split("/", 1)[1])
    if layer not in LAYERS:
        found(path, 1, f"src/{layer} is no known layer: add it to scripts/lint-layers.py and the architecture page")
        return
    lines = read_lines(path)
    for number, line in enumerate(lines, 1):
        match = INCLUDE.match(line)
        if match:
            check_include(path, layer, number, match.group(1), match.group(2))
    if not path.endswith(".S"):
        check_braces(path, lines)
    if path != ALLOCATES and not path.endswith(".S"):
        for number, line in enumerate(without_comments(lines), 1):
            match = ALLOCATORS.search(line)
            if match:
                found(path, number, f"{match.group(1)}() belongs in {ALLOCATES}: use lt_mem_* or an arena")


def check_terminal(path):
    if not path.startswith(MAY_USE_TERMINAL) and path.endswith((".c", ".h")):
        for number, line in enumerate(without_comments(read_lines(path)), 1):
            match = None if line.lstrip().startswith("#") else TERMINAL.search(line)
            if match and "__attribute__" not in line:
                found(path, number, f"{match.group(1)} is for src/cli/ only: hand a function or a path down")


def check_text(path):
    for number, line in enumerate(read_lines(path), 1):
        match = UNFINISHED.search(line)
        if match:
            found(path, number, f"unfinished work is marked here ({match.group(1)}): finish it or file it")
        if MACHINE_PATH.search(line):
            found(path, number, "a path of one machine")


def check_limits(sources):
    """Every ceiling is in limits.h: no other file defines one. Small numbers are the layout of something."""
    define = re.compile(r"^\s*#\s*define\s+(LT_\w+_(?:MAX|BYTES|MS))\s+\(?\s*(?:[0-9]{4,}|.*LT_[KMG]IB|.*<<)")
    for path in sources:
        if path == "src/base/limits.h":
            continue
        for number, line in enumerate(read_lines(path), 1):
            match = define.match(line)
            if match and match.group(1) != "LT_ERR_MSG_MAX":
                found(path, number, f"{match.group(1)} looks like a limit: it belongs in src/base/limits.h")


def check_headers(headers):
    """Each header compiles when it is all there is."""
    includes = ["-Isrc", "-Iinclude", "-Ibuild/engine"]
    with tempfile.TemporaryDirectory() as folder:
        for header in headers:
            source = os.path.join(folder, "alone.c")
            with open(source, "w", encoding="utf-8") as f:
                f.write(f'#include "{os.path.abspath(header)}"\nextern int lt_nothing;\n')
            gcc = ["gcc", "-std=gnu17", "-D_GNU_SOURCE", "-fsyntax-only", "-Wall", "-Wextra", *includes, source]
            run = subprocess.run(gcc, stderr=subprocess.PIPE, check=False)
            if run.returncode != 0 or run.stderr:
                first = next((l for l in run.stderr.decode().split("\n") if "error" in l or "warning" in l), "fails")
                found(header, 1, "does not compile alone: " + first.split(": ", 1)[-1])


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    files = tracked()
    sources = [f for f in files if f.startswith("src/") and f.count("/") >= 2 and f.endswith((".c", ".h", ".S"))]
    for path in sources:
        check_source(path)
        check_terminal(path)
    check_limits([f for f in sources if f.endswith((".c", ".h"))])
    check_headers([f for f in files if f.endswith(".h") and f.startswith(("src/", "include/"))])
    for path in files:
        if path.endswith(TEXT) or os.path.basename(path) in ("Makefile", "CMakeLists.txt", "run"):
            check_text(path)
    for path, line, what in sorted(findings):
        print(f"{path}:{line}: {what}")
    print(f"lint: {len(sources)} sources, {len(findings)} findings")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
