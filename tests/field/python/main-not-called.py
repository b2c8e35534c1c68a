# main is defined and nothing calls it.
# servers: mail
# calls: mail.search_messages 1
# result: 2
def main():
    return mail_search_messages(query="from:ben")["total"]
