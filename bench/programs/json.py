import json

items = []
for i in range(5000):
    items.append({"id": i, "name": f"item {i}", "tags": ["a", "b"], "at": {"x": i + 1 / 3, "y": -i}, "open": i % 2 == 0})
text = json.dumps(items, separators=(",", ":"))
for i in range(3):
    text = json.dumps(json.loads(text), separators=(",", ":"))
len(text)
