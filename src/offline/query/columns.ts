import { syscallByName } from "../../abi/index.js";
import type { RecordedStack } from "../../nouns/inside.js";
import type { CallRecord, TraceRecord } from "../../record/trace/records.js";
import { callerText, stackLines } from "../../record/trace/stack.js";

/** A cell of a table. */
export type Cell = string | number | null;

export interface Column {
  readonly name: string;
  readonly type: "TEXT" | "INTEGER" | "REAL";
  readonly meaning: string;
}

/** The columns of `events`. docs/how-to/tracing.md shows them; `hermes query --columns` too. */
export const EVENT_COLUMNS: readonly Column[] = [
  { name: "id", type: "INTEGER", meaning: "its place in the trace, from 1" },
  { name: "kind", type: "TEXT", meaning: "syscall, function, fork, exec, exit, policies, dropped, end" },
  { name: "time", type: "REAL", meaning: "seconds since 1970" },
  { name: "process", type: "INTEGER", meaning: "processes.id of who did it" },
  { name: "pid", type: "INTEGER", meaning: "process" },
  { name: "tid", type: "INTEGER", meaning: "thread" },
  { name: "name", type: "TEXT", meaning: "the system call, or the function: libc!getenv" },
  { name: "path", type: "TEXT", meaning: "first path, canonical; of exec the program" },
  { name: "target", type: "TEXT", meaning: "what the first descriptor refers to" },
  { name: "address", type: "TEXT", meaning: "the peer: host:port, [v6]:port, unix:path" },
  { name: "bytes", type: "INTEGER", meaning: "how many were read or written" },
  { name: "result", type: "INTEGER", meaning: "what the call returned; the exit code of an exit" },
  { name: "errno", type: "TEXT", meaning: "name of the error" },
  { name: "elapsed", type: "REAL", meaning: "seconds from call to return" },
  { name: "action", type: "TEXT", meaning: "allow, deny, modify, emulate, fault, kill" },
  { name: "policy", type: "TEXT", meaning: "who decided, when it was not a plain allow" },
  { name: "rule", type: "TEXT", meaning: "its rule" },
  { name: "reason", type: "TEXT", meaning: "its reason" },
  { name: "version", type: "TEXT", meaning: "version of the policy" },
  {
    name: "args",
    type: "TEXT",
    meaning: "JSON: the arguments of a call, the argv of an exec, the child of a fork",
  },
  { name: "caller", type: "TEXT", meaning: "who called a function, or made the call: ls!main+0x1f" },
  { name: "depth", type: "INTEGER", meaning: "in how many other recorded calls of functions" },
  {
    name: "stack",
    type: "TEXT",
    meaning: "who called whom, the innermost first, where stacks were recorded",
  },
];

/** The columns of `processes`. */
export const PROCESS_COLUMNS: readonly Column[] = [
  { name: "id", type: "INTEGER", meaning: "its place in the trace, from 1" },
  { name: "pid", type: "INTEGER", meaning: "its number, which the kernel may use again" },
  { name: "parent", type: "INTEGER", meaning: "processes.id of who started it" },
  { name: "exe", type: "TEXT", meaning: "its last program" },
  { name: "argv", type: "TEXT", meaning: "JSON: that program's words" },
  { name: "started", type: "REAL", meaning: "seconds since 1970, when the trace shows it" },
  { name: "ended", type: "REAL", meaning: "likewise" },
  { name: "code", type: "INTEGER", meaning: "exit code" },
  { name: "signal", type: "TEXT", meaning: "or the signal that ended it" },
  { name: "threads", type: "INTEGER", meaning: "how many it had" },
];

/** The process that a record is about. */
interface Actor {
  readonly id: number;
  readonly pid: number;
}

/** One record as a row of `events`. */
export function rowOf(record: TraceRecord, id: number, actor: Actor | undefined): Cell[] {
  return row({ ...record, id, process: actor?.id, pid: actor?.pid, ...special(record) });
}

/** What the columns hold that is no field of the same name. */
function special(record: TraceRecord): Partial<Record<string, Cell | undefined>> {
  switch (record.kind) {
    case "syscall":
      return callCells(record);
    case "function":
      return {
        result: typeof record.result === "object" ? JSON.stringify(record.result) : record.result,
        args: JSON.stringify(record.args),
        stack: stackCell(record.stack),
      };
    case "fork":
      return { args: JSON.stringify({ child: record.child }) };
    case "exec":
      return { path: record.exe, args: JSON.stringify({ argv: record.argv }) };
    case "exit":
      return { result: record.code, args: JSON.stringify({ signal: record.signal }) };
    case "end":
      return { result: record.exitCode };
    case "dropped":
      return { result: record.count };
    case "policies":
      return { args: JSON.stringify({ policies: record.policies }) };
    default:
      return {};
  }
}

function stackCell(stack: RecordedStack | undefined): string | undefined {
  return (
    stack &&
    stackLines(stack)
      .map((line) => line.slice(3))
      .join(" ← ")
  );
}

function callCells({
  name,
  args,
  addresses,
  result,
  stack,
}: CallRecord): Partial<Record<string, Cell | undefined>> {
  const places = placesOf(name);
  const peer = places.address === undefined ? addresses?.[0] : args[places.address];
  return {
    address: typeof peer === "string" ? peer : undefined,
    bytes: places.carriesBytes && result !== undefined && result >= 0 ? result : undefined,
    args: JSON.stringify(args),
    stack: stackCell(stack),
    ...(stack && { caller: callerText(stack) }),
  };
}

interface Places {
  readonly address: string | undefined;
  readonly carriesBytes: boolean;
}

const known = new Map<string, Places>();

/** Where in a call's arguments the peer is, and whether its result is a number of bytes. */
function placesOf(name: string): Places {
  const found = known.get(name);
  if (found) return found;
  const call = syscallByName(name);
  const carries = (kind: string) => kind === "buffer" || kind === "iovec" || kind === "msghdr";
  const places = {
    address: call?.args.find((argument) => argument.kind === "sockaddr")?.name,
    carriesBytes:
      call?.returns === "count" &&
      (call.classes.includes("read") || call.classes.includes("write")) &&
      call.args.some((argument) => carries(argument.kind) || argument.kind === "size"),
  };
  known.set(name, places);
  return places;
}

function row(fields: object): Cell[] {
  const values = fields as Record<string, Cell | undefined>;
  return EVENT_COLUMNS.map(({ name }) => values[name] ?? null);
}
