# async def main, run by asyncio.run.
# servers: files
# calls: files.read_text_file 2
# result: {"todo":7,"meeting":7}
import asyncio

async def lines(path):
    return len(files_read_text_file(path=path).splitlines())

async def main():
    todo, meeting = await asyncio.gather(lines("notes/todo.md"), lines("notes/meeting.md"))
    set_result({"todo": todo, "meeting": meeting})

asyncio.run(main())
