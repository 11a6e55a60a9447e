/** Tools whose first arguments need no name. */
const POSITIONAL: Readonly<Record<string, readonly string[]>> = {
  terminal_exec: ["command"],
  terminal_process: ["id"],
  read_file: ["path", "offset", "limit"],
  write_file: ["path", "content"],
  patch: ["path", "edits"],
  list_files: ["path", "depth"],
  search_files: ["pattern", "path"],
  fetch_url: ["url"],
};

/** What a script imports to call tools of the host: `from hermes_tools import read_file`. */
export const HERMES_TOOLS = `"""The tools of the host. Each call waits for its answer; what is refused is a ToolError."""
import json as _json
import socket as _socket
import threading as _threading

_POSITIONAL = ${JSON.stringify(POSITIONAL)}
_lock = _threading.Lock()
_lines = None


class ToolError(Exception):
    def __init__(self, message, rule=None):
        super().__init__(message)
        self.rule = rule


def _connect(path, token):
    global _lines
    channel = _socket.socket(_socket.AF_UNIX)
    channel.connect(path)
    _lines = channel.makefile("rwb")
    _lines.write(token.encode() + b"\\n")
    _lines.flush()
    _lines.readline()


def call(tool, **input):
    with _lock:
        try:
            _lines.write(_json.dumps({"tool": tool, "input": input}).encode() + b"\\n")
            _lines.flush()
            answer = _lines.readline()
        except (OSError, ValueError) as error:
            raise ToolError(f"the channel to the host is closed: {error}") from None
    if not answer:
        raise ToolError("the channel to the host is closed")
    answer = _json.loads(answer)
    if "error" in answer:
        raise ToolError(answer["error"], answer.get("rule"))
    return answer["output"]


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    names = _POSITIONAL.get(name, ())

    def tool(*args, **input):
        if len(args) > len(names):
            raise TypeError(f"{name}() takes its arguments by name")
        return call(name, **dict(zip(names, args)), **input)

    tool.__name__ = name
    return tool
`;

/** A script that runs away should not fill the disk with one file, nor with a picture of its memory. */
const LARGEST_FILE = 256 << 20;

/**
 * Starts the script. The token comes on stdin, where no other process can read it, and the channel is taken before the
 * first line of the script runs. Tracebacks begin in the script.
 */
export const RUN = `import os, resource, sys, traceback
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (${LARGEST_FILE}, ${LARGEST_FILE}))
folder = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, folder)
sys.dont_write_bytecode = True
import hermes_tools
hermes_tools._connect(os.path.join(folder, "channel"), sys.stdin.readline().strip())
path = os.path.join(folder, "script.py")
sys.argv = [path]
try:
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    exec(code, {"__name__": "__main__", "__file__": path, "__builtins__": __builtins__})
except Exception as error:
    traceback.print_exception(type(error), error, error.__traceback__.tb_next)
    sys.exit(1)
`;
