# Pages by a token in a while loop.
# servers: mail
# calls: mail.search_messages 3
# result: {"messages":8,"domains":["bank.example","cloud.example","example.com","example.org","letters.example"]}
messages, token = [], None
while True:
    page = mail_search_messages(pageSize=3, **({"pageToken": token} if token else {}))
    messages.extend(page["messages"])
    token = page.get("nextPageToken")
    if not token:
        break
senders = sorted({m["from"].split("@")[1] for m in messages})
{"messages": len(messages), "domains": senders}
