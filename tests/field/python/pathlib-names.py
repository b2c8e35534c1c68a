# PurePosixPath for names.
# servers: files
# calls: files.search_files 1
# result: [["README","README.html"],["meeting","meeting.html"],["todo","todo.html"]]
from pathlib import PurePosixPath
names = files_search_files(path=".", pattern=".md").split("\n")
[(PurePosixPath(n).stem, str(PurePosixPath(n).with_suffix(".html").name)) for n in names]
