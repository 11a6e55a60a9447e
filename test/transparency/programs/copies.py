"""What a program does right after it closed a file shows whether anyone else still has it open."""
import ctypes, errno, fcntl, os, struct

libc = ctypes.CDLL(None, use_errno=True)
IN_CLOSE_WRITE = 8
ROUNDS = 1500


def count(attempt):
    """How many attempts failed, and with what."""
    failed = {}
    for _ in range(ROUNDS):
        try:
            attempt()
        except OSError as error:
            name = errno.errorcode[error.errno]
            failed[name] = failed.get(name, 0) + 1
    return failed


with open("file", "w") as file:
    file.write("content\n")
reader = os.open("file", os.O_RDONLY)


def lease():
    """Refused while anyone has the file open for writing."""
    fcntl.fcntl(reader, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    fcntl.fcntl(reader, fcntl.F_SETLEASE, fcntl.F_UNLCK)


def opened_for_writing():
    os.close(os.open("file", os.O_WRONLY))
    lease()


def cut():
    writer = os.open("file", os.O_WRONLY)
    os.ftruncate(writer, 5)
    os.close(writer)
    lease()


def emptied():
    os.close(os.open("file", os.O_WRONLY | os.O_CREAT | os.O_TRUNC))
    lease()


def locked():
    other = os.open("file", os.O_RDONLY)
    fcntl.flock(other, fcntl.LOCK_EX)
    os.close(other)
    fcntl.flock(reader, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.flock(reader, fcntl.LOCK_UN)


watch = libc.inotify_init1(os.O_NONBLOCK)
libc.inotify_add_watch(watch, b"file", IN_CLOSE_WRITE)


def told():
    os.close(os.open("file", os.O_WRONLY))
    os.read(watch, struct.calcsize("iIII"))


for attempt in (opened_for_writing, cut, emptied, locked):
    print(attempt.__name__, count(attempt))
while True:
    try:
        os.read(watch, 65536)
    except BlockingIOError:
        break
print("told", count(told))
