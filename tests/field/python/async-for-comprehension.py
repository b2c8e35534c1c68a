# An async generator and an async comprehension.
# servers: github
# calls: github.list_issues 4
# result: [3,7,11]
import asyncio

async def issues():
    page = 1
    while batch := github_list_issues(owner="acme", repo="shop", state="all", perPage=5, page=page):
        for i in batch:
            yield i
        page += 1

async def main():
    return [i["number"] async for i in issues() if i["state"] == "closed"]

await main()
