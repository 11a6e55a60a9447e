"""Runs programs under gdb and writes down its backtraces at some of their system calls, one JSON line for each.

Frames are told by what does not depend on where things were loaded: file, place in the file, place in the function.
"""
import json
import os
import re

import gdb

MAPS = re.compile(r"^([0-9a-f]+)-([0-9a-f]+) (\S+) ([0-9a-f]+) \S+ \d+ *(.*)$", re.M)


def mappings(pid):
    with open(f"/proc/{pid}/maps") as file:
        return [(int(a, 16), int(b, 16), p, int(o, 16), path) for a, b, p, o, path in MAPS.findall(file.read())]


def place(maps, pc):
    for start, end, permissions, offset, path in maps:
        if start <= pc < end and "x" in permissions:
            return [path, pc - start + (0 if path.startswith("[") else offset)]
    return ["not code", pc]


def symbol_offset(pc):
    """How far behind the beginning of its function, or None where there is no name."""
    said = gdb.execute(f"info symbol {pc:#x}", to_string=True)
    match = re.match(r"^(.*?)(?: \+ (\d+))? in section", said)
    return [match[1], int(match[2] or 0)] if match else None


def frames(maps):
    found = []
    frame = gdb.newest_frame()
    kind = gdb.NORMAL_FRAME
    while frame is not None and len(found) < 200:
        pc = frame.pc()
        # Behind a call the address may belong to the next function: names are those of the call.
        exact = not found or kind == gdb.SIGTRAMP_FRAME or frame.type() == gdb.SIGTRAMP_FRAME
        # Inlined functions and those that were left by a jump have no frame of their own.
        if frame.type() not in (gdb.INLINE_FRAME, gdb.TAILCALL_FRAME):
            named = symbol_offset(pc if exact else pc - 1)
            found.append({"pc": pc, "at": place(maps, pc), "name": named and named[0],
                          "offset": named and named[1] + (0 if exact else 1)})
        kind = frame.type()
        frame = frame.older()
    return found


def run(job):
    gdb.execute("delete")
    gdb.execute(f"file {job['file']}")
    calls = " ".join(job["calls"])
    gdb.execute(f"catch syscall {calls}", to_string=True)
    if "condition" in job:
        gdb.execute(f"condition $bpnum {job['condition']}")
    stacks = []
    gdb.execute(f"run {job['args']} </dev/null >/dev/null 2>&1", to_string=True)
    entering = True
    while gdb.selected_inferior().pid and len(stacks) < job["count"]:
        if entering:
            stacks.append(frames(mappings(gdb.selected_inferior().pid)))
            if len(stacks) == job["count"]:
                break
        entering = not entering
        gdb.execute("continue", to_string=True)
    if gdb.selected_inferior().pid:
        gdb.execute("kill", to_string=True)
    return stacks


gdb.execute("set confirm off")
gdb.execute("set pagination off")
gdb.execute("set debuginfod enabled off")
gdb.execute("set auto-load off")
gdb.execute("handle all nostop noprint pass", to_string=True)
gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
with open(os.environ["GDB_JOBS"]) as jobs, open(os.environ["GDB_ANSWERS"], "w") as answers:
    for job in json.load(jobs):
        try:
            answer = {"stacks": run(job)}
        except gdb.error as error:
            answer = {"error": str(error), "stacks": []}
        answers.write(json.dumps(answer) + "\n")
