#!/usr/bin/env python3
"""Every key of the configuration has a reader: the member that its row fills is used outside of src/config.

The compiler says who uses a member: each one of config.h is marked as deprecated in a copy, and the rooms that may read
the configuration are compiled with the copy. Prints one line per finding and exits 1 when there is one. With --canary it
must find a member that is known to have no reader.
"""
import os
import re
import subprocess
import sys
import tempfile

HEADER = "src/config/config.h"
TABLE = "src/config/config_keys.c"
READERS = ["src/app", "src/telemetry", "src/cli", "src/source", "src/gateway", "src/serve"]

STRUCT = re.compile(r"typedef struct (lt_config\w*) \{\n(.*?)\n\}", re.S)
MEMBER = re.compile(r"^  ((?:const )?(?:struct )?(\w+)[ *](?:const )?[ *]*(?:const \*)?)(\w+(?:, \w+)*);", re.M)
ROW = re.compile(r'^    \{"([^"]+)", [A-Z]+\((lt_config\w*), ([\w.]+).*?\},$', re.M | re.S)


def read_text(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def marked_header():
    """config.h with every member deprecated, and the type of each member: {"lt_config.python": "lt_config_python"}."""
    types = {}

    def mark_struct(struct):
        def mark_member(member):
            names = member.group(3).split(", ")
            for name in names:
                types[f"{struct.group(1)}.{name}"] = member.group(2)
            marks = [f'{n} __attribute__((deprecated("{struct.group(1)}.{n}")))' for n in names]
            return f"  {member.group(1)}{', '.join(marks)};"

        return MEMBER.sub(mark_member, struct.group(0))

    return STRUCT.sub(mark_struct, read_text(HEADER)), types


def rows(types):
    """(path of the key, the member it fills), the member as lt_config_python.path."""
    for path, record, members in ROW.findall(read_text(TABLE)):
        *way, last = members.split(".")
        for member in way:
            record = types[f"{record}.{member}"]
        yield path, f"{record}.{last}"


def used_members(header):
    sources = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", *READERS], stdout=subprocess.PIPE, check=True)
    used = set()
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "config"))
        with open(os.path.join(folder, "config", "config.h"), "w", encoding="utf-8") as f:
            f.write(header)
        gcc = ["gcc", "-std=gnu17", "-D_GNU_SOURCE", '-DLT_VERSION=""', '-DLT_ENGINE_VERSION=""', '-DLT_PARTS=""', '-DLT_VERSION_DATE=""', "-fsyntax-only", f"-I{folder}", "-Isrc", "-Iinclude"]
        for source in sources.stdout.decode().split():
            if source.endswith(".c"):
                run = subprocess.run([*gcc, "-Ibuild/engine", source], stderr=subprocess.PIPE, check=False)
                said = run.stderr.decode()
                if run.returncode != 0:
                    sys.exit(f"lint: {source} does not compile:\n{said}")
                used.update(re.findall(r"is deprecated: (lt_config[\w.]+)", said))
    return used


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    header, types = marked_header()
    keys = list(rows(types))
    is_canary = "--canary" in sys.argv
    if is_canary:
        keys.append(("canary", "lt_config.secret_count"))
    used = used_members(header)
    findings = [f"{TABLE}: nothing reads {path} ({m})" for path, m in keys if m not in used]
    if is_canary:
        found = any("canary" in finding for finding in findings)
        print("lint: a key without a reader is " + ("found" if found else "NOT found"))
        return 0 if found else 1
    for finding in findings:
        print(finding)
    print(f"lint: {len(keys)} configuration keys have members, {len(findings)} of them no reader")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
