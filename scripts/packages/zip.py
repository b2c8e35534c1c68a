#!/usr/bin/env python3
"""Packs a folder as a zip file with sorted entries, one time and plain modes: zip.py FOLDER OUTPUT SECONDS"""
import os
import sys
import time
import zipfile


def main(folder, output, seconds):
    when = time.gmtime(int(seconds))[:6]
    names = sorted(os.path.relpath(os.path.join(at, name), folder) for at, _, files in os.walk(folder) for name in files)
    with zipfile.ZipFile(output, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name in names:
            path = os.path.join(folder, name)
            entry = zipfile.ZipInfo(name, when)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if os.access(path, os.X_OK) else 0o100644) << 16
            with open(path, "rb") as file:
                packed.writestr(entry, file.read())


main(*sys.argv[1:])
