# Duplicates by a normalised name; updates.
# servers: crm
# calls: crm.search-contacts 1, crm.update-contact 1, crm.get-contact 1
# result: {"duplicates":[["c1","c4"]],"chloe":"chloe@example.com"}
seen, duplicates = {}, []
for c in crm_search_contacts(query="@")["contacts"]:
    key = c["name"].casefold()
    if key in seen:
        duplicates.append((seen[key], c["id"]))
    else:
        seen[key] = c["id"]
    if c["email"] != c["email"].lower():
        crm_update_contact(id=c["id"], fields={"email": c["email"].lower()})
{"duplicates": duplicates, "chloe": crm_get_contact(id="c3")["email"]}
