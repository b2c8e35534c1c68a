# A failing call is caught and answered.
# servers: files
# calls: files.read_text_file 2
# logs:
#   missing: notes/none.txt
# result: [3,1]
def read(path, default=""):
    try:
        return files_read_text_file(path=path)
    except ToolError as e:
        print("missing:", path)
        return default

texts = [read(p, default="(none)") for p in ["notes/ideas.txt", "notes/none.txt"]]
[len(t.splitlines()) for t in texts]
