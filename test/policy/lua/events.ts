import { syscallByName } from "../../../src/abi/index.js";
import type { CallEvent, ReturnEvent } from "../../../src/nouns/event.js";
import { type LuaOptions, LuaPolicy } from "../../../src/policy/lua/load.js";

/** A policy from its text, and the lines that it printed. */
export function lua(text: string | Uint8Array, options: LuaOptions = {}): LuaPolicy & { lines: string[] } {
  const lines: string[] = [];
  const log = (policy: string, line: string) => void lines.push(`${policy}: ${line}`);
  const policy = new LuaPolicy("test.lua", "/policies/test.lua", Buffer.from(text), { log, ...options });
  return Object.assign(policy, { lines });
}

interface Fields {
  readonly args?: object;
  readonly registers?: readonly bigint[];
  readonly [field: string]: unknown;
}

/** An event by hand: what is not given is empty. */
export function event(name: string, { registers = [], ...fields }: Fields = {}): CallEvent {
  const call = syscallByName(name)!;
  const made: Record<string, unknown> & { process: Record<string, unknown> } = {
    kind: "syscall",
    name,
    nr: call.nr,
    classes: call.classes,
    tid: 101,
    time: 1_700_000_000.25,
    door: "trace",
    process: {
      pid: 100,
      parentPid: 1,
      parent: undefined,
      exe: "/usr/bin/app",
      argv: ["app", "-x"],
      cwd: "/home",
      uid: 1000,
      gid: 1001,
      startTime: 5,
      threads: [100, 101],
      fds: [],
      maps: [{ from: 0x1000n, to: 0x2000n, permissions: "r-xp", offset: 0n, path: "/usr/bin/app" }],
    },
    args: {},
    argument: (i: number) => registers[i] ?? 0n,
    path: undefined,
    requested: undefined,
    paths: [],
    fd: undefined,
    address: undefined,
    argv: undefined,
    env: undefined,
    flags: [],
    data: undefined,
    memory: () => undefined,
    maps: () => made.process.maps,
    ...fields,
  };
  return made as unknown as CallEvent;
}

export function returned(name: string, result: bigint, fields: Fields = {}): ReturnEvent {
  const extra = { kind: "return", result: Number(result), resultExact: result, elapsed: 0.5 };
  return event(name, { ...extra, ...fields }) as ReturnEvent;
}

/** What the body of a handler for getppid answers. */
export function answer(body: string, fields: Fields = {}, call = "getppid") {
  return lua(`hermes.on("${call}", function(e) ${body} end)`).decide(event(call, fields));
}

/** What an expression about the event is, as Lua prints it. */
export function shown(expression: string, call = "getppid", fields: Fields = {}): string {
  const policy = lua(`hermes.on("${call}", function(e) print(${expression}) end)`);
  policy.decide(event(call, fields));
  return policy.lines[0]!.replace("test: ", "");
}
