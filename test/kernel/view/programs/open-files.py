"""Changes files by descriptors, without a path. Prints a line for each: the file, the call, and `done` or `refused`."""
import os, sys

READING = {
    "mode": lambda fd: os.fchmod(fd, 0o640),
    "owner": lambda fd: os.fchown(fd, -1, os.fstat(fd).st_gid),
    "times": lambda fd: os.utime(fd, (1, 2)),
    "attribute": lambda fd: os.setxattr(fd, "user.a", b"b"),
    "no attribute": lambda fd: os.removexattr(fd, "user.a"),
}
WRITING = {"size": lambda fd: os.ftruncate(fd, 5), "room": lambda fd: os.posix_fallocate(fd, 0, 9)}


def told(call, fd):
    try:
        call(fd)
        return "done"
    except OSError:
        return "refused"


for path in sys.argv[1:]:
    for flags, calls in ((os.O_RDONLY, READING), (os.O_RDWR, WRITING)):
        try:
            fd = os.open(path, flags)
        except OSError:
            print(path, "not opened", flags)
            continue
        for name, call in calls.items():
            print(path, name, told(call, fd))
            print(path, name, "by another name", told(call, os.open("/proc/self/fd/%d" % fd, flags)))
