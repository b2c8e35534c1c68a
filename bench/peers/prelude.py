# What a program is run with where every run starts an interpreter: JSON lines over stdin and stdout, print to stderr.
import json, sys

_out, sys.stdout = sys.stdout, sys.stderr


def call_tool(name, args=None):
    _out.write(json.dumps({"type": "tool_call", "id": "tc_1", "name": name, "args": args or {}}) + "\n")
    _out.flush()
    answer = json.loads(sys.stdin.readline())
    if answer["type"] == "tool_error":
        raise RuntimeError(f"Tool '{name}' failed: {answer['error']}")
    return json.loads(answer["data"])


def set_result(data):
    _out.write(json.dumps({"type": "result", "data": data}) + "\n")
    _out.flush()


