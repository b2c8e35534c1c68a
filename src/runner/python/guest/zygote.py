"""The zygote: an interpreter with everything loaded, which forks a process for each program.

It runs no program itself. Its stdin is the control socket. The messages:
  from Lathe:  "F id space data workspace" with two descriptors (the program's connection, its output): fork; space and data
               are the bytes of memory of this process, which its walls keep it from reading in /proc
               "K id": kill that process
  to Lathe:    "R ..." ready; "F id pid", or "N id why" when the fork failed; "E id status" when the process has ended
The zygote ends when Lathe closes its end of the socket.
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


def send_message(control, text):
    try:
        control.send(text.encode("utf-8", "replace")[:4096])
    except OSError:
        os._exit(0)  # Lathe has ended


def fork(control, number, workspace, fds):
    parent = os.getpid()
    try:
        pid = os.fork()
    except OSError as e:
        send_message(control, f"N {number} {e.strerror}")
        return
    if pid == 0:
        try:
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            control.detach()
            live(parent, fds[0], fds[1], workspace, walls)  # program.py
        except BaseException:
            sys.excepthook(*sys.exc_info())  # into the program's log: it is Lathe's own fault
            sys.stderr.flush()
        finally:
            os._exit(70)
    children[pid] = number
    send_message(control, f"F {number} {pid}")


def kill(number):
    for pid, child in children.items():
        if child == number:
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
            send_message(control, f"E {number} {status}")


def serve(control, wakeup):
    poll = select.poll()
    poll.register(CONTROL, select.POLLIN)
    poll.register(wakeup, select.POLLIN)
    idle = popular_modules()
    while True:
        # Modules that many programs import are loaded while nothing else is to be done: later forks have them.
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
    except Exception:  # this version of Python does not have the module
        pass
    if not modules:
        settle()


def settle():
    """Exempts all present objects from garbage collection: no child writes to their pages, so they stay shared."""
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
    send_message(control, "R %d.%d.%d" % sys.version_info[:3])
    try:
        serve(control, reader)
    finally:
        os._exit(0)
