#!/usr/bin/env python3
"""Checks that LT_YIELDS is a promise that is kept (src/base/fiber.h).

A function that may suspend its fiber lets others run in the middle of it: what it points to may be gone afterwards. Its
caller must see that in the prototype. The compiler does not look at LT_YIELDS, so this script does:

  missing    a function that calls one that yields has to say so itself: exported ones in the header, static ones
             wherever they are declared. A call may go through a member, a parameter or a variable that is a pointer to
             a function.
  needless   a function that says so must call one that does, or be put where a function that yields is expected.
  lost       a function that yields is not put into a member or parameter that does not promise it.
  differs    the declarations of one function agree.

A fiber's first function needs no mark: it is what is handed over as an lt_fiber_fn. To call an lt_fiber_fn like any other
function yields. The plugins' interface (include/) is for others' C and is not followed. Where the declarations do not
tell the truth about one line, a comment behind it or in front of it does, with the reason:

  /* no LT_YIELDS: nothing has been started */      what is called or handed over on the line does not yield there
  /* LT_YIELDS: the plugin calls tools */           what is called on the line yields although nothing says so

  scripts/lint-yields.py            prints "file:line: what is wrong" for each finding in src/; exits 1 where one of a
                                    kind in RULES_ENFORCED is among them
  scripts/lint-yields.py --count    prints only how many there are
  scripts/lint-yields.py --canary   proves that it finds each kind of them, and nothing where all is right
"""
import os
import re
import sys
from collections import defaultdict

sys.dont_write_bytecode = True
import c_reader as c

MARK = "LT_YIELDS"
ROOTS = {"lt_fiber_yield"}
FIRST_OF_FIBER = "lt_fiber_fn"
PLAIN_HERE = re.compile(r"/\* no LT_YIELDS: ")
YIELDS_HERE = re.compile(r"/\* LT_YIELDS: ")

PUBLIC = "include/"

RULES = ("missing", "needless", "lost", "differs")
RULES_ENFORCED = RULES


def is_marked(declared):
    return any(t.text == MARK for t in declared.tail)


def lines_with(pattern, text):
    """The numbers of the lines that a comment is about: its own, or the next one where it stands alone."""
    lines = text.split("\n")
    found = [(i, lines[i].lstrip()) for i in range(len(lines)) if pattern.search(lines[i])]
    return {i + 2 if pattern.match(line) else i + 1 for i, line in found}


class Unit:
    """What one file declares, by name; static things of other files are not seen from here."""

    def __init__(self, path, text):
        source = c.Source(path, text)
        self.path = path
        self.functions = source.functions
        self.plain_here = lines_with(PLAIN_HERE, text)
        self.yields_here = lines_with(YIELDS_HERE, text)
        self.heads = source.declared + [f.head for f in source.functions]
        self.records = {r.name: self.members(r) for r in source.records if r.kind != "enum"}
        self.types = {d.name: d for d in source.declared if "typedef" in d.storage}
        self.values = {d.name: d for d in source.declared if "typedef" not in d.storage and d.kind != "function"}


    def members(self, record):
        members = {d.name: d for d in c.members_of(record)}
        if self.path.startswith(PUBLIC):  # plugins are not ours: their interface promises nothing
            members = {name: d._replace(kind="object", type="") for name, d in members.items()}
        return members


class Program:
    """All files together: finds what a name means in a file."""

    def __init__(self, units):
        self.units = units
        self.shared = defaultdict(dict)
        for unit in units:
            if unit.path.endswith(".h"):
                for table in ("records", "types", "values"):
                    self.shared[table].update(getattr(unit, table))
        self.declarations = defaultdict(list)  # (file or None, name) -> [(unit, head)]
        self.in_headers = {}  # name of a static function -> its key
        self.members_named = defaultdict(list)
        for unit in units:
            self.index(unit)

    def index(self, unit):
        for head in unit.heads:
            if head.kind == "function":
                key = self.key_of(unit, head)
                self.declarations[key].append((unit, head))
                if key[0] is not None and key[0].endswith(".h"):
                    self.in_headers[head.name] = key
        for record in unit.records.values():
            for member in record.values():
                self.members_named[member.name].append((unit, member))

    @staticmethod
    def key_of(unit, head):
        return (unit.path if "static" in head.storage else None, head.name)

    def function(self, unit, name):
        """The key of the function that `name` is in this file, or None."""
        for key in ((unit.path, name), (None, name)):
            if key in self.declarations:
                return key
        return self.in_headers.get(name)

    def look_up(self, unit, table, name):
        return getattr(unit, table).get(name) or self.shared[table].get(name)

    def member(self, unit, kind, name):
        """The member `name` of the record that the type `kind` is or names, or None."""
        record = self.record(unit, kind)
        if record is None or name in record or "" not in record:
            return record.get(name) if record is not None else None
        return self.member(unit, record[""].type, name)

    def record(self, unit, kind):
        """The members of the record that the type `kind` is or names; None for another type."""
        for _ in range(4):
            for records, types in ((unit.records, unit.types), (self.shared["records"], self.shared["types"])):
                if kind in records:
                    return records[kind]
                if kind in types and types[kind].type != kind:
                    kind = types[kind].type
                    break
            else:
                return None
        return None

    def slot(self, unit, declared):
        """What a member, parameter or variable holds: "yields", "first" (of a fiber), "plain" or None (no function)."""
        if declared is None:
            return None
        if declared.kind != "pointer":
            alias = self.look_up(unit, "types", declared.type)
            if alias is None or alias.kind == "object":
                return None
            if alias.name == FIRST_OF_FIBER:
                return "first"
            declared = alias
        return "yields" if is_marked(declared) else "plain"


def parameters(head):
    return [d for part in c.split(head.params, ",") for d in c.declared_in(part)[:1]]


class Body:
    """Walks the body of one function: `calls` are (name, slot or key, line), `uses` are (key, slot, line)."""

    def __init__(self, program, unit, function):
        self.program = program
        self.unit = unit
        self.tokens = function.body
        self.value = function.head if function.head.kind != "function" else None  # what an initializer is of
        self.variables = {d.name: d for d in parameters(function.head)}
        self.calls = []
        self.uses = []
        for i, token in enumerate(self.tokens):
            if c.is_name(token):
                self.look_at(i)

    def text(self, i):
        return self.tokens[i].text if 0 <= i < len(self.tokens) else ""

    def look_at(self, i):
        if self.begins_declaration(i):
            self.declare(i)
        around = [self.text(k) for k in (i - 2, i - 1, i + 1, i + 2)]
        if around[2] == "(" and self.text(i) not in c.STATEMENTS:
            self.add_call(i)
        elif around == ["(", "*", ")", "("]:
            self.add_call(i)
        else:
            self.add_use(i)

    # --- Variables ---

    def begins_declaration(self, i):
        if i > 0 and self.text(i - 1) not in ("{", "}", ";", "("):
            return False
        if self.text(i) in c.STATEMENTS or i + 2 >= len(self.tokens):
            return False
        following = self.tokens[i + 1]
        return c.is_name(following) or following.text == "*" or (following.text == "(" and self.text(i + 2) == "*")

    def declare(self, i):
        end = i
        while end < len(self.tokens) and self.text(end) not in (";", ")", ":"):
            end = c.closing(self.tokens, end) + 1 if self.text(end) in c.CLOSERS else end + 1
        for declared in c.declared_in(self.tokens[i:end]):
            if declared.kind != "function":
                self.variables[declared.name] = declared

    def variable(self, name):
        return self.variables.get(name) or self.program.look_up(self.unit, "values", name)

    # --- Types of expressions ---

    def declared_at(self, i):
        """The Declared of the expression that ends at token `i`: a variable, a member or a called function."""
        if i < 0:
            return None
        if self.text(i) == "]":
            return self.declared_at(c.opening(self.tokens, i) - 1)
        if self.text(i) == ")":
            return self.declared_in_parentheses(c.opening(self.tokens, i), i)
        if not c.is_name(self.tokens[i]):
            return None
        if self.text(i - 1) in ("->", "."):
            base = self.declared_at(i - 2)
            return self.program.member(self.unit, base.type, self.text(i)) if base is not None else None
        return self.variable(self.text(i))

    def declared_in_parentheses(self, begin, end):
        if begin > 0 and c.is_name(self.tokens[begin - 1]):
            key = self.program.function(self.unit, self.text(begin - 1))
            return self.program.declarations[key][0][1] if key is not None else self.declared_at(begin - 1)
        if self.text(begin + 1) == "(":  # ((type *)value)
            casts = c.declared_in(self.tokens[begin + 2 : c.closing(self.tokens, begin + 1)] + [c.Token("cast", 0)])
            return casts[0] if casts else None
        return self.declared_at(end - 1)

    # --- Calls, and functions that are handed on ---

    def add_call(self, i):
        line = self.tokens[i].line
        if line in self.unit.yields_here:
            self.calls.append((self.text(i), "yields", line))
        elif line not in self.unit.plain_here:
            self.calls.append((self.text(i), self.callee(i), line))

    def callee(self, i):
        """What is called: the key of a function, or the slot of a pointer; None where nobody knows."""
        name = self.text(i)
        if self.text(i - 1) in ("->", "."):
            base = self.declared_at(i - 2)
            if base is None or self.program.record(self.unit, base.type) is None:
                return self.any_member(name)
            return self.program.slot(self.unit, self.program.member(self.unit, base.type, name))
        return self.program.slot(self.unit, self.variables.get(name)) or self.program.function(self.unit, name)

    def any_member(self, name):
        """For an expression whose type is not understood: "yields" where any member of that name does."""
        slots = [self.program.slot(unit, member) for unit, member in self.program.members_named[name]]
        return "yields" if "yields" in slots else None

    def add_use(self, i):
        if self.text(i - 1) in ("->", ".") or self.text(i) in self.variables:
            return
        key = self.program.function(self.unit, self.text(i))
        if key is not None:
            self.uses.append((key, self.slot_around(i), self.tokens[i].line))

    def slot_around(self, i):
        """The slot that the value at `i` is put into, or None where that is not understood."""
        before = i - 1 if self.text(i - 1) != "&" else i - 2
        if self.text(before) == "=":
            return self.slot_of_assignment(before)
        if self.text(before) not in ("(", ",", "{"):
            return None
        begin, commas = self.enclosing(before + 1)
        if self.text(begin) == "{":
            return self.slot_of_place(begin, commas)
        return self.slot_of_argument(begin, commas) if begin > 0 else None

    def enclosing(self, i):
        """The bracket that `i` is in, and how many commas are between the two; -1 where there is none."""
        begin, commas = i - 1, 0
        while begin >= 0 and self.text(begin) not in ("(", "{", "[", ";"):
            commas += self.text(begin) == ","
            begin = c.opening(self.tokens, begin) - 1 if self.text(begin) in (")", "]", "}") else begin - 1
        return begin, commas

    def slot_of_assignment(self, at):
        if self.text(at - 2) == ".":
            record = self.program.record(self.unit, self.initialized(self.enclosing(at - 2)[0])[0])
            if record is not None:
                return self.program.slot(self.unit, record.get(self.text(at - 1)))
            return self.any_member(self.text(at - 1)) if self.declared_at(at - 1) is None else None
        return self.program.slot(self.unit, self.declared_at(at - 1) if at > 0 else self.value)

    def slot_of_argument(self, begin, commas):
        key = self.program.function(self.unit, self.text(begin - 1))
        if key is None or self.text(begin - 2) in ("->", "."):
            return None
        slots = []
        for unit, head in self.program.declarations[key]:
            slots += [self.program.slot(unit, declared) for declared in parameters(head)[commas : commas + 1]]
        return next((slot for slot in ("yields", "first", "plain") if slot in slots), None)

    def slot_of_place(self, begin, commas):
        """Of a value without a name in an initializer."""
        kind, is_array = self.initialized(begin)
        if is_array:
            return self.program.slot(self.unit, c.Declared("", kind, "object", [], [], set(), 0))
        members = list((self.program.record(self.unit, kind) or {}).values())
        return self.program.slot(self.unit, members[commas]) if commas < len(members) else None

    def initialized(self, begin):
        """The type that the braces at `begin` initialize, or None, and whether they are an array's."""
        before = self.text(begin - 1)
        if before == ")":
            inside = self.tokens[c.opening(self.tokens, begin - 1) + 1 : begin - 1]
            casts = c.declared_in(inside)
            return (casts[0].type if casts else None, any(t.text == "[" for t in inside))
        if before == "=" and self.text(begin - 3) != ".":
            declared = self.declared_at(begin - 2) or self.value
            return (None, False) if declared is None else (declared.type, [t.text for t in declared.tail[:1]] == ["["])
        if before in ("{", ","):
            kind, is_array = self.initialized(self.enclosing(begin)[0])
            return (kind if is_array else None, False)
        return None, False


def initializer_uses(program, unit):
    """The functions that stand in initializers at the top level, each with the slot where that is plain to see."""
    for declared in unit.values.values():
        body = Body(program, unit, c.Function(declared, declared.tail))
        yield from body.uses


class Check:
    """All findings about one set of files."""

    def __init__(self, files):
        self.program = Program([Unit(path, text) for path, text in files])
        self.findings = []
        self.marked = {k for k, found in self.program.declarations.items() if any(is_marked(h) for _, h in found)} | {
            (None, name) for name in ROOTS
        }
        self.bodies = {}
        self.uses = []
        for unit in self.program.units:
            self.uses += [(unit, *use) for use in initializer_uses(self.program, unit)]
            for function in unit.functions:
                body = Body(self.program, unit, function)
                self.bodies[self.program.key_of(unit, function.head)] = (unit, function.head, body)
                self.uses += [(unit, *use) for use in body.uses]
        self.check_missing()
        self.check_needless()
        self.check_lost()
        self.check_agreement()

    def add(self, rule, unit, line, what):
        self.findings.append((unit.path, line, what, rule))

    def suspends(self, callee):
        return callee in ("yields", "first") or callee in self.marked or callee in self.missing

    def first_call_that_yields(self, body):
        return next(((name, line) for name, callee, line in body.calls if self.suspends(callee)), None)

    def check_missing(self):
        """Goes round until no more are found: a function that misses the mark makes its callers miss it, too."""
        self.missing = {}
        called = {callee for _, _, body in self.bodies.values() for _, callee, _ in body.calls}
        first = {key for _, key, slot, _ in self.uses if slot == "first"} - called
        grows = True
        while grows:
            grows = False
            for key, (_, _, body) in self.bodies.items():
                if key in self.marked or key in self.missing or key in first or key[1] == "main":
                    continue
                call = self.first_call_that_yields(body)
                if call is not None:
                    self.missing[key] = call
                    grows = True
        for key, (name, line) in self.missing.items():
            unit, head, _ = self.bodies[key]
            what = f"{head.name} calls {name}, which yields (line {line}): it needs {MARK}"
            self.add("missing", unit, head.line, what)

    def check_needless(self):
        expected = {key for _, key, slot, _ in self.uses if slot in ("yields", "first", None)}
        for key in self.marked - expected:
            if key in self.bodies and key[1] not in ROOTS:
                unit, head, body = self.bodies[key]
                if self.first_call_that_yields(body) is None:
                    self.add("needless", unit, head.line, f"{head.name} is marked {MARK} and calls nothing that yields")

    def check_lost(self):
        for unit, key, slot, line in self.uses:
            if slot == "plain" and (key in self.marked or key in self.missing) and line not in unit.plain_here:
                self.add("lost", unit, line, f"{key[1]} yields and is put where nothing says {MARK}")

    def check_agreement(self):
        for key in self.marked:
            for unit, head in self.program.declarations[key]:
                promises = key[0] is not None or unit.path.endswith(".h")
                if promises and not is_marked(head):
                    self.add("differs", unit, head.line, f"{head.name} is marked {MARK} elsewhere: say so here, too")


PROMISE = """
typedef void (*lt_fiber_fn)(void *arg);
void lt_fiber_yield(void) LT_YIELDS;
void lt_spawn(lt_fiber_fn fn, void *arg);
void lt_post(void (*fn)(void *arg));
typedef struct lt_thing lt_thing;
struct lt_thing { void (*run)(lt_thing *self) LT_YIELDS; void (*stop)(lt_thing *self); lt_thing *next; };
void lt_wait(int ms) LT_YIELDS;
"""
RIGHT = """
void lt_fiber_yield(void) { }
void lt_wait(int ms) { lt_fiber_yield(); }
static void thing_run(lt_thing *self) LT_YIELDS { lt_wait(1); }
static void thing_idle(lt_thing *self) LT_YIELDS { }
static void thing_stop(lt_thing *self) { self->stop(self->next); }
static void on_fiber(void *arg) { lt_thing *thing = arg; thing->next->run(thing); }
static const lt_thing idle = {.run = thing_idle, .stop = thing_stop};
static void thing_all(lt_thing *list, void (*each)(lt_thing *thing) LT_YIELDS) LT_YIELDS { each(list); }
static void thing_some(lt_thing *list) { lt_thing own = {.run = thing_run}; lt_spawn(on_fiber, list); }
static void thing_count(int run) { /* lt_wait(1) */ run++; }
static void thing_once(void) { lt_wait(0); /* no LT_YIELDS: 0 */ }
static void thing_plugged(void) LT_YIELDS { someone_elses(); /* LT_YIELDS: it calls back */ }
static void thing_called(void) LT_YIELDS {
  /* LT_YIELDS: it calls back */
  someone_elses();
}
typedef void lt_thing_fn(int ms) LT_YIELDS;
static void thing_typed(lt_thing_fn *fn) LT_YIELDS { fn(1); }
static const struct { int a; void (*fn)(int a) LT_YIELDS; } table[] = {{1, lt_wait}, {2, thing_number}};
static void thing_number(int a) LT_YIELDS { }
static void thing_each(lt_thing *list) LT_YIELDS { thing_all(list, thing_run); }
"""
WRONG = {
    "direct": "static void thing_run(void) { lt_wait(1); }",
    "through another": "static void thing_a(void) LT_YIELDS { lt_wait(1); }\nstatic void thing_b(void) { thing_a(); }",
    "through a member": "static void thing_run(lt_thing *self) { self->run(self); }",
    "through a chain": "static void thing_run(lt_thing *self) { self->next->next[1].run(self); }",
    "through a parameter": "static void thing_run(void (*fn)(void) LT_YIELDS) { fn(); }",
    "through a variable": "static void thing_run(void) { void (*fn)(int) LT_YIELDS = lt_wait; (*fn)(1); }",
    "a fiber's first function, called": "static void thing_here(lt_fiber_fn fn) { fn(0); }",
    "needless": "static void thing_run(int ms) LT_YIELDS { ms++; }",
    "lost in a parameter": "static void thing_run(void *arg) LT_YIELDS { lt_wait(1); }\n"
    "static void a(void) { lt_post(thing_run); }",
    "lost in a member": "static void thing_end(lt_thing *t) LT_YIELDS { lt_wait(1); }\n"
    "static void a(lt_thing *t) { t->stop = thing_end; }",
    "lost in a table": "static void thing_end(int a) LT_YIELDS { lt_wait(a); }\n"
    "static const struct { int a; void (*fn)(int a); } table[] = {{1, thing_end}};",
    "lost in a literal": "static void thing_end(lt_thing *t) LT_YIELDS { lt_wait(1); }\n"
    "static void a(lt_thing *t) { *t = (lt_thing){.next = t, .stop = thing_end}; }",
    "differs": "static void thing_run(void);\nstatic void thing_run(void) LT_YIELDS { lt_wait(1); }",
}


def canary():
    files = [("promise.h", PROMISE), ("right.c", RIGHT)]
    silent = []
    for finding in Check(files).findings:
        silent.append(f"finds something where all is right: {finding}")
    for what, text in WRONG.items():
        findings = Check(files + [("wrong.c", text)]).findings
        if len(findings) != 1 or findings[0][0] != "wrong.c":
            silent.append(f"{what}: must be found once, but {findings} is")
    for line in silent:
        print(f"lint-yields: the canary {line}", file=sys.stderr)
    return 1 if silent else 0


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    if "--canary" in sys.argv:
        return canary()
    findings = Check([(path, c.read(path)) for path in c.sources("src/*.[ch]", "include/*.h")]).findings
    if "--count" not in sys.argv:
        for path, line, what, _ in sorted(findings):
            print(f"{path}:{line}: {what}")
    counts = {rule: sum(found[3] == rule for found in findings) for rule in RULES}
    print("lint-yields: " + ", ".join(f"{counts[rule]} {rule}" for rule in RULES))
    return 1 if any(counts[rule] for rule in RULES_ENFORCED) else 0


if __name__ == "__main__":
    sys.exit(main())
