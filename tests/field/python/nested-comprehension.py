# Nested comprehensions, sets and conditional expressions.
# servers: calendar
# calls: calendar.list-events 1
# result: ["x..x.x","x....x",".x..xx"]
events = calendar_list_events()["events"]
people = {a for e in events for a in e["attendees"]}
matrix = {p.split("@")[0]: ["x" if p in e["attendees"] else "." for e in events] for p in sorted(people)}
["".join(v) for v in matrix.values()]
