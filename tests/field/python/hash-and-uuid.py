# hashlib, uuid and base64.
# servers: files
# calls: files.read_text_file 1
# result: {"sha":"038e3a5a3639027e","uuid":"4fd35a71-71ef-5a55-a9d9-aa75c889a6d0","b64":"c29sYXI="}
import base64, hashlib, uuid
text = files_read_text_file(path="notes/ideas.txt")
digest = hashlib.sha256(text.encode()).hexdigest()
name = uuid.uuid5(uuid.NAMESPACE_URL, "https://example.com")
{"sha": digest[:16], "uuid": str(name), "b64": base64.b64encode(text[:5].encode()).decode()}
