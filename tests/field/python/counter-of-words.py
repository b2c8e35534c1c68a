# collections.Counter over the words of files.
# servers: files
# calls: files.read_text_file 3
# logs:
#       action 2
#         shop 2
#      install 2
# result: 33
import re
from collections import Counter

counter = Counter()
for path in ("notes/todo.md", "notes/meeting.md", "README.md"):
    text = files_read_text_file(path=path)
    counter.update(re.findall(r"[a-z]{4,}", text.lower()))
for word, n in counter.most_common(3):
    print(f"{word:>10} {n}")
len(counter)
