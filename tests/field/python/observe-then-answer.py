# Prints what it sees between the steps, as CodeAct agents do.
# servers: web
# calls: web.search 1, web.fetch_page 1
# logs:
#   Eiffel Tower - https://heights.example/eiffel
#   Burj Khalifa - https://heights.example/burj
#   Height found: 828
#   In feet: 2716.5
# result: {"metres":828,"feet":2716.5}
results = web_search(query="Burj Khalifa height", max_results=2)["results"]
for r in results:
    print(r["title"], "-", r["url"])
page = web_fetch_page(url=next(r["url"] for r in results if r["title"].startswith("Burj")))
import re
height = int(re.search(r"Height: (\d+)", page).group(1))
print("Height found:", height)
answer = height * 3.28084
print(f"In feet: {answer:.1f}")
set_result({"metres": height, "feet": round(answer, 1)})
