#!/usr/bin/env python3
"""Packs packages/python and the library as a wheel: wheel.py BUNDLE OUTPUT_FOLDER MACHINE GLIBC SECONDS

By hand because the usual tools put times of the machine into it. The format is that of the binary distribution format of
Python's packaging specifications, version 1.0.
"""
import base64
import hashlib
import os
import sys
import time
import tomllib
import zipfile

SOURCE = "packages/python"


def metadata_of(project):
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {project['version']}",
             f"Summary: {project['description']}", f"License: {project['license']['text']}",
             f"Requires-Python: {project['requires-python']}"]
    lines += [f"Classifier: {it}" for it in project["classifiers"]]
    with open(os.path.join(SOURCE, project["readme"]), encoding="utf-8") as readme:
        return "\n".join([*lines, "Description-Content-Type: text/markdown", "", readme.read()])


def read(path):
    with open(path, "rb") as file:
        return file.read()


def contents(project, bundle, tag):
    """What is in the wheel, by name."""
    module = os.path.join(SOURCE, "lathe")
    found = {f"lathe/{name}": read(os.path.join(module, name)) for name in os.listdir(module) if name.endswith((".py", ".typed"))}
    libraries = os.path.join(bundle, "lib")
    # Lines at a terminal are the program's.
    of_terminal = ("libedit.", "libtinfo.", "libbsd.", "libmd.")
    for name in os.listdir(libraries):
        if not name.startswith(of_terminal):
            found[f"lathe/{name}"] = read(os.path.join(libraries, name))
    helper = os.path.join(bundle, "libexec/lathe/lathe-exec")
    if os.path.exists(helper):
        found["lathe/lathe-exec"] = read(helper)
    info = f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    licences = os.path.join(bundle, "licences")
    for name in os.listdir(licences):
        found[f"{info}/licences/{name}"] = read(os.path.join(licences, name))
    found[f"{info}/METADATA"] = metadata_of(project).encode()
    found[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: lathe\nRoot-Is-Purelib: false\nTag: {tag}\n".encode()
    return found, info


def record_of(found, info):
    def line(name):
        digest = base64.urlsafe_b64encode(hashlib.sha256(found[name]).digest()).rstrip(b"=").decode()
        return f"{name},sha256={digest},{len(found[name])}"
    return "\n".join([*map(line, sorted(found)), f"{info}/RECORD,,", ""]).encode()


def main(bundle, folder, machine, glibc, seconds):
    with open(os.path.join(SOURCE, "pyproject.toml"), "rb") as file:
        project = tomllib.load(file)["project"]
    tag = f"py3-none-manylinux_{glibc.replace('.', '_')}_{machine}"
    found, info = contents(project, bundle, tag)
    found[f"{info}/RECORD"] = record_of(found, info)
    output = os.path.join(folder, f"{project['name'].replace('-', '_')}-{project['version']}-{tag}.whl")
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name in sorted(found):
            entry = zipfile.ZipInfo(name, time.gmtime(int(seconds))[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if name.endswith("/lathe-exec") else 0o100644) << 16
            packed.writestr(entry, found[name])
    print(output)


main(*sys.argv[1:])
