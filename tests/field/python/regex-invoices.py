# Amounts from messages by named groups; Decimal sums.
# servers: mail
# calls: mail.search_messages 1, mail.get_message 2
# result: {"invoices":{"1042":1250,"1043":310.5},"total":"1560.50"}
import re
from decimal import Decimal
pattern = re.compile(r"Invoice #(?P<no>\d+).*?Total: \$(?P<total>[\d,.]+)", re.S)
total = Decimal(0)
found = {}
for m in mail_search_messages(query="subject:invoice")["messages"]:
    body = mail_get_message(id=m["id"])["body"]
    if match := pattern.search(body):
        amount = Decimal(match["total"].replace(",", ""))
        found[match["no"]] = float(amount)
        total += amount
set_result({"invoices": found, "total": str(total)})
