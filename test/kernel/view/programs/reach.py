"""Tries every way to read a file. Prints a line for each: its name, and what it read or the name of the error."""
import ctypes, errno, os, struct, sys

folder, name = sys.argv[1], sys.argv[2]
path = os.path.join(folder, name)
libc = ctypes.CDLL(None, use_errno=True)


def call(number, *args):
    result = libc.syscall(number, *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def content(fd):
    try:
        return os.read(fd, 100).decode().strip()
    finally:
        os.close(fd)


def opened(where, **at):
    return content(os.open(where, os.O_RDONLY, **at))


def by_openat2():
    how = struct.pack("QQQ", 0, 0, 0)
    return content(call(437, -100, path.encode(), how, len(how)))


def by_pinned():
    return opened("/proc/self/fd/%d" % os.open(path, os.O_PATH))


def by_symlink():
    os.symlink(path, "link")
    return opened("link")


def by_link():
    os.link(path, "hard")
    return opened("hard")


def by_rename():
    os.rename(path, "moved")
    return opened("moved")


def by_moved_folder():
    os.rename(folder, folder + "-moved")
    try:
        return opened(os.path.join(folder + "-moved", name))
    finally:
        os.rename(folder + "-moved", folder)


def in_child(act):
    """In a process of its own, which may change its namespaces."""
    ends = os.pipe()
    if os.fork() == 0:
        try:
            text = act()
        except OSError as error:
            text = errno.errorcode[error.errno]
        os.write(ends[1], (text or "nothing").encode())
        os._exit(0)
    os.close(ends[1])
    text = content(ends[0])
    os.wait()
    return text


def own_namespaces():
    call(272, 0x10000000 | 0x00020000)  # unshare: user and mount namespaces


def by_umount():
    call(166, path.encode(), 2)
    return opened(path)


def by_umount_inside():
    own_namespaces()
    return by_umount()


def by_bind():
    os.makedirs("bound", exist_ok=True)
    call(165, folder.encode(), b"bound", 0, 4096, 0)
    return opened(os.path.join("bound", name))


def by_bind_inside():
    own_namespaces()
    return by_bind()


def by_tree():
    tree = call(428, -100, folder.encode(), 1)  # open_tree: a copy of the mount without what is mounted in it
    return opened(name, dir_fd=tree)


def by_tree_inside():
    own_namespaces()
    return by_tree()


def by_handle():
    room = struct.pack("Ii", 128, 0) + bytes(128)
    handle, mount = ctypes.create_string_buffer(room), ctypes.c_int()
    call(303, -100, path.encode(), handle, ctypes.byref(mount), 0)
    return content(call(304, os.open(folder, os.O_RDONLY), handle, os.O_RDONLY))


def by_handle_inside():
    own_namespaces()
    return by_handle()


def by_process_outside():
    return opened("/proc/%s/root%s" % (sys.argv[3], path))


def by_folder_of_process_outside():
    return opened(path.lstrip("/"), dir_fd=os.open("/proc/%s/root" % sys.argv[3], os.O_RDONLY))


def by_namespace_outside():
    call(308, os.open("/proc/%s/ns/mnt" % sys.argv[3], os.O_RDONLY), 0)  # setns
    return opened(path)


def by_trace():
    call(101, 16, int(sys.argv[3]), 0, 0)  # ptrace: attach
    return "attached"


def by_device():
    os.mknod("disk", 0o60600, os.makedev(7, 0))
    return "made"


ways = {
    "open": lambda: opened(path),
    "relative": lambda: opened(name, dir_fd=os.open(folder, os.O_RDONLY)),
    "dots": lambda: opened(folder + "/../" + os.path.basename(folder) + "//./" + name),
    "root": lambda: opened("/proc/self/root" + path),
    "openat2": by_openat2,
    "pinned": by_pinned,
    "symlink": by_symlink,
    "program": lambda: os.popen("cat '%s' 2>/dev/null" % path).read().strip() or "nothing",
    "moved folder": by_moved_folder,
    "link": by_link,
    "umount": lambda: in_child(by_umount),
    "umount inside": lambda: in_child(by_umount_inside),
    "bind": lambda: in_child(by_bind),
    "bind inside": lambda: in_child(by_bind_inside),
    "tree": lambda: in_child(by_tree),
    "tree inside": lambda: in_child(by_tree_inside),
    "handle": lambda: in_child(by_handle),
    "handle inside": lambda: in_child(by_handle_inside),
    "process outside": by_process_outside,
    "folder of a process outside": by_folder_of_process_outside,
    "namespace outside": lambda: in_child(by_namespace_outside),
    "trace": lambda: in_child(by_trace),
    "device": by_device,
    "rename": by_rename,
}
for way, act in ways.items():
    try:
        got = act()
    except OSError as error:
        got = errno.errorcode[error.errno]
    print("%s: %s" % (way, got), flush=True)
