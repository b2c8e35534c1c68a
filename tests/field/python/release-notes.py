# textwrap, join and format of sections.
# servers: github
# calls: github.list_commits 1
# logs:
#   Fixes
#     - Fix total
#     - Fix crash on empty cart [#1]
#   Other
#     - Bump deps
#     - Add coupons
#     - Docs
#     - Refactor cart
# result: 6
import re, textwrap
notes = {"Fixes": [], "Other": []}
for c in github_list_commits(owner="acme", repo="shop"):
    message = re.sub(r"\s*\(#(\d+)\)", r" [#\1]", c["commit"]["message"])
    notes["Fixes" if message.startswith("Fix") else "Other"].append(f"- {message}")
text = "\n".join(f"{title}\n" + textwrap.indent("\n".join(lines), "  ") for title, lines in notes.items())
print(text)
sum(len(v) for v in notes.values())
