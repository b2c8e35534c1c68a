# Gaps between events of a day.
# servers: calendar
# calls: calendar.list-events 1
# result: ["09:30-12:00"]
from datetime import datetime, timedelta
day = "2026-03-10"
events = calendar_list_events(timeMin=f"{day}T00:00:00Z", timeMax=f"{day}T23:59:00Z")["events"]
t = lambda s: datetime.strptime(s[:16], "%Y-%m-%dT%H:%M")
busy = sorted((t(e["start"]), t(e["end"])) for e in events)
cursor, end, free = t(f"{day}T08:00"), t(f"{day}T12:00"), []
for s, e in busy:
    if s > cursor:
        free.append((cursor, s))
    cursor = max(cursor, e)
if cursor < end:
    free.append((cursor, end))
[f"{a:%H:%M}-{b:%H:%M}" for a, b in free]
