# A recursive walk.
# servers: files
# calls: files.list_directory 5
# result: {"csv":1,"ini":1,"js":2,"json":1,"log":1,"md":3,"txt":1}
def walk(path="."):
    for entry in files_list_directory(path=path).split("\n"):
        kind, name = entry.split(" ", 1)
        full = name if path == "." else f"{path}/{name}"
        if kind == "[DIR]":
            yield from walk(full)
        else:
            yield full

paths = list(walk())
by_ext = {}
for p in paths:
    by_ext.setdefault(p.rpartition(".")[2], []).append(p)
{ext: len(ps) for ext, ps in sorted(by_ext.items())}
