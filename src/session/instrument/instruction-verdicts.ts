import { REGISTER } from "../../kernel/binding/layout.js";
import type { RegisterFile, UserRegisterName } from "../../kernel/binding/registers.js";
import { NotPossible } from "../../kernel/doors/door.js";
import { toSignal } from "../../kernel/doors/refuse.js";
import type { RegisterValues, Verdict } from "../../nouns/verdict.js";
import type { ReachedInstruction } from "./reached-instruction.js";
import type { SiteHit } from "./sites.js";

const LOW = 0xffff_ffffn;
const CARRY = 1n;
/** OF, SF, ZF, AF, PF and CF: the flags that rdrand and rdseed set. */
const RESULT_FLAGS = 0x8d5n;

/** Carries out a verdict on an instruction at a site. Throws NotPossible for a verdict that does not fit. */
export function carryOutInstruction(hit: SiteHit, event: ReachedInstruction, verdict: Verdict): void {
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
        throw new NotPossible("an instruction has no errno and transfers no bytes: use signal or delay");
      if (signal !== undefined) hit.signal = toSignal(signal);
      return;
    }
    default:
      if (event.leaf !== undefined) setRegisters(registers, { eax: 0, ebx: 0, ecx: 0, edx: 0 });
      give(registers, event, 0n, false);
      skip(hit, event);
  }
}

/** An instruction that queries the processor gets a result; any other one runs with changed registers. */
function modify(
  hit: SiteHit,
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

function skip(hit: SiteHit, { site, address }: ReachedInstruction): void {
  hit.goTo(Number(address) + site.match.length);
}

function wholeNumber(result: unknown): bigint {
  if (typeof result === "bigint" || typeof result === "number") return BigInt(result);
  throw new NotPossible("the result of an instruction is a number");
}

/** Sets the result: a counter in edx:eax, or a random number in its register together with the carry flag. */
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
  const wide = REGISTER[(name === "rflags" ? "eflags" : name) as UserRegisterName];
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
  if (short === undefined) throw new NotPossible(`unknown register ${name}`);
  registers.set(short, (registers.exact(short) & ~0xffffn) | (value & 0xffffn));
}

const SETTABLE = /^(r[abcd]x|r(si|di|bp|sp)|r(8|9|1[0-5])|[re]flags)$/;

function partOf(shape: RegExp, name: string): number | undefined {
  const { old, fresh } = shape.exec(name)?.groups ?? {};
  const whole = old === undefined ? fresh : `r${old}`;
  return whole === undefined ? undefined : REGISTER[whole as UserRegisterName];
}
