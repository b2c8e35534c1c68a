#!/usr/bin/env python3
"""Checks that names tell where things are and mean one thing, so that a stranger finds them by searching once.

  exports   An exported function or variable is called lt_WORD_... (the plugins' interface: lathe_WORD_...), and WORD
            begins the name of its file, or of the header that declares it: outbox.c has lt_outbox_put. What a header in
            include/ declares is called lathe_WORD, wherever it is.
  statics   The name of a static function occurs in one file: a backtrace and a breakpoint need no more.
  types     A tag of a struct, union or enum, and a type's name, means one thing in all of src/.
  files     A file's name occurs once in src/ (without its extension: x.c and the x.h beside it are one). The files that
            run in a guest, such as zygote.py, are looked at apart from ours.
  json      JSON is not made by printf: lt_json_writer knows how to quote. Nor does code look for a piece of our own
            JSON in a text: it reads it with lt_json.
  rulers    A section's ruler is one line of at most 120 columns.
  unused    What is exported is used by another file. (What only tests use is listed with --tests, and is no finding.)

  scripts/lint-names.py             prints "file:line: what is wrong" for each finding, and exits 1 where there is one
  scripts/lint-names.py --rule X    the same for one rule
  scripts/lint-names.py --count     prints only how many each rule has
  scripts/lint-names.py --tests     prints what is exported for tests only
  scripts/lint-names.py --canary    proves that it finds each kind of them, and nothing where all is right
"""
import os
import re
import sys
from collections import Counter, defaultdict

sys.dont_write_bytecode = True
import c_reader as c

RULES = ("exports", "statics", "types", "files", "json", "rulers", "unused")

# Hooks that the sanitizers, the linker or the engine call by these names.
FOREIGN = re.compile(r"(_|main\Z|w2c_|Z_|wasm_)")
PREFIX = re.compile(r"(?:lt|lathe)_([a-z0-9]+)")
PRINTS = re.compile(r"(lt_(buf|arena)_v?printf|v?sn?printf|v?f?printf|asprintf)\Z")
LOOKS = re.compile(
    r"(lt_str_\w*(starts|ends|find|has|contains|eq|cmp|cut)\w*|str(n|case|ncase)?(cmp|str)|mem(cmp|mem))\Z"
)
# In a literal as it stands in C: an object that opens with a key, or a key's end and its colon. A message may quote a
# word before a colon, so that what is printed needs more than that.
JSON_MADE = re.compile(r'\{\s*\\"|,\\"[^"\\]*\\"\s*:|\\":(?=[%\[{\\0-9])')
JSON_LOOKED_FOR = re.compile(r'\{\s*\\"|\\"\s*:')
RULER = re.compile(r"^[ \t]*/\* -{3,} .*$", re.M)
GUESTS = (".py", ".js", ".mjs", ".ts")


def stem(path):
    return os.path.splitext(os.path.basename(path))[0]


def first_word(name):
    return re.split(r"[_\-.]", name)[0]


class Tree:
    """The files of src/ as c_reader.Source, and the names that occur in the other folders."""

    def __init__(self, files, others):
        self.texts = files
        self.units = [c.Source(path, text) for path, text in files.items() if path.endswith((".c", ".h"))]
        self.others = {path: names_in(text) for path, text in others.items()}
        self.names = {path: names_in(text) for path, text in files.items()}
        self.findings = []

    def add(self, path, line, what):
        self.findings.append((path, line, what))


def names_in(text):
    return Counter(re.findall(r"[A-Za-z_]\w*", c.without_comments(text)))


def exported(unit):
    """The names that a .c file defines for others, each with its line."""
    if not unit.path.endswith(".c"):
        return
    for head in [f.head for f in unit.functions] + unit.declared:
        hidden = head.storage & {"static", "extern", "typedef"}
        is_value = head.kind in ("object", "pointer") and head in unit.declared
        if head.name and not hidden and (is_value or head not in unit.declared) and not FOREIGN.match(head.name):
            yield head.name, head.line


def declaring_headers(tree):
    """Name -> the headers that declare it."""
    headers = defaultdict(set)
    for unit in tree.units:
        if unit.path.endswith(".h"):
            for head in unit.declared:
                headers[head.name].add(unit.path)
    return headers


# --- The rules ---


def is_interface(tree, name):
    return any(name in names for path, names in tree.others.items() if path.startswith("include/"))


def check_exports(tree):
    headers = declaring_headers(tree)
    for unit in tree.units:
        for name, line in exported(unit):
            modules = sorted({first_word(stem(path)) for path in {unit.path} | headers[name]})
            match = PREFIX.match(name)
            if name.startswith("lathe_") and is_interface(tree, name):
                continue
            if match is None or match.group(1) not in modules:
                wanted = " or ".join(f"lt_{module}" for module in modules)
                tree.add(unit.path, line, f"{name} is exported: its name begins with {wanted}")


def check_statics(tree):
    places = defaultdict(dict)
    for unit in tree.units:
        for function in unit.functions:
            if "static" in function.head.storage:
                places[function.head.name].setdefault(unit.path, function.head.line)
    for name, files in places.items():
        for path, line in files.items() if len(files) > 1 else ():
            elsewhere = ", ".join(sorted(set(files) - {path}))
            tree.add(path, line, f"the static function {name} is in {elsewhere}, too")


def check_types(tree):
    meanings = defaultdict(dict)  # name -> what it means -> where that is said
    for unit in tree.units:
        for record in unit.records:
            if not record.name.startswith("unnamed_"):
                meanings[record.name].setdefault(f"{record.kind} {unit.path}:{record.line}", (unit.path, record.line))
        for declared in unit.declared:
            if "typedef" in declared.storage and declared.type != declared.name:
                meanings[declared.name].setdefault(f"type {unit.path}:{declared.line}", (unit.path, declared.line))
    for name, places in meanings.items():
        for path, line in places.values() if len(places) > 1 else ():
            elsewhere = ", ".join(sorted(f"{p}:{n}" for p, n in places.values() if (p, n) != (path, line)))
            tree.add(path, line, f"the type {name} has another meaning in {elsewhere}")


def check_files(tree):
    folders = defaultdict(set)
    for path in tree.texts:
        folders[path.endswith(GUESTS), stem(path)].add(os.path.dirname(path))
    for path in tree.texts:
        others = folders[path.endswith(GUESTS), stem(path)] - {os.path.dirname(path)}
        if others:
            tree.add(path, 1, f"{', '.join(sorted(others))} has a file of that name, too")


def literal_at(tokens, at):
    """The text of the literals that follow each other from `at`, and where they end."""
    end = at
    while end < len(tokens) and (tokens[end].text.startswith('"') or tokens[end].text.isupper()):
        end += 1
    return "".join(t.text[1:-1] for t in tokens[at:end] if t.text.startswith('"')), max(end, at + 1)


def check_json(tree):
    for unit in tree.units:
        tokens = unit.tokens
        for i, token in enumerate(tokens[:-1]):
            makes, looks = PRINTS.match(token.text), LOOKS.match(token.text)
            if tokens[i + 1].text == "(" and (makes or looks):
                arguments = tokens[i + 2 : c.closing(tokens, i + 1)]
                check_json_literals(tree, unit, token, arguments, makes is not None)


def check_json_literals(tree, unit, function, arguments, makes):
    i = 0
    while i < len(arguments):
        text, end = literal_at(arguments, i)
        if (JSON_MADE.search(text) and "%" in text) if makes else JSON_LOOKED_FOR.search(text):
            what = "makes JSON: use lt_json_writer" if makes else "looks for a piece of JSON: read it with lt_json"
            tree.add(unit.path, function.line, f"{function.text} {what}")
            return
        i = end


def check_rulers(tree):
    for path, text in tree.texts.items():
        for match in RULER.finditer(text):
            line = match.group(0).rstrip()
            following = text[match.end() + 1 :].split("\n", 1)[0].strip()
            broken = not line.endswith("*/") and following.strip("*-/ ") == ""
            if broken or len(line) > 120:
                tree.add(path, text.count("\n", 0, match.start()) + 1, "a ruler is one line of at most 120 columns")


def uses_of(tree):
    """For each exported name: path, line, users in src/, uses in its own file, users in other folders."""
    declarations = defaultdict(Counter)  # name -> file -> how many declarations of it
    for unit in tree.units:
        for head in unit.declared + [f.head for f in unit.functions]:
            declarations[head.name][unit.path] += 1
    for unit in tree.units:
        for name, line in exported(unit):
            uses = {p: names[name] - declarations[name][p] for p, names in tree.names.items() if name in names}
            inside = uses.pop(unit.path, 0)
            outside = [p for p, count in uses.items() if count > 0]
            others = [p for p, names in tree.others.items() if name in names]
            yield name, unit.path, line, outside, inside, others


def pasted(tree):
    """A pattern for the names that macros put together: lt_##name##_command is each lt_..._command."""
    found = {m for text in tree.texts.values() for m in re.findall(r"\blt_\w*\s*##\s*\w+(?:\s*##\s*_\w+)?", text)}
    parts = [re.split(r"\s*##\s*", words) for words in found]
    return re.compile("|".join(p[0] + r"\w+" + "".join(p[2:]) for p in parts) or "-")


def check_unused(tree):
    made = pasted(tree)
    for name, path, line, outside, inside, others in uses_of(tree):
        if not outside and not others and not made.fullmatch(name):
            what = "used only here: make it static" if inside else "used nowhere: delete it"
            tree.add(path, line, f"{name} is exported and {what}")


def for_tests_only(tree):
    for name, path, line, outside, _, others in uses_of(tree):
        if not outside and others and not any(p.startswith("include/") for p in others):
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            yield path, line, f"{name} is exported for {others[0]}{more}"


CHECKS = {rule: globals()["check_" + rule] for rule in RULES}


def findings_of(rule, tree):
    tree.findings = []
    CHECKS[rule](tree)
    return sorted(set(tree.findings))


# --- The canary ---

RIGHT = {
    "src/a/outbox.h": "typedef struct lt_outbox lt_outbox;\nint lt_outbox_put(lt_outbox *o);\n"
    "extern int lt_outbox_count;\n",
    "src/a/outbox.c": "/* --- Putting --- */\nstruct lt_outbox { int n; };\nint lt_outbox_count = 1;\n"
    "static int outbox_keep(int a) { return a; }\nint lt_outbox_put(lt_outbox *o) { return outbox_keep(o->n); }\n",
    "src/a/outbox_ids.c": 'int lt_outbox_ids(void) { struct pair { int a; } p = {1}; return lt_outbox_count + p.a; }\n'
    'static int ids_say(void) { return lt_buf_printf(b, "no \\"%s\\" in %s", "{}", x) + strcmp(x, "a: b"); }\n',
    "src/a/outbox_open.c": "int lathe_open(void) { return 0; }\n",
    "src/b/main.c": "#define OUTBOX(name) lt_outbox_##name()\n"
    "int main(void) { return lt_outbox_put(0) + OUTBOX(ids); }\n",
}
INTERFACE = {"include/lathe.h": "int lathe_open(void);\n"}
WRONG = {
    "exports": [
        ("src/b/inbox.c", "int lathe_shut(void) { return 0; }\n", 1),
        ("src/b/inbox.c", "int lt_outbox_more(void) { return 0; }\n", 1),
        ("src/b/inbox.c", "const int inbox_size = 1;\n", 1),
    ],
    "statics": [("src/b/inbox.c", "static int outbox_keep(int b) { return b; }\n", 2)],
    "types": [
        ("src/b/inbox.c", "struct lt_outbox { int m; };\n", 2),
        ("src/b/inbox.c", "typedef struct { int m; } pair;\n", 2),
    ],
    "files": [("src/b/outbox.c", "\n", 3)],
    "json": [
        ("src/b/inbox.c", 'void f(void) { lt_buf_printf(b, "{\\"id\\":%d}", 1); }\n', 1),
        ("src/b/inbox.c", 'void f(void) { snprintf(b, 9, "[%d" ",\\"id\\": %d", 1, 2); }\n', 1),
        ("src/b/inbox.c", 'void f(void) { if (lt_str_starts(b, LT_STR("{\\"id\\":"))) { return; } }\n', 1),
        ("src/b/inbox.c", 'void f(void) { if (strstr(b, "\\"id\\":") != 0) { return; } }\n', 1),
    ],
    "rulers": [
        ("src/b/inbox.c", "/* --- A section " + "-" * 90 + "\n */\n", 1),
        ("src/b/inbox.c", "/* --- B " + "-" * 120 + " */\n", 1),
    ],
    "unused": [
        ("src/b/inbox.c", "int lt_inbox_put(void) { return 0; }\n", 1),
        ("src/b/inbox.c", "int lt_inbox_put(void) { return 0; }\nstatic int a(void) { return lt_inbox_put(); }\n", 1),
    ],
}


def canary():
    silent = []
    for rule in RULES:
        found = findings_of(rule, Tree(dict(RIGHT), INTERFACE))
        if found:
            silent.append(f"{rule}: finds something where all is right: {found}")
        for path, text, count in WRONG[rule]:
            found = findings_of(rule, Tree({**RIGHT, path: text}, INTERFACE))
            if len(found) != count:
                silent.append(f"{rule}: {count} must be found in {text!r}, but {found} is")
    for line in silent:
        print(f"lint-names: the canary {line}", file=sys.stderr)
    return 1 if silent else 0


def read_tree():
    files = c.sources("src/*.[chS]", *("src/*" + ending for ending in GUESTS))
    others = c.sources("include/*.h", "tests/*.[ch]", "bench/*.[ch]")
    return Tree({path: c.read(path) for path in files}, {path: c.read(path) for path in others})


def print_findings(findings):
    for path, line, what in findings:
        print(f"{path}:{line}: {what}")


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    arguments = sys.argv[1:]
    if "--canary" in arguments:
        return canary()
    tree = read_tree()
    if "--tests" in arguments:
        print_findings(sorted(for_tests_only(tree)))
        return 0
    chosen = arguments[1:] if arguments[:1] == ["--rule"] else list(RULES)
    counts, bad = {}, False
    for rule in chosen:
        findings = findings_of(rule, tree)
        counts[rule] = len(findings)
        if "--count" not in arguments:
            print_findings(findings)
            bad = bad or bool(findings)
    print("lint-names: " + ", ".join(f"{count} {rule}" for rule, count in counts.items()))
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
