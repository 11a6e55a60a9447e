"""Plays a person at a terminal. Reads steps from stdin as JSON: [[what to wait for, what to type], ...], and prints
what the terminal showed. "size ROWS COLUMNS" as what to type resizes it."""
import fcntl, json, os, pty, re, select, signal, struct, sys, termios

steps = json.load(sys.stdin)
signal.alarm(50)
pid, terminal = pty.fork()
if pid == 0:
    env = {"PATH": os.environ["PATH"], "HOME": os.environ["HOME"], "PS1": "out> ", "TERM": "dumb", "LC_ALL": "C"}
    os.execve("/bin/bash", ["bash", "--norc", "--noprofile", "--noediting", "-i"], env)

def resize(rows, columns):
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

resize(24, 80)
shown, seen = "", 0
for expected, typed in steps:
    while not (found := re.compile(expected).search(shown, seen)):
        if not select.select([terminal], [], [], 15)[0]:
            print(shown, f"\n*** waited in vain for {expected!r}")
            os.kill(pid, signal.SIGKILL)
            sys.exit(1)
        try:
            shown += os.read(terminal, 65536).decode()
        except OSError:
            print(shown, f"\n*** it ended before {expected!r}")
            sys.exit(1)
    seen = found.end()
    if typed.startswith("size "):
        resize(*map(int, typed.split()[1:]))
    else:
        os.write(terminal, typed.encode())
try:
    while data := os.read(terminal, 65536):
        shown += data.decode()
except OSError:
    pass
print(shown.replace("\r", ""))
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
