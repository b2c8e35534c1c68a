"""The value of a program that does not call set_result: what it returns at its top level, else its last expression's.

Nothing is wrapped in a function: names stay global, and lines and columns stay as they are written. Python's parser takes
a `return` and an `await` at the top level; the nodes that its compiler would refuse are replaced.
"""
import _ast

PARSE = _ast.PyCF_ONLY_AST | _ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
RETURN, LAST, RETURNED, LEAVE = ("__lathe_" + name for name in ("return__", "last__", "returned__", "leave__"))


class Returned(BaseException):
    """Ends a program at a top-level `return`. Not an Exception, which a program may catch."""


class Leaving:
    """A context manager that sees a `return` as the plain end of its block, as it does inside a function."""

    def __init__(self, manager):
        self.manager = manager

    def __enter__(self):
        return type(self.manager).__enter__(self.manager)

    def __exit__(self, kind, e, traceback):
        leave = type(self.manager).__exit__
        if kind is Returned:
            leave(self.manager, None, None, None)
            return False
        return leave(self.manager, kind, e, traceback)

    async def __aenter__(self):
        return await type(self.manager).__aenter__(self.manager)

    async def __aexit__(self, kind, e, traceback):
        leave = type(self.manager).__aexit__
        if kind is Returned:
            await leave(self.manager, None, None, None)
            return False
        return await leave(self.manager, kind, e, traceback)


class Value:
    def __init__(self):
        self.value = None

    def keep(self, value):
        self.value = value

    def leave(self, value=None):
        self.value = value
        return Returned()

    def names(self):
        return {RETURN: self.leave, LAST: self.keep, RETURNED: Returned, LEAVE: Leaving}


def place(node, like):
    node.lineno, node.col_offset = like.lineno, like.col_offset
    node.end_lineno, node.end_col_offset = like.end_lineno, like.end_col_offset
    return node


def call(name, arguments, like):
    function = place(_ast.Name(id=name, ctx=_ast.Load()), like)
    return place(_ast.Call(func=function, args=arguments, keywords=[]), like)


def return_nodes(node):
    arguments = [node.value] if node.value is not None else []
    return place(_ast.Raise(exc=call(RETURN, arguments, node), cause=None), node)


def rewrite_body(body):
    """Replaces the returns in a list of statements; whether there are any. Functions and classes are left alone."""
    found = False
    for i, node in enumerate(body):
        if isinstance(node, _ast.Return):
            body[i] = return_nodes(node)
            found = True
        elif not isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef, _ast.ClassDef)):
            found |= rewrite_statement(node)
    return found


def rewrite_statement(node):
    in_body = rewrite_body(getattr(node, "body", []))
    found = in_body
    for field in ("orelse", "finalbody"):
        found |= rewrite_body(getattr(node, field, []))
    for part in getattr(node, "handlers", []) + getattr(node, "cases", []):
        found |= rewrite_body(part.body)
    if in_body and isinstance(node, _ast.Try) and node.handlers:
        node.handlers.insert(0, let_return_pass(node.handlers[0]))
    if in_body and isinstance(node, (_ast.With, _ast.AsyncWith)):
        for item in node.items:
            item.context_expr = call(LEAVE, [item.context_expr], item.context_expr)
    return found


def let_return_pass(like):
    again = place(_ast.Raise(exc=None, cause=None), like)
    kind = place(_ast.Name(id=RETURNED, ctx=_ast.Load()), like)
    return place(_ast.ExceptHandler(type=kind, name=None, body=[again]), like)


def is_named(name, body):
    """Whether something in the statements is this name. Comments and texts are not. (No recursion: a sum may be deep.)"""
    left = list(body)
    while left:
        node = left.pop()
        if isinstance(node, list):
            left.extend(node)
        elif isinstance(node, _ast.Name) and node.id == name:
            return True
        elif isinstance(node, _ast.AST):
            left.extend(getattr(node, field, None) for field in node._fields)
    return False


def is_idle_main(body, text):
    """Whether the program defines a `main` without parameters, and nothing else names it."""
    mains = [node for node in body if isinstance(node, (_ast.FunctionDef, _ast.AsyncFunctionDef)) and node.name == "main"]
    if len(mains) != 1 or text.count("main") != 1 and is_named("main", body):
        return False
    parameters = mains[0].args
    return not (parameters.args or parameters.posonlyargs or parameters.kwonlyargs)


def with_value(tree, text):
    has_return = rewrite_body(tree.body)
    if not has_return and is_idle_main(tree.body, text):
        last = tree.body[-1]
        tree.body.append(place(_ast.Expr(value=call("main", [], last)), last))
    keep_last(tree.body)
    return tree


def keep_last(body):
    """Keeps the value of the last expression, also in `if __name__ == "__main__":`, and in a `try` round it."""
    last = body[-1] if body else None
    if isinstance(last, _ast.Expr):
        last.value = call(LAST, [last.value], last.value)
    elif isinstance(last, _ast.If) and is_main_guard(last.test):
        keep_last(last.body)
    elif isinstance(last, _ast.Try):
        keep_last(last.orelse or last.body)


def is_main_guard(test):
    return isinstance(test, _ast.Compare) and isinstance(test.left, _ast.Name) and test.left.id == "__name__"
