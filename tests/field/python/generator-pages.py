# A generator over pages; itertools takes some of it.
# servers: shop
# calls: shop.listProducts 5
# result: {"first":["LMP-1","LMP-2","CHR-1","CHR-2"],"tables":["Writing desk","Side table"]}
from itertools import islice, groupby
from operator import itemgetter

def products():
    page = 1
    while True:
        r = shop_listProducts(page=page)
        yield from r["products"]
        if page >= r["totalPages"]:
            return
        page += 1

first = [p["sku"] for p in islice(products(), 4)]
groups = {k: [p["name"] for p in g] for k, g in groupby(sorted(products(), key=itemgetter("category")), key=itemgetter("category"))}
set_result({"first": first, "tables": groups["tables"]})
