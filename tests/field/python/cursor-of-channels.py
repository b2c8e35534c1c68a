# A cursor in a nested object.
# servers: slack
# calls: slack.list_channels 2
# result: ["general","random","releases","incidents","old-project"]
channels, cursor = [], ""
while True:
    r = slack_list_channels(limit=3, cursor=cursor) if cursor else slack_list_channels(limit=3)
    channels += r["channels"]
    cursor = r.get("response_metadata", {}).get("next_cursor")
    if not cursor:
        break
[c["name"] for c in sorted(channels, key=lambda c: (c["is_archived"], -c["num_members"]))]
