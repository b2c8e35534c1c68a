# A JSON file: a text or an object already, both work.
# servers: files
# calls: files.read_text_file 1, files.write_file 1
# logs:
#   ["Ana", "Chloe"]
# result: 2
import json
data = files_read_text_file(path="data/users.json")
if isinstance(data, str):
    data = json.loads(data)
adults = [u for u in data["users"] if u["age"] > 30]
files_write_file(path="adults.json", content=json.dumps(adults, indent=2))
print(json.dumps([u["name"] for u in adults]))
len(adults)
