# Sums by month and region in a defaultdict; csv.DictReader on a text.
# servers: files
# calls: files.read_text_file 1
# result: {"2026-01 north":113.7,"2026-01 south":108,"2026-02 east":185,"2026-02 north":470,"2026-02 south":240,"2026-03 east":208}
import csv, io
from collections import defaultdict

sales = defaultdict(float)
for row in csv.DictReader(io.StringIO(files_read_text_file(path="data/sales.csv"))):
    sales[row["date"][:7], row["region"]] += int(row["units"]) * float(row["price"])
set_result({f"{m} {r}": round(v, 2) for (m, r), v in sorted(sales.items())})
