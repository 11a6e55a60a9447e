import { NotPossible } from "../doors/door.js";
import { signalOf } from "../doors/refuse.js";
import { REGISTER } from "../kernel/layout.js";
import type { RegisterFile, RegisterName } from "../kernel/registers.js";
import type { RegisterValues, Verdict } from "../verdict.js";
import type { ReachedInstruction } from "./reached.js";
import type { Hit } from "./sites.js";

const LOW = 0xffff_ffffn;
const CARRY = 1n;
/** OF, SF, ZF, AF, PF and CF: what rdrand and rdseed set. */
const RESULT_FLAGS = 0x8d5n;

/** How a verdict on an instruction at a site is carried out. Throws NotPossible where that makes no sense. */
export function carryOutInstruction(hit: Hit, event: ReachedInstruction, verdict: Verdict): void {
  const { registers } = hit;
  switch (verdict.action) {
    case "allow":
      return;
    case "kill":
      hit.killed = true;
      return;
    case "emulate": {
      const { result, registers: values } = verdict.emulation!;
      give(registers, event, wholeNumber(result), true);
      setRegisters(registers, values);
      skip(hit, event);
      return;
    }
    case "modify":
      modify(hit, event, verdict.change!.registers, verdict.change!.result);
      return;
    case "fault": {
      const { errno, signal, short } = verdict.fault!;
      if (errno !== undefined || short !== undefined)
        throw new NotPossible("an instruction has no errno and transfers nothing: give signal or delay");
      if (signal !== undefined) hit.signal = signalOf(signal);
      return;
    }
    default:
      if (event.leaf !== undefined) setRegisters(registers, { eax: 0, ebx: 0, ecx: 0, edx: 0 });
      give(registers, event, 0n, false);
      skip(hit, event);
  }
}

/** What asks the processor is answered; what does something finds other registers. */
function modify(
  hit: Hit,
  event: ReachedInstruction,
  values: RegisterValues | undefined,
  result: unknown,
): void {
  const { registers } = hit;
  if (event.cpuid) {
    setRegisters(registers, { ...event.cpuid, ...values });
    skip(hit, event);
    return;
  }
  setRegisters(registers, values);
  if (result === undefined) return;
  give(registers, event, wholeNumber(result), true);
  skip(hit, event);
}

function skip(hit: Hit, { site, address }: ReachedInstruction): void {
  hit.goTo(Number(address) + site.match.length);
}

function wholeNumber(result: unknown): bigint {
  if (typeof result === "bigint" || typeof result === "number") return BigInt(result);
  throw new NotPossible("an instruction gives a number");
}

/** The result of an instruction that has one: a counter in edx:eax, a random number in its register, and the carry flag with it. */
function give(registers: RegisterFile, { site }: ReachedInstruction, value: bigint, succeeds: boolean): void {
  const { text, destination } = site.match;
  if (/^(rdpmc|rdtscp?)$/.test(text)) {
    const wide = BigInt.asUintN(64, value);
    setRegisters(registers, { eax: wide & LOW, edx: wide >> 32n });
  } else if (/^(rdrand|rdseed) /.test(text) && destination !== undefined) {
    put(registers, destination, value);
    const flags = registers.exact(REGISTER.eflags) & ~RESULT_FLAGS;
    registers.set(REGISTER.eflags, succeeds ? flags | CARRY : flags);
  }
}

function setRegisters(registers: RegisterFile, values: RegisterValues | undefined): void {
  for (const [name, value] of Object.entries(values ?? {})) put(registers, name, BigInt(value));
}

const NARROW = /^(?:e(?<old>[abcd]x|si|di|bp|sp)|(?<fresh>r\d+)d)$/;
const SHORT = /^(?:(?<old>[abcd]x|si|di|bp|sp)|(?<fresh>r\d+)w)$/;

function put(registers: RegisterFile, name: string, value: bigint): void {
  const wide = REGISTER[(name === "rflags" ? "eflags" : name) as RegisterName];
  if (wide !== undefined && SETTABLE.test(name)) {
    registers.set(wide, BigInt.asUintN(64, value));
    return;
  }
  const narrow = partOf(NARROW, name);
  if (narrow !== undefined) {
    registers.set(narrow, value & LOW);
    return;
  }
  const short = partOf(SHORT, name);
  if (short === undefined) throw new NotPossible(`${name} is no register that can be set`);
  registers.set(short, (registers.exact(short) & ~0xffffn) | (value & 0xffffn));
}

const SETTABLE = /^(r[abcd]x|r(si|di|bp|sp)|r(8|9|1[0-5])|[re]flags)$/;

function partOf(shape: RegExp, name: string): number | undefined {
  const { old, fresh } = shape.exec(name)?.groups ?? {};
  const whole = old === undefined ? fresh : `r${old}`;
  return whole === undefined ? undefined : REGISTER[whole as RegisterName];
}
