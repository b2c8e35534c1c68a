# A return at the top level.
# servers: mail
# calls: mail.search_messages 1
# result: ["Budget 2026","Weekly digest","Lunch on Thursday?","Invoice #1043"]
page = mail_search_messages(query="is:unread")
if not page["messages"]:
    return "inbox zero"
return [m["subject"] for m in page["messages"]]
