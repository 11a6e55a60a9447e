"""Runs a program on a terminal of its own, types what it is told when it sees what it waits for.

    on-terminal.py '[["seen", "typed"], ...]' PROGRAM ...     prints {"output", "status", "restored"} as JSON
"""
import json
import os
import pty
import select
import sys
import termios

steps, program = json.loads(sys.argv[1]), sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(program[0], program)
before = termios.tcgetattr(terminal)
output, looked = b"", 0
while True:
    select.select([terminal], [], [])
    try:
        output += os.read(terminal, 65536)
    except OSError:  # the program has ended
        break
    while steps and steps[0][0].encode() in output[looked:]:
        looked = output.index(steps[0][0].encode(), looked) + len(steps[0][0])
        os.write(terminal, steps.pop(0)[1].encode())
status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
print(json.dumps({"output": output.decode(), "status": status}))
