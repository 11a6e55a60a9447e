"""Reads files of a folder by many names. Prints a line for each: the name, and what it read or the name of the error."""
import ctypes, errno, json, os, random, struct, sys

folder, paths, seed = sys.argv[1], json.load(open(sys.argv[2])), int(sys.argv[3])
choose = random.Random(seed)
libc = ctypes.CDLL(None, use_errno=True)


def openat2(where):
    how = struct.pack("QQQ", 0, 0, 0)
    fd = libc.syscall(437, -100, os.fsencode(where), how, len(how))
    if fd < 0:
        raise OSError(ctypes.get_errno(), "")
    return fd


def told(opening):
    try:
        fd = opening()
    except OSError as error:
        return errno.errorcode[error.errno]
    try:
        return os.read(fd, 300).decode()
    except IsADirectoryError:
        return "folder"
    finally:
        os.close(fd)


def is_folder(path):
    return os.path.isdir(path) and not os.path.islink(path)


for path in paths:
    whole = folder + path
    above, name = os.path.split(whole)
    if os.path.isdir(whole):
        continue  # what a refused folder says when it is listed depends on who asks
    beside = folder + choose.choice(paths)
    ways = {
        "whole": lambda: os.open(whole, os.O_RDONLY),
        "slashes": lambda: os.open(above + "//./" + name, os.O_RDONLY),
        "root": lambda: os.open("/proc/self/root" + whole, os.O_RDONLY),
        "openat2": lambda: openat2(whole),
        "beside": lambda: os.open(os.path.join(beside, os.path.relpath(whole, beside)), os.O_RDONLY),
    }
    for way, opening in ways.items():
        print("%s %r: %s" % (way, path, told(opening)))

for path in choose.sample(paths, min(12, len(paths))):
    # Folders are moved while the program runs, and what is in them moves along.
    whole = folder + path
    if is_folder(whole):
        inside = [os.path.join(top, one)[len(whole):] for top, _, files in os.walk(whole) for one in sorted(files)]
        try:
            os.rename(whole, whole + ".moved")
        except OSError as error:
            print("move %r: %s" % (path, errno.errorcode[error.errno]))
            continue
        os.rename(whole + ".moved", whole)
        for one in sorted(inside)[:5]:
            print("back %r: %s" % (path + one, told(lambda: os.open(whole + one, os.O_RDONLY))))
