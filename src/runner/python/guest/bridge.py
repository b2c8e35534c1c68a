"""The connection to Lathe: frames both ways, tool calls from any thread.

A frame is a head, a name and a body: length of name and body (4 bytes), id (4), length of the name (2), kind (1), MARK.
"""
import os
import socket
import struct
import threading

HEAD = struct.Struct("!IIHBB")
MARK = 0xA7
START, VALUE, FAILURE = 1, 2, 3  # from Lathe
CALL, RESULT, DONE, FAILED = 16, 17, 18, 19  # to Lathe
TEXT, JSON = 0, 1  # the id of a RESULT: what its body is
LONG = 1 << 16


class ToolError(RuntimeError):
    """A tool call failed; the text says why."""


ToolError.__module__ = "lathe"


class Bridge:
    def __init__(self, fd):
        self.socket = socket.socket(fileno=fd)
        self.socket.setblocking(True)
        self.owner = os.getpid()
        self.rest = b""
        self.last = 0
        self.sending = threading.Lock()
        self.state = threading.Condition(threading.Lock())
        self.reading = False  # some thread does, for all of them
        self.answers = {}

    def send(self, kind, number=0, name=b"", body=b""):
        head = HEAD.pack(len(name) + len(body), number, len(name), kind, MARK)
        with self.sending:
            if len(body) < LONG:
                self.socket.sendall(head + name + body)
            else:
                self.socket.sendall(head + name)
                self.socket.sendall(body)

    def take(self, n):
        """The next n bytes."""
        if len(self.rest) >= n:
            taken, self.rest = self.rest[:n], self.rest[n:]
            return taken
        if n < LONG:
            while len(self.rest) < n:
                more = self.socket.recv(LONG)
                if not more:
                    raise EOFError
                self.rest += more
            return self.take(n)
        whole = bytearray(n)
        at = len(self.rest)
        whole[:at] = self.rest
        self.rest = b""
        with memoryview(whole) as view:
            while at < n:
                got = self.socket.recv_into(view[at:])
                if got == 0:
                    raise EOFError
                at += got
        return whole

    def read(self):
        length, number, name, kind, mark = HEAD.unpack(self.take(HEAD.size))
        if mark != MARK:
            raise EOFError
        body = self.take(length)
        return kind, number, body[:name], body[name:] if name else body

    def start_call(self, name, body):
        if os.getpid() != self.owner:
            raise ToolError("tools can be called by the program's own process only")
        with self.state:
            self.last += 1
            number = self.last
        try:
            self.send(CALL, number, name, body)
        except OSError:
            raise ToolError(f"Tool '{name.decode()}': no response, the program has closed its connection") from None
        return number

    def wait_for(self, number):
        """Kind and body of the answer. Whoever waits first reads for all."""
        with self.state:
            while number not in self.answers:
                if self.reading:
                    self.state.wait()
                else:
                    self.read_for_all()
            return self.answers.pop(number)

    def read_for_all(self):
        self.reading = True
        self.state.release()
        frame = None
        try:
            frame = self.read()
        except (OSError, EOFError):
            raise ToolError("no response: the program has closed its connection") from None
        finally:
            self.state.acquire()
            self.reading = False
            if frame is not None:
                self.answers[frame[1]] = frame[0], frame[3]
            self.state.notify_all()
