import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { HttpRefusal } from "./route.js";
import type { LiveCall } from "./runs.js";

/** Read from the end of the file: some thousand calls. */
const WINDOW = 1 << 20;
const SHOWN = 300;
const LONGEST = 300;

/** The latest calls in a trace that is being written, of those whose line has all the words. */
export function latestCalls(file: string, words: readonly string[]): readonly LiveCall[] {
  const lines = endOf(file).split("\n");
  const found: LiveCall[] = [];
  for (let i = lines.length - 1; i >= 0 && found.length < SHOWN; i--) {
    const line = lines[i]!;
    const lower = line.toLowerCase();
    if (!words.every((word) => lower.includes(word))) continue;
    const call = callOf(line);
    if (call) found.push(call);
  }
  return found;
}

function endOf(file: string): string {
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const info = fstatSync(fd);
    const first = Buffer.alloc(1);
    if (!info.isFile() || readSync(fd, first, 0, 1, 0) === 0 || first.toString() !== "{")
      throw new HttpRefusal(400, "only a trace of JSON lines can be looked at while it is written");
    const bytes = Buffer.alloc(Math.min(info.size, WINDOW));
    const got = readSync(fd, bytes, 0, bytes.length, info.size - bytes.length);
    return bytes.toString("utf8", 0, got);
  } finally {
    closeSync(fd);
  }
}

/** Undefined for what is no call: other records, and lines that are cut at either end. */
function callOf(line: string): LiveCall | undefined {
  try {
    const { kind, time, pid, name, args, argv, path, address, action, result, errno, rule, reason } =
      JSON.parse(line);
    if (kind !== "syscall" && kind !== "function") return undefined;
    const about = argv ? argv.join(" ") : (path ?? address ?? JSON.stringify(args ?? {}));
    const why = [rule, reason].filter(Boolean).join(": ");
    return {
      ...{ time, pid, name, action },
      about: String(typeof about === "string" ? about : JSON.stringify(about)).slice(0, LONGEST),
      result: String(errno ?? result ?? ""),
      ...(why !== "" && { why: why.slice(0, LONGEST) }),
    };
  } catch {
    return undefined;
  }
}
