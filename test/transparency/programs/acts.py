"""Calls on paths and sockets, good and bad: each prints what came of it."""
import array, ctypes, errno, os, signal, socket, stat, struct, sys, threading, time

libc = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100


def say(what, do):
    try:
        print(what, do())
    except OSError as e:
        print(what, errno.errorcode.get(e.errno, e.errno))


def raw(number, *args):
    result = libc.syscall(number, *args)
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def kind(path, follow=True):
    info = os.stat(path, follow_symlinks=follow)
    regular = stat.S_ISREG(info.st_mode)
    return oct(info.st_mode), info.st_size if regular else "", info.st_nlink if regular else ""


def flags(fd):
    import fcntl

    found = oct(fcntl.fcntl(fd, fcntl.F_GETFL)), fcntl.fcntl(fd, fcntl.F_GETFD)
    os.close(fd)
    return found


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


# ------------------------------------------------------------------ creating, with the caller's umask
os.umask(0o027)
write("plain", "text")
os.mkdir("folder", 0o777)
os.mkdir("folder/inner")
os.symlink("plain", "link")
os.symlink("nowhere", "dangling")
os.symlink("folder", "way")
os.symlink("loop", "loop")
os.mkfifo("pipe", 0o666)
for name in "plain", "folder", "pipe":
    print(name, kind(name))
O = os.O_RDONLY, os.O_RDWR, os.O_CREAT, os.O_EXCL
for path in ("plain", "plain/", "link", "link/", "dangling", "way", "way/", "loop", "none", "none/", "none/x",
             "plain/x", "folder", "folder/", ".", "..", "", "x" * 300, "x/" * 2100, "folder/../plain", "./plain",
             "way/../plain", "//tmp", "/", "folder//inner"):
    short = path[:20]
    say(f"stat {short}", lambda: kind(path))
    say(f"lstat {short}", lambda: kind(path, False))
    say(f"read {short}", lambda: flags(os.open(path, os.O_RDONLY)))
    say(f"nofollow {short}", lambda: flags(os.open(path, os.O_RDONLY | os.O_NOFOLLOW)) and "opened")
    say(f"directory {short}", lambda: flags(os.open(path, os.O_RDONLY | os.O_DIRECTORY)))
    say(f"write {short}", lambda: flags(os.open(path, os.O_WRONLY)))
    say(f"exclusive {short}", lambda: flags(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY)) if path not in
        ("none",) else "")
    say(f"access {short}", lambda: os.access(path, os.R_OK))
    say(f"readlink {short}", lambda: os.readlink(path))
    say(f"mkdir {short}", lambda: os.mkdir(path) if path not in ("none", "none/", "dangling") else "")
    say(f"rmdir {short}", lambda: os.rmdir(path) if path not in ("folder//inner",) else "")
    say(f"unlink {short}", lambda: os.unlink(path) if path in ("", "none", "folder", "folder/", ".", "..", "way/",
        "plain/", "plain/x", "none/x", "/") else "")
    say(f"path only {short}", lambda: os.close(os.open(path, os.O_PATH)))
    say(f"truncate {short}", lambda: os.truncate(path, 4))
    say(f"chmod {short}", lambda: os.chmod(path, 0o640) if path in ("plain", "link", "none", "loop", "") else "")
    say(f"utime {short}", lambda: os.utime(path, (5, 6)) if path in ("plain", "link", "none", "") else "")
    say(f"chdir {short}", lambda: os.chdir(path) if path in ("plain", "none", "loop") else "")
say("create through a dangling link", lambda: write("dangling", "made"))
say("which made", lambda: kind("nowhere"))
say("append", lambda: flags(os.open("plain", os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC)))
say("truncating", lambda: (flags(os.open("nowhere", os.O_WRONLY | os.O_TRUNC | os.O_CREAT)), kind("nowhere")))
say("create a folder by open", lambda: os.open("folder", os.O_RDONLY | os.O_CREAT))
say("nonblocking", lambda: flags(os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)))
say("no reader", lambda: os.open("pipe", os.O_WRONLY | os.O_NONBLOCK))


def unnamed():
    fd = os.open(".", os.O_TMPFILE | os.O_RDWR, 0o666)
    os.write(fd, b"unnamed")
    os.link(f"/proc/self/fd/{fd}", "named", follow_symlinks=True)
    os.close(fd)
    return kind("named")


say("a file without a name", unnamed)

# ------------------------------------------------------------------ entries
for what, do in {
    "link": lambda: (os.link("plain", "hard"), kind("hard")),
    "link of a link": lambda: (os.link("link", "hardlink", follow_symlinks=False), os.readlink("hardlink")),
    "link over": lambda: os.link("plain", "hard"),
    "link of a folder": lambda: os.link("folder", "hardfolder"),
    "symlink over": lambda: os.symlink("x", "plain"),
    "rename": lambda: (os.rename("hard", "harder"), kind("harder")),
    "rename to the same": lambda: os.rename("plain", "harder"),
    "rename a folder on a file": lambda: os.rename("folder", "plain"),
    "rename a file on a folder": lambda: os.rename("plain", "folder"),
    "rename a folder into itself": lambda: os.rename("folder", "folder/inner/x"),
    "rename with a slash": lambda: (os.rename("folder/inner/", "folder/other/"), os.listdir("folder")),
    "rename nothing": lambda: os.rename("none", "other"),
    "rename .": lambda: os.rename(".", "other"),
    "rename ..": lambda: os.rename("folder/..", "other"),
    "exchange": lambda: (raw(316, AT_FDCWD, b"plain", AT_FDCWD, b"folder", 2), kind("plain")[0]),
    "exchange back": lambda: raw(316, AT_FDCWD, b"plain", AT_FDCWD, b"folder", 2),
    "no replace": lambda: raw(316, AT_FDCWD, b"plain", AT_FDCWD, b"folder", 1),
    "rmdir full": lambda: os.rmdir("folder"),
    "rmdir by unlinkat": lambda: os.rmdir("inner", dir_fd=os.open("folder", os.O_RDONLY)),
    "unlink": lambda: os.unlink("harder"),
    "mknod": lambda: (os.mknod("node", 0o600 | stat.S_IFREG), kind("node")),
    "mknod socket": lambda: (os.mknod("socket", 0o666 | stat.S_IFSOCK), kind("socket")),
    "xattr": lambda: (os.setxattr("plain", "user.a", b"value"), os.getxattr("link", "user.a"),
                      os.listxattr("plain"), os.removexattr("plain", "user.a"), os.listxattr("plain")),
    "xattr size": lambda: (os.setxattr("plain", "user.b", b"x" * 100), raw(191, b"plain", b"user.b", None, 0)),
    "xattr too small": lambda: raw(191, b"plain", b"user.b", ctypes.create_string_buffer(10), 10),
    "xattr none": lambda: os.getxattr("plain", "user.none"),
    "xattr of a link": lambda: os.setxattr("link", "user.a", b"x", follow_symlinks=False),
    "chown": lambda: os.chown("plain", -1, os.getgid()),
    "lchown": lambda: os.lchown("dangling", -1, os.getgid()),
    "statvfs": lambda: os.statvfs("plain").f_namemax,
    "times": lambda: (os.utime("plain", ns=(1, 2)), os.stat("plain").st_mtime_ns),
    "times of a link": lambda: (os.utime("link", (7, 8), follow_symlinks=False), os.lstat("link").st_mtime),
    "by descriptor": lambda: [kind(fd) for fd in [os.open("plain", os.O_RDONLY)]],
    "in a folder": lambda: [kind("../plain"[3:]), os.stat("plain", dir_fd=os.open(".", os.O_RDONLY)).st_size],
    "bad descriptor": lambda: os.stat("plain", dir_fd=999),
    "no folder": lambda: os.stat("plain", dir_fd=os.open("plain", os.O_RDONLY)),
}.items():
    say(what, do)

# ------------------------------------------------------------------ openat2
for what, path, how in (
    ("open", b"plain", (0, 0, 0)),
    ("beneath", b"folder/../plain", (0, 0, 8)),
    ("above", b"../x", (0, 0, 8)),
    ("absolute beneath", b"/etc/passwd", (0, 0, 8)),
    ("in root", b"/plain", (0, 0, 16)),
    ("above root", b"../../plain", (0, 0, 16)),
    ("no links", b"link", (0, 0, 4)),
    ("no links on the way", b"way/other", (0, 0, 4)),
    ("no magic", b"/proc/self/fd/0", (0, 0, 2)),
    ("create", b"created", (os.O_CREAT | os.O_WRONLY, 0o666, 8)),
    ("mode without create", b"plain", (0, 0o600, 0)),
    ("unknown flags", b"plain", (1 << 40, 0, 0)),
    ("unknown restriction", b"plain", (0, 0, 1 << 10)),
):
    say(f"openat2 {what}", lambda: flags(raw(437, AT_FDCWD, path, struct.pack("QQQ", *how), 24)))

# ------------------------------------------------------------------ /proc
fd = os.open("plain", os.O_RDONLY)
for what, do in {
    "self": lambda: os.readlink("/proc/self") == str(os.getpid()),
    "thread-self": lambda: os.readlink("/proc/thread-self") == f"{os.getpid()}/task/{threading.get_native_id()}",
    "exe": lambda: os.readlink("/proc/self/exe") == os.path.realpath(sys.executable),
    "cwd": lambda: os.path.realpath("/proc/self/cwd") == os.getcwd(),
    "fd": lambda: os.readlink(f"/proc/self/fd/{fd}") == f"{os.getcwd()}/plain",
    "reopen": lambda: flags(os.open(f"/proc/self/fd/{fd}", os.O_RDWR)),
    "dev fd": lambda: flags(os.open(f"/dev/fd/{fd}", os.O_RDONLY)),
    "status": lambda: [line for line in open("/proc/self/status") if line.startswith("Name")],
    "root": lambda: kind(f"/proc/self/root{os.getcwd()}/plain"),
    "mem": lambda: flags(os.open("/proc/self/mem", os.O_RDWR)),
    "tty": lambda: os.open("/dev/tty", os.O_RDWR),
    "null": lambda: flags(os.open("/dev/null", os.O_RDWR)),
}.items():
    say(what, do)

# ------------------------------------------------------------------ waiting
def feed():
    time.sleep(0.2)
    write("pipe", "through the pipe")


feeder = threading.Thread(target=feed)
feeder.start()
print(open("pipe").read())
feeder.join()


class Rang(Exception):
    pass


def ring(*_):
    raise Rang


signal.signal(signal.SIGALRM, ring)
signal.setitimer(signal.ITIMER_REAL, 0.2)
try:
    open("pipe")
except Rang:
    print("a signal ended the wait")

# ------------------------------------------------------------------ another user
sys.stdout.flush()
os.chmod(".", 0o777)
os.mkdir("closed", 0o700)
os.mkdir("closed/open", 0o777)
write("closed/open/file", "x")
os.chmod("closed/open/file", 0o666)
if os.getuid() == 0 and os.fork() == 0:
    os.setgroups([])
    os.setgid(65534)
    os.setuid(65534)
    for path in "/etc/shadow", "closed/open/file", "plain", "/etc/passwd":
        say(path, lambda: flags(os.open(path, os.O_RDONLY)))
        say(path, lambda: (os.access(path, os.R_OK), os.access(path, os.W_OK)))
    say("own file", lambda: (write("own", ""), os.stat("own").st_uid, oct(os.stat("own").st_mode)))
    say("not its own", lambda: os.chmod("plain", 0o777))
    say("give away", lambda: os.chown("own", 0, 0))
    sys.stdout.flush()
    os._exit(0)
try:
    os.wait()
except ChildProcessError:
    pass

# ------------------------------------------------------------------ sockets
def unix(path):
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(1)
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    return client.getpeername(), server.getsockname(), oct(os.stat(path).st_mode) if path[0] != "\0" else ""


def tcp(host, family, timeout):
    server = socket.socket(family)
    server.bind((host, 0))
    server.listen(1)
    client = socket.socket(family)
    client.settimeout(timeout)
    client.connect(server.getsockname()[:2])
    client.send(b"hello")
    return server.accept()[0].recv(5), client.getpeername() == server.getsockname()


def udp():
    one, two = (socket.socket(socket.AF_INET, socket.SOCK_DGRAM) for _ in range(2))
    one.bind(("127.0.0.1", 0))
    two.sendto(b"to", one.getsockname())
    two.sendmsg([b"mes", b"sage"], [], 0, one.getsockname())
    return one.recv(9), one.recv(9)


def pass_descriptor():
    one, two = socket.socketpair()
    one.sendmsg([b"x"], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [os.open("plain", os.O_RDONLY)]))])
    data, control, _, _ = two.recvmsg(1, 100)
    return data, os.read(array.array("i", control[0][2])[0], 4)


def broken():
    one, two = socket.socketpair()
    two.close()
    return one.sendmsg([b"x"])


for what, do in {
    "unix": lambda: unix("named.sock"),
    "unix by way": lambda: unix("./folder/named.sock"),
    "unix absolute": lambda: [len(name) > 20 for name in unix(os.getcwd() + "/absolute.sock")[:2]],
    "unix abstract": lambda: unix("\0hermes-acts-%d" % os.getpid()) and "",
    "unix taken": lambda: unix("plain"),
    "unix nowhere": lambda: socket.socket(socket.AF_UNIX).connect("none"),
    "unix no socket": lambda: socket.socket(socket.AF_UNIX).connect("plain"),
    "unix by link": lambda: (os.symlink("named.sock", "sock-link"),
                             socket.socket(socket.AF_UNIX).connect("sock-link")),
    "tcp": lambda: tcp("127.0.0.1", socket.AF_INET, None),
    "tcp with a timeout": lambda: tcp("127.0.0.1", socket.AF_INET, 5),
    "tcp 6": lambda: tcp("::1", socket.AF_INET6, None),
    "refused": lambda: socket.create_connection(("127.0.0.1", 1)),
    "refused with a timeout": lambda: socket.create_connection(("127.0.0.1", 1), 5),
    "udp": udp,
    "descriptors": pass_descriptor,
    "broken": broken,
    "not a socket": lambda: raw(42, 0, b"\2\0\0\1\x7f\0\0\1" + bytes(8), 16),
    "wrong family": lambda: raw(42, socket.socket().fileno(), b"\x63\0" + bytes(14), 16),
}.items():
    say(what, do)
