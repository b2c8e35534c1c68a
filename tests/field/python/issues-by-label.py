# chain, Counter and slices.
# servers: github
# calls: github.list_issues 1
# result: {"top":[["bug",6],["feature",3]],"newest":"Crash in checkout","every third":[1,4,7,10]}
from collections import Counter
from itertools import chain
issues = github_list_issues(owner="acme", repo="shop", state="all")
labels = Counter(chain.from_iterable((l["name"] for l in i["labels"]) for i in issues))
{"top": labels.most_common(2), "newest": issues[-1]["title"], "every third": [i["number"] for i in issues[::3]]}
