# Dataclasses made of rows, sorted by a field.
# servers: db
# calls: db.query 1
# result: {"smallest":{"total":18.25,"id":105,"status":"open"},"largest":{"total":720,"id":104,"status":"paid"}}
from dataclasses import dataclass, field, asdict
from typing import List

@dataclass(order=True)
class Order:
    total: float
    id: int = field(compare=False)
    status: str = field(compare=False, default="open")

rows = db_query(sql="SELECT id, total, status FROM orders")
orders: List[Order] = sorted(Order(**r) for r in rows)
set_result({"smallest": asdict(orders[0]), "largest": asdict(orders[-1])})
