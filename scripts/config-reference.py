#!/usr/bin/env python3
"""Writes what `lathe config reference` prints between the two markers of docs/guide/configuration.md."""
import os
import re
import subprocess

PAGE = "docs/guide/configuration.md"


def main():
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    lathe = os.environ.get("LATHE", "build/lathe")
    reference = subprocess.run([lathe, "config", "reference"], stdout=subprocess.PIPE, check=True).stdout.decode()
    with open(PAGE, encoding="utf-8") as f:
        page = f.read()
    begin, end = "<!-- reference: begin -->\n", "<!-- reference: end -->"
    page = re.sub(begin + ".*?" + end, lambda _: begin + reference + end, page, flags=re.S)
    with open(PAGE, "w", encoding="utf-8") as f:
        f.write(page)


if __name__ == "__main__":
    main()
