"""The connection to Lathe: frames both ways, tool calls from any thread.

A frame is a head, a name and a body: length of name and body (4 bytes), id (4), length of the name (2), kind (1), MARK.

A signal handler, or another thread, may raise an exception between any two steps here. So what was received or sent is
noted in the same call that did it (`list.extend(map(recv, ...))` runs no Python code in between), and data is handed over
by a single assignment.
"""
import _queue
import _thread
import errno
import itertools
import os
import socket
import struct

HEAD = struct.Struct("!IIHBB")
MARK = 0xA7
START, VALUE, FAILURE = 1, 2, 3  # from Lathe
CALL, RESULT, DONE, FAILED = 16, 17, 18, 19  # to Lathe
TEXT, JSON = 0, 1  # the id of a RESULT: what its body is
LONG = 1 << 16
MOST = 64 << 20  # LT_JSON_MAX_BYTES: Lathe refuses a longer body
GONE = (errno.EPIPE, errno.ECONNRESET, errno.EBADF, errno.ENOTCONN, errno.ENOTSOCK)
NESTED = "a signal handler (or a finalizer) that has interrupted a tool call cannot make another one"
CLOSED = "no response: the program has closed its connection"
AGAIN_S = 1.0  # then a thread looks itself: the thread that should wake it was interrupted


class ToolError(RuntimeError):
    """A tool call failed; the text says why."""


ToolError.__module__ = "lathe"


class Closed(Exception):
    """The connection is closed."""


def is_own(e):
    """Whether the socket raised the error, and not a signal handler."""
    last = e.__traceback__
    while last.tb_next is not None:
        last = last.tb_next
    return e.errno in GONE and last.tb_frame.f_globals is globals()


class Bridge:
    def __init__(self, fd):
        self.socket = socket.socket(fileno=fd)
        self.socket.setblocking(True)
        self.owner = os.getpid()
        self.has_result = False
        self.numbers = itertools.count(1)
        self.open = {0: None}  # id -> kind and body of its answer; 0 is START. No thread waits for other ids
        self.sending = _thread.RLock()
        self.half = None  # a frame that is being sent: its pieces, and the bytes sent each time
        self.pushing = False
        self.reader = {}  # 0 -> (thread,): the thread that reads for all
        self.waiting = {}  # id -> queue that wakes its thread
        self.got = []  # bytes received of a frame that is not complete
        self.long = None  # a long answer: id, kind, name's length, its bytes, the bytes received each time

    # --- To Lathe -----------------------------------------------------------------------------------------------------
    def send(self, kind, number=0, name=b"", body=b""):
        head = HEAD.pack(len(name) + len(body), number, len(name), kind, MARK) + name
        mine = ((head + body,) if len(body) < LONG else (head, body)), []
        with self.sending:
            if self.pushing:
                raise ToolError(NESTED)
            self.push()
            self.half = mine
            try:
                self.push()
            except BaseException:
                if sum(mine[1]) == 0:
                    self.half = None
                else:
                    self.push()  # the rest of the frame: without it Lathe cannot read the next frame
                raise

    def push(self):
        """Sends the rest of the frame that is being sent."""
        if self.half is None:
            return
        pieces, sent = self.half
        self.pushing = True
        try:
            at = sum(sent)
            for piece in pieces:
                while at < len(piece):
                    sent.extend(map(self.socket.send, (memoryview(piece)[at:] if at > 0 else piece,)))
                    at += sent[-1]
                at -= len(piece)
            self.half = None
        except OSError as e:
            if is_own(e):
                raise Closed from None
            raise
        finally:
            self.pushing = False

    # --- From Lathe ---------------------------------------------------------------------------------------------------
    def receive(self, most):
        self.got.extend(map(self.socket.recv, (most,)))
        if not self.got[-1]:
            raise Closed

    def read(self):
        """Reads until another answer is complete, or a part of one, which the next call continues."""
        if self.long is not None:
            return self.read_long()
        data = self.got[0] if len(self.got) == 1 else b"".join(self.got)
        if len(data) < HEAD.size:
            return self.receive(LONG)
        length, number, name, kind, mark = HEAD.unpack_from(data)
        if mark != MARK:
            raise Closed
        end = HEAD.size + length
        if length < LONG:
            if len(data) < end:
                return self.receive(LONG)
            self.deliver(number, kind, data[HEAD.size + name:end])
            # An interruption before this line makes the next call read the same answer again, which is harmless.
            self.got[:] = (data[end:],) if len(data) > end else ()
        else:
            whole = bytearray(length)
            part = data[HEAD.size:end]
            whole[:len(part)] = part
            rest, long = (data[end:],), (number, kind, name, whole, [len(part)])
            self.got[:], self.long = rest, long

    def read_long(self):
        number, kind, name, whole, came = self.long
        at = sum(came)
        with memoryview(whole) as view:
            while at < len(whole):
                came.extend(map(self.socket.recv_into, (view[at:],)))
                if came[-1] == 0:
                    raise Closed
                at += came[-1]
        self.deliver(number, kind, whole[name:] if name else whole)
        self.long = None

    def deliver(self, number, kind, body):
        if number in self.open:
            self.open[number] = kind, body
            if number in self.waiting:
                self.waiting[number].put(None)

    # --- Calls --------------------------------------------------------------------------------------------------------
    def start_call(self, name, body):
        if os.getpid() != self.owner:
            raise ToolError("tools can be called by the program's own process only")
        if 0 in self.reader and self.reader[0][0] == _thread.get_ident():
            raise ToolError(f"Tool '{name.decode()}' failed: {NESTED}")
        if len(body) > MOST:
            raise ToolError(f"Tool '{name.decode()}' failed: its input has {len(body)} bytes; at most {MOST >> 20} MiB "
                            "can be sent at once")
        number = next(self.numbers)
        self.open[number] = None
        try:
            self.send(CALL, number, name, body)
        except BaseException as e:
            self.open.pop(number, None)
            if isinstance(e, Closed):
                raise ToolError(f"Tool '{name.decode()}': {CLOSED}") from None
            raise
        return number

    def forget(self, number):
        """No thread waits for the answer any more: it is dropped when it comes."""
        self.open.pop(number, None)

    def wait_for(self, number):
        """Kind and body of the answer. The first thread that waits reads for all."""
        try:
            while self.open[number] is None:
                if not self.read_for_all(number):
                    self.wait_for_others(number)
            return self.open[number]
        except Closed:
            raise ToolError(CLOSED) from None
        except OSError as e:
            if is_own(e):
                raise ToolError(CLOSED) from None
            raise
        finally:
            self.open.pop(number, None)

    def read_for_all(self, number):
        """Reads until this answer is there. False: another thread reads."""
        mine = (_thread.get_ident(),)
        try:
            if self.reader.setdefault(0, mine) is not mine:
                return False
            while self.open[number] is None:
                self.read()
            return True
        finally:
            if 0 in self.reader and self.reader[0] is mine:
                del self.reader[0]
                self.wake_next()

    def wait_for_others(self, number):
        queue = _queue.SimpleQueue()
        try:
            self.waiting[number] = queue
            while self.open[number] is None and not self.read_for_all(number):
                try:
                    queue.get(True, AGAIN_S)
                except _queue.Empty:
                    pass
        finally:
            self.waiting.pop(number, None)
            self.wake_next()

    def wake_next(self):
        """Wakes a waiting thread, so that one of them reads."""
        if self.waiting and 0 not in self.reader:
            for queue in list(self.waiting.values())[:1]:
                queue.put(None)
