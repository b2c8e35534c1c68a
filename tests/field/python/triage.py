# Several conditions; any and all; a comment on each.
# servers: github
# calls: github.list_issues 1, github.update_issue 1, github.add_issue_comment 1
# result: [7]
repo = dict(owner="acme", repo="shop")
raised = []
for issue in github_list_issues(**repo, state="all"):
    labels = {l["name"] for l in issue["labels"]}
    if "crash" in issue["title"].lower() and not any(l.startswith("p") for l in labels):
        github_update_issue(**repo, issue_number=issue["number"], labels=sorted(labels | {"p1"}))
        github_add_issue_comment(**repo, issue_number=issue["number"], body="raised")
        raised.append(issue["number"])
raised
