/** Tools whose first arguments can be positional. */
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

/** The module that a script imports to call the host's tools: `from hermes_tools import read_file`. */
const HERMES_TOOLS = `"""The tools of the host. Calls block until answered; a refused call raises ToolError."""
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

/** A runaway script must not fill the disk with one file or a core dump. */
const LARGEST_FILE = 256 << 20;

/**
 * Starts the script. The code comes on stdin in one line: other runs of the same user could read a file, or change it after
 * the approval. The channel connects before the first line of the script runs, and tracebacks start in the script.
 */
export const RUN = `import json, linecache, resource, sys, traceback, types
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
resource.setrlimit(resource.RLIMIT_FSIZE, (${LARGEST_FILE}, ${LARGEST_FILE}))
given = json.loads(sys.stdin.readline())
tools = sys.modules["hermes_tools"] = types.ModuleType("hermes_tools")
exec(given["module"], tools.__dict__)
tools._connect(given["channel"], given["token"])
code = given["code"]
linecache.cache["script.py"] = (len(code), None, code.splitlines(True), "script.py")
sys.argv = ["script.py"]
main = types.ModuleType("__main__")
main.__file__ = "script.py"
sys.modules["__main__"] = main
try:
    exec(compile(code, "script.py", "exec"), main.__dict__)
except Exception as error:
    traceback.print_exception(type(error), error, error.__traceback__.tb_next)
    sys.exit(1)
`;

/** That one line. */
export function introduction(channel: string, token: string, code: string): string {
  return `${JSON.stringify({ module: HERMES_TOOLS, channel, token, code })}\n`;
}
