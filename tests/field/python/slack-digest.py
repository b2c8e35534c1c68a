# Mentions replaced by a function; times from seconds.
# servers: slack
# calls: slack.list_users 1, slack.get_channel_history 1
# logs:
#   09:00 ana Checkout is down :fire:
#   09:03 ben Looking. @ana what do you see?
#   09:05 buildbot build 512 failed
#   09:15 ben Rolled back, errors are gone
import re
from datetime import datetime, timezone
names = {u["id"]: u["name"] for u in slack_list_users()["members"]}
for m in slack_get_channel_history(channel="incidents")["messages"]:
    at = datetime.fromtimestamp(float(m["ts"]), tz=timezone.utc).strftime("%H:%M")
    text = re.sub(r"<@(\w+)>", lambda x: "@" + names[x[1]], m["text"])
    print(at, names[m["user"]], text)
