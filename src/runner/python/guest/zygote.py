"""The zygote: an interpreter that has everything loaded and forks a process per program.

It runs no program itself. Its stdin is the control socket, one message each:
  from Lathe:  "F id space data workspace" with two descriptors (the program's connection, its output): fork; space and data
               are the bytes of memory this process has, which it may not look up itself
               "K id": kill that one
  to Lathe:    "R ..." ready; "F id pid", or "N id why" when there could be no process; "E id status" it has ended
Lathe's end of the socket closing is the end.
"""
import array
import gc
import os
import select
import signal
import socket
import sys

CONTROL = 0
LIMIT = 1 << 16
QUIET_MS = 20

children = {}  # pid -> id
walls = None  # Walls of walls.py


def receive(control):
    """A message and its descriptors; None at the end."""
    room = socket.CMSG_SPACE(2 * array.array("i").itemsize)
    message, extra, _, _ = control.recvmsg(LIMIT, room, socket.MSG_CMSG_CLOEXEC)
    fds = array.array("i")
    for level, kind, data in extra:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return (message.decode("utf-8", "surrogateescape") if message else None), list(fds)


def tell(control, text):
    try:
        control.send(text.encode("utf-8", "replace")[:4096])
    except OSError:
        os._exit(0)  # Lathe is gone, and so is what this was for


def fork(control, number, workspace, fds):
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError as e:
        tell(control, f"N {number} {e.strerror}")
        return
    if pid == 0:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.detach()
            live(parent, fds[0], fds[1], workspace, walls)  # program.py
        except BaseException:
            sys.excepthook(*sys.exc_info())  # into the program's log: it is a fault of ours
            sys.stderr.flush()
        finally:
            os._exit(70)
    children[pid] = number
    tell(control, f"F {number} {pid}")


def kill(number):
    for pid, its in children.items():
        if its == number:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass


def reap(control):
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if pid == 0:
            return
        number = children.pop(pid, None)
        if number is not None:
            tell(control, f"E {number} {status}")


def serve(control, wakeup):
    poll = select.poll()
    poll.register(CONTROL, select.POLLIN)
    poll.register(wakeup, select.POLLIN)
    idle = popular_modules()
    while True:
        # What many programs import is loaded when there is nothing else to do: later forks have it already.
        ready = poll.poll(QUIET_MS if idle else None)
        if not ready and idle:
            load(idle)
            continue
        for fd, _ in ready:
            if fd == wakeup:
                os.read(wakeup, 4096)
                reap(control)
            else:
                message, fds = receive(control)
                if message is None:
                    return
                obey(control, message, fds)


def obey(control, message, fds):
    word, number, *rest = message.split(" ", 2)
    if word == "F":
        space, data, workspace = rest[0].split(" ", 2)
        walls.memory = int(space), int(data)
        fork(control, int(number), workspace, fds)
        for fd in fds:
            os.close(fd)
    elif word == "K":
        kill(int(number))


def popular_modules():
    return ["datetime", "random", "concurrent.futures", "asyncio", "statistics", "decimal", "csv", "textwrap", "ast",
            "hashlib", "base64", "pathlib", "typing", "string", "copy", "uuid", "urllib.parse", "difflib", "html"]


def load(modules):
    name = modules.pop(0)
    try:
        __import__(name)
    except Exception:  # a Python without it is still a Python
        pass
    if not modules:
        settle()


def settle():
    """What is there now stays for ever: no collection in a child touches it, so its pages stay shared."""
    gc.collect()
    gc.freeze()


def begin(setup):
    global walls
    control = socket.socket(fileno=CONTROL)
    control.setblocking(True)
    walls = Walls(setup["walls"])
    change_open_files()
    block_starts()
    reader, writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    settle()
    tell(control, "R %d.%d.%d" % sys.version_info[:3])
    try:
        serve(control, reader)
    finally:
        os._exit(0)
