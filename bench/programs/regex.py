import re

log = []
for i in range(8000):
    log.append(f"2026-11-{10 + i % 20} GET /items/{i}?page={i % 9} {404 if i % 7 == 0 else 200} {i * 3} bytes")
found = 0
for day, id, status in re.findall(r"(?m)^2026-11-(\d+) GET /items/(\d+)\?\S+ (\d{3}) \d+ bytes$", "\n".join(log)):
    if status == "404":
        found += int(day) + int(id)
found
