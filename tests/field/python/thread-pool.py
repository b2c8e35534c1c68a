# A pool of threads.
# servers: github
# calls: github.get_issue 4
# result: ["Crash on empty cart","Add dark mode","Typo in README","Slow search"]
from concurrent.futures import ThreadPoolExecutor

def title(n):
    return github_get_issue(owner="acme", repo="shop", issue_number=n)["title"]

with ThreadPoolExecutor(max_workers=4) as pool:
    titles = list(pool.map(title, range(1, 5)))
titles
