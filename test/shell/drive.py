"""drive STEPS COMMAND…: runs a command on a terminal of its own; when the first word of a step is seen, its second is typed.
Prints what was seen, and in a last line the exit status."""
import json, os, pty, select, sys, time

steps, command = json.loads(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execv(command[0], command)
seen, read, until = b"", 0, time.time() + 90
while time.time() < until:
    ready, _, _ = select.select([terminal], [], [], 0.05)
    if ready:
        try:
            piece = os.read(terminal, 4096)
        except OSError:
            break
        if not piece:
            break
        seen += piece
    if steps and (at := seen.find(steps[0][0].encode(), read)) >= 0:
        read = at + len(steps[0][0].encode())
        os.write(terminal, steps[0][1].encode())
        steps = steps[1:]
else:
    os.kill(pid, 9)
_, status = os.waitpid(pid, 0)
sys.stdout.write(seen.decode(errors="replace") + f"\nleft {len(steps)} status {os.waitstatus_to_exitcode(status)}\n")
