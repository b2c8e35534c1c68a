"""The second stage of a program's walls (docs/internals/walls.md). The program's process puts them up first."""
import ctypes
import mmap
import os
import resource

WRITE, READ, LIST, REFER, TRUNCATE, IOCTL = 2, 4, 8, 1 << 13, 1 << 14, 1 << 15
MAKE = 0x10 | 0x20 | 0x80 | 0x100 | 0x400 | 0x1000  # remove folder, file; make folder, file, fifo, symbolic link
CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
SELF_PID = (0x5EA15E1F).to_bytes(4, "little")
PR_SET_PDEATHSIG, PR_SET_SECCOMP, FILTER = 1, 22, 2
SPECIAL = 0o6000  # set-user-id, set-group-id


def change_open_files():
    """Makes chmod, utime and truncate open the file first. The walls refuse them by path, because they cannot check the
    path; they can check an open. A file that cannot be opened, and a link itself, cannot be changed."""
    def opened(change, flags):
        def by_descriptor(path, *args, dir_fd=None, follow_symlinks=True, **kwargs):
            if isinstance(path, int):
                return change(path, *args, **kwargs)
            fd = os.open(path, flags | (0 if follow_symlinks else os.O_NOFOLLOW), dir_fd=dir_fd)
            try:
                return change(fd, *args, **kwargs)
            except OSError as e:
                e.filename = os.fspath(path)
                raise
            finally:
                os.close(fd)
        by_descriptor.__name__ = by_descriptor.__qualname__ = change.__name__
        by_descriptor.__doc__ = change.__doc__
        for known in os.supports_dir_fd, os.supports_fd, os.supports_follow_symlinks:
            if change in known:
                known.add(by_descriptor)
        return by_descriptor

    read = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
    chmod = os.chmod
    os.utime = opened(os.utime, read)
    os.truncate = opened(os.truncate, os.O_WRONLY | os.O_CLOEXEC)
    os.chmod = opened(lambda fd, mode: chmod(fd, mode & ~SPECIAL), read)
    os.chmod.__name__ = os.chmod.__qualname__ = "chmod"
    os.supports_fd.add(os.chmod)


class Program(ctypes.Structure):
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


class Walls:
    def __init__(self, setup):
        self.abi = setup["abi"]
        self.readable = [path for path in setup["readable"] if os.path.exists(path)]
        self.filter = bytes.fromhex(setup["filter"])
        self.needed = setup["needed"]
        self.libc = ctypes.CDLL(None, use_errno=True)
        self.reserve = mmap.mmap(-1, 2 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.memory = 0, 0  # the zygote's bytes of address space and of data, which a program's limits are added to

    def call(self, number, *arguments):
        result = self.libc.syscall(ctypes.c_long(number), *arguments)
        if result < 0:
            code = ctypes.get_errno()
            raise OSError(code, f"system call {number}: {os.strerror(code)}")
        return result

    def leave_with_parent(self, parent):
        """No program outlives the zygote."""
        self.libc.prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)

    def rule(self, ruleset, handled, path, rights):
        try:
            fd = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            return
        beneath = (rights & handled).to_bytes(8, "little") + fd.to_bytes(4, "little")
        try:
            self.call(ADD_RULE, ruleset, 1, ctypes.c_char_p(beneath), 0)
        finally:
            os.close(fd)

    def narrow_files(self, workspace):
        if self.abi < 1:
            return
        abi = self.abi
        handled = 0x1FFF | (REFER if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0) | (IOCTL if abi >= 5 else 0)
        net, scoped = (3 if abi >= 4 else 0), (3 if abi >= 6 else 0)
        size = 24 if abi >= 6 else 16 if abi >= 4 else 8
        attributes = b"".join(x.to_bytes(8, "little") for x in (handled, net, scoped))[:size]
        ruleset = self.call(CREATE_RULESET, ctypes.c_char_p(attributes), ctypes.c_size_t(size), 0)
        for path in self.readable:
            self.rule(ruleset, handled, path, READ | LIST if os.path.isdir(path) else READ)
        self.rule(ruleset, handled, "/dev/null", READ | WRITE | TRUNCATE)
        self.rule(ruleset, handled, workspace, READ | LIST | WRITE | MAKE | REFER | TRUNCATE)
        self.call(RESTRICT_SELF, ruleset, 0)
        os.close(ruleset)

    def prepare(self):
        """Does what does not depend on the program and is allowed while its process waits for it."""
        self.code = self.filter.replace(SELF_PID, os.getpid().to_bytes(4, "little"))
        self.program = Program(len(self.code) // 8, self.code)
        set_limit(resource.RLIMIT_CORE, 1)  # with 0 the system's own handler would still get one

    def narrow_calls(self):
        if self.code and self.libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.byref(self.program), 0, 0) != 0 and self.needed:
            raise OSError(ctypes.get_errno(), "the system call filter could not be installed")

    def limit(self, limits):
        """limits: memory, slack, file, files, threads, cpu."""
        space, data = self.memory
        set_limit(resource.RLIMIT_DATA, data + limits["memory"])
        set_limit(resource.RLIMIT_AS, space + limits["memory"] + limits["slack"])
        set_limit(resource.RLIMIT_FSIZE, limits["file"])
        set_limit(resource.RLIMIT_NOFILE, limits["files"])
        set_limit(resource.RLIMIT_NPROC, limits["threads"])
        set_limit(resource.RLIMIT_CPU, limits["cpu"], 1)  # SIGXCPU names the reason, SIGKILL follows a second later


def set_limit(what, most, later=0):
    _, hard = resource.getrlimit(what)
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most + later if hard == resource.RLIM_INFINITY else min(most + later, hard)))
