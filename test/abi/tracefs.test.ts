import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { SYSCALLS, syscallByName } from "../../src/abi/index.js";

const MOUNTED = "/sys/kernel/tracing";
const EVENTS = "events/syscalls";
/** Function name -> name in the table of numbers. */
const NAMES: Record<string, string> = {
  newstat: "stat",
  newfstat: "fstat",
  newlstat: "lstat",
  newuname: "uname",
  sendfile64: "sendfile",
  umount: "umount2",
};
const POINTER_KINDS = [
  "path",
  "string",
  "buffer",
  "iovec",
  "sockaddr",
  "msghdr",
  "mmsghdr",
  "argv",
  "fds",
  "struct",
];

/** Where the running kernel describes its own calls; undefined where we may not look. */
function tracefs(): { path: string; mounted: boolean } | undefined {
  if (existsSync(join(MOUNTED, EVENTS))) return { path: MOUNTED, mounted: false };
  if (process.getuid?.() !== 0) return undefined;
  const path = mkdtempSync(join(tmpdir(), "abi-tracefs-"));
  try {
    execFileSync("mount", ["-t", "tracefs", "none", path], { stdio: "pipe" });
    if (existsSync(join(path, EVENTS))) return { path, mounted: true };
    execFileSync("umount", [path]);
  } catch {
    // No tracefs in this kernel, or no right to mount it.
  }
  rmdirSync(path);
  return undefined;
}

describe("the running kernel's own description of its calls", () => {
  const source = tracefs();
  if (!source)
    console.warn("NOT CHECKED: the system call table against tracefs, which is not available here.");
  afterAll(() => {
    if (!source?.mounted) return;
    execFileSync("umount", [source.path]);
    rmdirSync(source.path);
  });

  const calls = source
    ? readdirSync(join(source.path, EVENTS))
        .filter((name) => name.startsWith("sys_enter_"))
        .map((name) => {
          const format = readFileSync(join(source.path, EVENTS, name, "format"), "utf8").split(
            "__syscall_nr",
          )[1]!;
          const fields = [...format.matchAll(/field:(.*?)(\w+);\s*offset/g)].map(([, type]) => type!.trim());
          const call = name.slice("sys_enter_".length);
          return { name: NAMES[call] ?? call, fields };
        })
    : [];

  it.skipIf(!source)("has no call that the table lacks", () => {
    expect(calls.length).toBeGreaterThan(300);
    expect(calls.filter(({ name }) => !syscallByName(name)).map(({ name }) => name)).toEqual([]);
  });

  it.skipIf(!source)("agrees on the number, the pointers and the width of the arguments", () => {
    const byName = new Map(calls.map((call) => [call.name, call.fields]));
    for (const row of SYSCALLS) {
      const fields = byName.get(row.name);
      if (!fields) continue; // not built into this kernel
      expect(row.args.length, row.name).toBe(fields.length);
      for (const [index, type] of fields.entries()) {
        const arg = row.args[index]!;
        const label = `${row.name}(${type} ${arg.name})`;
        const pointer = type.includes("*") || type.includes("cap_user_");
        const wide = pointer || /\blong\b|size_t|off_t|u64|aio_context_t/.test(type);
        if (arg.kind !== "address") expect(POINTER_KINDS.includes(arg.kind), label).toBe(pointer);
        // Declared long and cut to an int before use.
        const narrowed = ["fd", "pid"].includes(arg.kind) || arg.name === "clone_flags";
        if (!narrowed) expect(arg.width, label).toBe(wide ? 64 : 32);
        // An iovec array is const and what it points at is not.
        if (/^const\b.*\*/.test(type) && arg.kind !== "iovec") expect(arg.direction, label).toBeUndefined();
      }
    }
  });
});
