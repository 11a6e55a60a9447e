import type { Prototype } from "../../binary/prototypes/index.js";
import { REGISTER } from "../../kernel/binding/layout.js";
import { native } from "../../kernel/binding/native.js";
import { NotPossible } from "../../kernel/doors/door.js";
import { toBytes, toErrno, toSignal } from "../../kernel/doors/refuse.js";
import type { ModuleFiles } from "../../kernel/process/module-files.js";
import type { CallChange, Emulation, Fault, Verdict } from "../../nouns/verdict.js";
import { setErrno } from "./errno.js";
import { ARGUMENT_REGISTERS, type CalledFunction, FIRST_XMM, floatsOf, XMM_SIZE } from "./function-event.js";
import { readWord } from "./read-code.js";
import type { SiteHit } from "./sites.js";
import { writeText } from "./text-buffer.js";

/** Carry out verdicts on functions. Each throws NotPossible for a verdict that does not fit. */

/** Before the function's first instruction. Returns whether it will run. */
export function carryOutCall(
  hit: SiteHit,
  event: CalledFunction,
  verdict: Verdict,
  files: ModuleFiles,
): boolean {
  switch (verdict.action) {
    case "allow":
      return true;
    case "kill":
      hit.killed = true;
      return false;
    case "modify":
      changeArguments(hit, event, verdict.change!);
      return true;
    case "emulate":
      putOut(hit, event, verdict.emulation!);
      giveResult(hit, event.facts.prototype, verdict.emulation!.result);
      leave(hit);
      return false;
    case "fault": {
      const { errno } = startFault(hit, verdict.fault!);
      if (errno === undefined) return true;
      fail(hit, event, toErrno(errno), files);
      leave(hit);
      return false;
    }
    default:
      fail(hit, event, toErrno(verdict.errno), files);
      leave(hit);
      return false;
  }
}

/** After its last instruction: only what the program sees of it can change. */
export function carryOutReturn(
  hit: SiteHit,
  event: CalledFunction,
  verdict: Verdict,
  files: ModuleFiles,
): void {
  switch (verdict.action) {
    case "allow":
      return;
    case "kill":
      hit.killed = true;
      return;
    case "modify": {
      const { to, data, args, result } = verdict.change!;
      if (to !== undefined)
        throw new NotPossible(`${event.name} has returned: it cannot be redirected any more`);
      const outputs: Emulation["outputs"] = Object.fromEntries(
        Object.entries(args ?? {}).map(([key, value]) => {
          if (typeof value === "number" || typeof value === "bigint")
            throw new NotPossible(
              `${event.name} has returned: only the memory behind its arguments can be changed`,
            );
          return [key, value];
        }),
      );
      putOut(hit, event, { result: 0, outputs, ...(data !== undefined && { data }) });
      if (result !== undefined) giveResult(hit, event.facts.prototype, result);
      return;
    }
    case "emulate":
      putOut(hit, event, verdict.emulation!);
      giveResult(hit, event.facts.prototype, verdict.emulation!.result);
      return;
    case "fault": {
      const { errno } = startFault(hit, verdict.fault!);
      if (errno !== undefined) fail(hit, event, toErrno(errno), files);
      return;
    }
    default:
      fail(hit, event, toErrno(verdict.errno), files);
  }
}

function startFault(hit: SiteHit, fault: Fault): Fault {
  if (fault.short !== undefined)
    throw new NotPossible("a function transfers no bytes that could be shortened");
  if (fault.signal !== undefined) hit.signal = toSignal(fault.signal);
  return fault;
}

/** Returns to the caller as if the function had run. Kills the program if that is impossible. */
function leave(hit: SiteHit): void {
  const { registers, tid } = hit;
  const sp = registers.get(REGISTER.rsp);
  const returnsTo = readWord(tid, sp);
  if (returnsTo === undefined) {
    hit.killed = true;
    return;
  }
  registers.set(REGISTER.rsp, sp + 8);
  hit.goTo(returnsTo);
}

/** A failed function, as the program sees it: a return value, and the reason in errno. */
function fail(hit: SiteHit, event: CalledFunction, errno: number, files: ModuleFiles): void {
  const { fails, result } = event.facts.prototype ?? {};
  if (fails?.when === "errno") {
    giveResult(hit, event.facts.prototype, errno);
    return;
  }
  const kind = result?.type.kind;
  const value = fails?.value ?? (kind === "pointer" || kind === "void" ? 0 : -1);
  giveResult(hit, event.facts.prototype, value);
  if (fails?.errno === false) return;
  setErrno(hit, errno, files);
}

function giveResult(hit: SiteHit, prototype: Prototype | undefined, result: Emulation["result"]): void {
  const { registers, tid, space } = hit;
  const type = prototype?.result.type;
  if (typeof result === "string" || result instanceof Uint8Array) {
    registers.set(REGISTER.rax, writeText(tid, space, terminated(result)));
  } else if (type?.kind === "float" && type.size <= 8) {
    const floats = floatsOf(tid);
    const view = new DataView(floats.buffer);
    if (type.size === 4) view.setFloat32(FIRST_XMM, Number(result), true);
    else view.setFloat64(FIRST_XMM, Number(result), true);
    if (native().setFloats(tid, floats) < 0)
      throw new NotPossible("its floating point registers cannot be set");
  } else registers.set(REGISTER.rax, wholeNumber(result));
}

function wholeNumber(value: number | bigint): number | bigint {
  if (typeof value === "number" && !Number.isInteger(value))
    throw new NotPossible(`${value} is not a whole number`);
  return value;
}

// ---------------------------------------------------------------- arguments

function changeArguments(hit: SiteHit, event: CalledFunction, change: CallChange): void {
  if (change.result !== undefined)
    throw new NotPossible("a result can only be changed on return: put the handler under `returns`");
  if (change.to !== undefined) changeArgument(hit, event, textArgument(event, "in"), change.to as string);
  if (change.data !== undefined) changeArgument(hit, event, dataArgument(event, "in"), change.data);
  for (const [key, value] of Object.entries(change.args ?? {}))
    changeArgument(hit, event, argumentIndex(event, key), value);
}

function changeArgument(
  hit: SiteHit,
  event: CalledFunction,
  index: number,
  value: number | bigint | string | Uint8Array,
): void {
  if (typeof value === "number" || typeof value === "bigint") {
    setArgument(hit, event, index, value);
    return;
  }
  setArgument(hit, event, index, writeText(hit.tid, hit.space, terminated(value)));
  // If another argument holds the length, it changes too.
  const length = event.facts.prototype?.parameters[index]?.length;
  const [factor] = length ?? [];
  if (length?.length === 1 && factor?.kind === "argument")
    setArgument(hit, event, factor.value, toBytes(value).length);
}

function setArgument(hit: SiteHit, event: CalledFunction, index: number, value: number | bigint): void {
  const place = event.reader?.place(index) ?? { kind: "word", index };
  if (place.kind === "vector") {
    setFloat(hit, event, index, place.index, Number(value));
    return;
  }
  const register = ARGUMENT_REGISTERS[place.index];
  if (register !== undefined) {
    hit.registers.set(register, wholeNumber(value));
    return;
  }
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt.asUintN(64, BigInt(wholeNumber(value))));
  const at = hit.registers.get(REGISTER.rsp) + 8 * (place.index - ARGUMENT_REGISTERS.length + 1);
  if (native().store(hit.tid, BigInt(at), bytes) < 0) throw new NotPossible("its stack cannot be written");
}

function setFloat(hit: SiteHit, event: CalledFunction, index: number, vector: number, value: number): void {
  const type = event.facts.prototype?.parameters[index]?.type;
  const floats = floatsOf(hit.tid);
  const view = new DataView(floats.buffer);
  const at = FIRST_XMM + vector * XMM_SIZE;
  if (type?.kind === "float" && type.size === 4) view.setFloat32(at, value, true);
  else view.setFloat64(at, value, true);
  if (native().setFloats(hit.tid, floats) < 0)
    throw new NotPossible("its floating point registers cannot be set");
}

/** By index from 0, or by name in the prototype. */
function argumentIndex(event: CalledFunction, key: string): number {
  const { prototype } = event.facts;
  const index = /^\d+$/.test(key)
    ? Number(key)
    : (prototype?.parameters.findIndex((p) => p.name === key) ?? -1);
  if (index >= 0 && index < 32) return index;
  const names = prototype?.parameters.map(({ name }) => name).join(", ");
  throw new NotPossible(
    `${event.name} has no argument "${key}"${names ? ` (known: ${names})` : ": its prototype is unknown, so use numbers from 0"}`,
  );
}

function textArgument(event: CalledFunction, direction: "in" | "out"): number {
  return pointerArgument(event, direction, false);
}

function dataArgument(event: CalledFunction, direction: "in" | "out"): number {
  return pointerArgument(event, direction, true);
}

/** The first pointer argument; of known length, if required. */
function pointerArgument(event: CalledFunction, direction: "in" | "out", withLength: boolean): number {
  const parameters = event.facts.prototype?.parameters ?? [];
  const fits = (p: (typeof parameters)[number]) =>
    p.type.kind === "pointer" && (p.direction === direction || p.direction === "inout");
  const index = parameters.findIndex((p) => fits(p) && (!withLength || p.length !== undefined));
  const any = index >= 0 ? index : parameters.findIndex(fits);
  if (any >= 0) return any;
  throw new NotPossible(
    `it is not known which argument of ${event.name} points at ${direction === "in" ? "its input" : "its output"}: name it in args or outputs`,
  );
}

function terminated(value: string | Uint8Array): Uint8Array {
  const bytes = toBytes(value);
  return typeof value === "string" ? Buffer.concat([bytes, Buffer.of(0)]) : bytes;
}

// ---------------------------------------------------------------- what it gives

/** Writes bytes to the memory that the arguments pointed at when the function was called. */
function putOut(hit: SiteHit, event: CalledFunction, { data, outputs }: Emulation): void {
  const all = Object.entries(outputs ?? {}).map(
    ([key, value]) => [argumentIndex(event, key), value] as const,
  );
  if (data !== undefined) all.push([dataArgument(event, "out"), data]);
  for (const [index, value] of all) {
    const place = event.argument(event.reader?.place(index)?.index ?? index);
    if (place === 0n) throw new NotPossible(`argument ${index} of ${event.name} is NULL`);
    if (native().store(hit.tid, place, terminated(value)) < 0)
      throw new NotPossible(`argument ${index} of ${event.name} points at no writable memory`);
  }
}
