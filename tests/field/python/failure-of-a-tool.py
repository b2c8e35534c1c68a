# A failing call that nobody catches.
# servers: files
# error: ENOENT: no such file or directory, open 'todo.md'
# line: 6
# calls: files.read_text_file 1
text = files_read_text_file(path="todo.md")
print(len(text))
