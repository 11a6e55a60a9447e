import { type Argument, type Syscall, suggest, syscallByNumber } from "../../abi/index.js";
import { type Address, formatAddress, isInternet } from "../../nouns/address.js";
import type { CallEvent, Descriptor, ProcessInfo, ReturnEvent } from "../../nouns/event.js";
import { argumentOf } from "./call-words.js";
import type { LuaEngine } from "./engine.js";
import type { InsideFunctions } from "./inside.js";
import type { Pointer } from "./machine.js";
import type { LuaView, LuaViews } from "./view.js";

/** Units of fuel for lookups that take long. */
const LIST_COST = 20_000;
/** … and for each piece of the program's memory. */
const READ_COST = 500;

const EVENT_FIELDS = [
  ...[
    "kind",
    "name",
    "nr",
    "classes",
    "tid",
    "process",
    "time",
    "door",
    "args",
    "path",
    "requested",
    "paths",
  ],
  ...[
    "fd",
    "address",
    "addresses",
    "controls",
    "receivers",
    "signal",
    "argv",
    "env",
    "flags",
    "data",
    "result",
    "errno",
    "elapsed",
    "memory",
    "maps",
    "stack",
    "registers",
  ],
] as const;
const PROCESS_FIELDS = [
  ...[
    "pid",
    "parent_pid",
    "parent",
    "children",
    "exe",
    "argv",
    "cwd",
    "uid",
    "gid",
    "start_time",
    "threads",
    "fds",
    "maps",
  ],
] as const;
const FD_FIELDS = ["number", "target", "kind", "local", "local_address", "peer"] as const;
const ARGS_EXTRAS = ["path", "requested", "address", "host", "port"] as const;

export const FIELD_NAMES: readonly string[] = [
  ...EVENT_FIELDS,
  ...PROCESS_FIELDS,
  ...FD_FIELDS,
  ...ARGS_EXTRAS,
];

/** Shared by all views of one policy's events. */
export interface Scene {
  readonly engine: LuaEngine;
  readonly views: LuaViews;
  readonly inside: InsideFunctions;
}

/** Either kind of event, without the types of every call's arguments. */
type AnyEvent = Omit<CallEvent, "kind" | "args"> &
  Partial<Pick<ReturnEvent, "resultExact" | "errno" | "elapsed">> & {
    readonly kind: string;
    readonly args: object;
    /** Every address of a sendmmsg, where the event has several. */
    readonly addresses?: readonly Address[];
  };

/** `e`: an event as a handler sees it. */
export class EventView implements LuaView {
  readonly length = 0;
  readonly event: AnyEvent;
  readonly #scene: Scene;

  constructor(scene: Scene, event: AnyEvent) {
    this.#scene = scene;
    this.event = event;
  }

  keys(): readonly string[] {
    return EVENT_FIELDS;
  }

  field(L: Pointer, key: string | number): void {
    const { event } = this;
    const { engine, views } = this.#scene;
    switch (key) {
      case "path":
        pushOptionalText(engine, L, event.path);
        return;
      case "requested":
        pushOptionalText(engine, L, event.requested);
        return;
      case "name":
      case "kind":
      case "door":
        engine.pushText(L, event[key]);
        return;
      case "fd":
        pushDescriptor(this.#scene, L, event.fd);
        return;
      case "address":
        pushAddress(engine, L, event.address);
        return;
      case "addresses":
        pushAddresses(engine, L, event.addresses ?? (event.address ? [event.address] : []));
        return;
      case "args":
        views.push(L, new ArgsView(this.#scene, event));
        return;
      case "process":
        pushProcess(this.#scene, L, event.process);
        return;
      case "flags":
        pushFlags(engine, L, event.flags);
        return;
      case "result":
        engine.push(L, event.resultExact);
        return;
      case "elapsed":
      case "time":
        pushSeconds(engine, L, event[key]);
        return;
      case "memory":
      case "maps":
      case "stack":
      case "registers":
        this.#scene.inside[key](L);
        return;
      case "nr":
      case "classes":
      case "tid":
      case "paths":
      case "controls":
      case "receivers":
      case "signal":
      case "errno":
        engine.push(L, event[key]);
        return;
      case "data":
        engine.charge(READ_COST);
        engine.push(L, event.data);
        return;
      case "argv":
      case "env": {
        const words = event[key];
        engine.charge(READ_COST * (1 + (words?.length ?? 0)));
        engine.push(L, words);
        return;
      }
      default:
        throw noSuchField("an event", key, EVENT_FIELDS);
    }
  }
}

/** `args`: the arguments by number from 1, by kernel name, and decoded. */
export class ArgsView implements LuaView {
  readonly #scene: Scene;
  readonly #event: AnyEvent;
  readonly #call: Syscall | undefined;
  /** The call whose arguments these are read as. */
  readonly #shape: Syscall | undefined;

  constructor(scene: Scene, event: AnyEvent, shape?: Syscall) {
    this.#scene = scene;
    this.#event = event;
    this.#call = syscallByNumber(event.nr);
    this.#shape = shape ?? this.#call;
  }

  get length(): number {
    return this.#shape?.args.length ?? 6;
  }

  keys(): readonly string[] {
    return (this.#shape?.args ?? []).map((argument) => argument.name);
  }

  field(L: Pointer, key: string | number): void {
    const { engine } = this.#scene;
    const event = this.#event;
    if (typeof key === "number") {
      this.#shaped(L, key - 1);
      return;
    }
    switch (key) {
      case "path":
      case "requested":
        pushOptionalText(engine, L, event[key]);
        return;
      case "address":
        engine.push(L, event.address && formatAddress(event.address));
        return;
      case "host":
      case "port": {
        const { address } = event;
        engine.push(L, address && isInternet(address) ? address[key] : undefined);
        return;
      }
      default:
        this.#named(L, key);
    }
  }

  #named(L: Pointer, name: string): void {
    const at = (call: Syscall | undefined) =>
      call?.args.findIndex((argument) => argument.name === name) ?? -1;
    if (at(this.#shape) >= 0) this.#shaped(L, at(this.#shape));
    else this.#argument(L, at(this.#call));
  }

  #shaped(L: Pointer, i: number): void {
    const found = this.#shape === this.#call ? i : argumentOf(this.#shape!, i, this.#event as CallEvent);
    if (typeof found === "bigint") this.#scene.engine.push(L, found);
    else this.#argument(L, found ?? -1);
  }

  #argument(L: Pointer, i: number): void {
    const { engine } = this.#scene;
    if (!Number.isInteger(i) || i < 0 || i >= (this.#call?.args.length ?? 6)) {
      engine.push(L, undefined);
      return;
    }
    const argument = this.#call?.args[i];
    // A JavaScript number is exact only up to 2^53; the register is always exact.
    if (!argument || (argument.width === 64 && isNumeric(argument))) engine.push(L, this.#event.argument(i));
    else engine.push(L, (this.#event.args as Record<string, unknown>)[argument.name]);
  }
}

const NUMERIC = new Set([
  "int",
  "uint",
  "size",
  "offset",
  "flags",
  "mode",
  "address",
  "fd",
  "pid",
  "uid",
  "gid",
  "signal",
]);

function isNumeric(argument: Argument): boolean {
  return NUMERIC.has(argument.kind);
}

class DescriptorView implements LuaView {
  readonly length = 0;
  readonly #engine: LuaEngine;
  readonly #fd: Descriptor;

  constructor(engine: LuaEngine, fd: Descriptor) {
    this.#engine = engine;
    this.#fd = fd;
  }

  keys(): readonly string[] {
    return FD_FIELDS;
  }

  field(L: Pointer, key: string | number): void {
    switch (key) {
      case "number":
      case "kind":
      case "target":
        this.#engine.push(L, this.#fd[key]);
        return;
      case "local":
      case "local_address":
        pushAddress(this.#engine, L, this.#fd.local);
        return;
      case "peer":
        pushAddress(this.#engine, L, this.#fd.peer);
        return;
      default:
        throw noSuchField("a descriptor", key, FD_FIELDS);
    }
  }
}

class ProcessView implements LuaView {
  readonly length = 0;
  readonly #scene: Scene;
  readonly #process: ProcessInfo;

  constructor(scene: Scene, process: ProcessInfo) {
    this.#scene = scene;
    this.#process = process;
  }

  keys(): readonly string[] {
    return PROCESS_FIELDS;
  }

  field(L: Pointer, key: string | number): void {
    const { engine } = this.#scene;
    const process = this.#process;
    switch (key) {
      case "parent":
        pushProcess(this.#scene, L, process.parent);
        return;
      case "children":
        engine.charge(LIST_COST);
        pushViews(
          this.#scene,
          L,
          process.children.map((child) => new ProcessView(this.#scene, child)),
        );
        return;
      case "parent_pid":
        engine.push(L, process.parentPid);
        return;
      case "start_time":
        engine.push(L, process.startTime);
        return;
      case "fds":
        engine.charge(LIST_COST);
        pushViews(
          this.#scene,
          L,
          process.fds.map((fd) => new DescriptorView(engine, fd)),
        );
        return;
      case "pid":
      case "exe":
      case "argv":
      case "cwd":
      case "uid":
      case "gid":
        engine.push(L, process[key]);
        return;
      case "threads":
      case "maps":
        engine.charge(LIST_COST);
        engine.push(L, process[key]);
        return;
      default:
        throw noSuchField("a process", key, PROCESS_FIELDS);
    }
  }
}

/** A misspelt field must not read as nil: the handler would then allow what it means to stop. */
export function noSuchField(what: string, key: string | number, fields: readonly string[]): Error {
  const near = suggest(String(key), fields);
  return new TypeError(`${what} has no field "${key}"${near ? `: did you mean "${near}"?` : ""}`);
}

function pushViews({ engine, views }: Scene, L: Pointer, list: readonly LuaView[]): void {
  engine.x.lua_createtable(L, list.length, 0);
  list.forEach((view, i) => {
    views.push(L, view);
    engine.x.lua_rawseti(L, -2, BigInt(i + 1));
  });
}

function pushOptionalText(engine: LuaEngine, L: Pointer, text: string | undefined): void {
  if (text === undefined) engine.x.lua_pushnil(L);
  else engine.pushText(L, text);
}

function pushSeconds(engine: LuaEngine, L: Pointer, seconds: number | undefined): void {
  if (seconds === undefined) engine.x.lua_pushnil(L);
  else engine.x.lua_pushnumber(L, seconds);
}

export function pushProcess(scene: Scene, L: Pointer, process: ProcessInfo | undefined): void {
  if (process) scene.views.push(L, new ProcessView(scene, process));
  else scene.engine.push(L, undefined);
}

function pushDescriptor(scene: Scene, L: Pointer, fd: Descriptor | undefined): void {
  if (fd) scene.views.push(L, new DescriptorView(scene.engine, fd));
  else scene.engine.push(L, undefined);
}

function pushAddress(engine: LuaEngine, L: Pointer, address: Address | undefined): void {
  engine.push(L, address && { ...address, text: formatAddress(address) });
}

function pushAddresses(engine: LuaEngine, L: Pointer, addresses: readonly Address[]): void {
  engine.pushList(
    L,
    addresses.map((address) => ({ ...address, text: formatAddress(address) })),
  );
}

/** A list of names that also works as a set. */
function pushFlags(engine: LuaEngine, L: Pointer, flags: readonly string[]): void {
  engine.pushList(L, flags);
  for (const flag of flags) engine.setField(L, flag, true);
}
