# datetime and timedelta.
# servers: calendar
# calls: calendar.list-events 1
# logs:
#   Monday, 09 March 2026
# result: {"hours":5.75,"next_week":"2026-03-16","utc":true}
from datetime import datetime, timedelta, timezone

events = calendar_list_events()["events"]
parse = lambda s: datetime.fromisoformat(s.replace("Z", "+00:00"))
total = sum(((parse(e["end"]) - parse(e["start"])) for e in events), timedelta())
first = parse(events[0]["start"])
print(first.strftime("%A, %d %B %Y"))
{"hours": total.total_seconds() / 3600, "next_week": (first + timedelta(weeks=1)).date().isoformat(), "utc": first.tzinfo == timezone.utc}
