# A log parsed by split with a limit; a match statement.
# servers: files
# calls: files.read_text_file 1
# result: {"errors":3,"warnings":2,"other":2,"worst_ms":2300}
counts = {"errors": 0, "warnings": 0, "other": 0}
worst = 0
for line in files_read_text_file(path="logs/app.log").splitlines():
    _, level, rest = line.split(None, 2)
    match level:
        case "ERROR":
            counts["errors"] += 1
        case "WARN" if "ms=" in rest:
            counts["warnings"] += 1
            worst = max(worst, int(rest.rsplit("=", 1)[1]))
        case _:
            counts["other"] += 1
{**counts, "worst_ms": worst}
