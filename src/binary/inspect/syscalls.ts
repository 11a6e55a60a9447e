import { SYSCALLS } from "../../abi/index.js";
import type { Elf } from "../elf/index.js";
import { controlFlow } from "./cfg.js";
import { Flow, type MachineCode } from "./code.js";
import { entryRegister, followConstants } from "./constants.js";
import type { CodeFunction, RecoveredFunctions } from "./functions.js";

/** A place that makes a system call: the instruction itself, or a call of a wrapper like syscall(3). */
export interface SyscallSite {
  readonly address: number;
  /** The function it is in. */
  readonly function?: string;
  /** The instruction, or the name of the function that is called. */
  readonly by: string;
  /** Only when it is proven. */
  readonly number?: number;
  readonly name?: string;
  /** Why there is no number: callers pass it to the function, or it cannot be proven. */
  readonly unproven?: "argument" | "unknown";
}

export interface SyscallSites {
  readonly sites: readonly SyscallSite[];
  /** Byte pairs that read like such an instruction, but begin within another one or in no function. */
  readonly elsewhere: number;
}

const RAX = 0;
const RDI = 7;
const MOST_SITES = 100_000;
const MOST_ROUNDS = 4;
const NAMES = new Map(SYSCALLS.map(({ nr, name }) => [nr, name]));

export function syscallSites(elf: Elf, code: MachineCode, functions: RecoveredFunctions): SyscallSites {
  return new Search(elf, code, functions).run();
}

class Search {
  readonly #elf: Elf;
  readonly #code: MachineCode;
  readonly #functions: RecoveredFunctions;
  readonly #sites = new Map<number, SyscallSite>();
  /** Functions that make the system call whose number one of their registers holds. */
  readonly #wrappers = new Map<number, { register: number; name: string }>();
  /** Places in memory through which such a function is called. */
  readonly #slots = new Map<number, string>();

  constructor(elf: Elf, code: MachineCode, functions: RecoveredFunctions) {
    this.#elf = elf;
    this.#code = code;
    this.#functions = functions;
  }

  run(): SyscallSites {
    const candidates = this.#candidates();
    const owners = new Set(
      candidates.map((address) => this.#functions.at(address)).filter((each) => each !== undefined),
    );
    for (const owner of owners) this.#look(owner);
    for (const address of candidates) if (!this.#sites.has(address)) this.#unreached(address);
    this.#imports();
    this.#callers();
    const found = candidates.filter((address) => this.#sites.has(address)).length;
    const sites = [...this.#sites.values()].sort((a, b) => a.address - b.address);
    return { sites, elsewhere: candidates.length - found };
  }

  /** Byte pairs that may be syscall, sysenter or int $0x80. */
  #candidates(): number[] {
    const found: number[] = [];
    for (const { address, bytes } of this.#code.regions) {
      const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
      for (const pair of PAIRS)
        for (
          let at = view.indexOf(pair);
          at >= 0 && found.length < MOST_SITES;
          at = view.indexOf(pair, at + 1)
        )
          found.push(address + at);
    }
    return found.sort((a, b) => a - b);
  }

  /** The sites of one function, the calls of wrappers among them. */
  #look(of: CodeFunction): void {
    const flow = controlFlow(this.#elf, this.#code, this.#functions, of);
    followConstants(this.#code, flow, (code, registers) => {
      const made = this.#made(code);
      if (made === undefined || this.#sites.size >= MOST_SITES) return;
      const value = registers[made.register];
      const given = entryRegister(value);
      const number = given === undefined ? value : undefined;
      const known = number === undefined ? undefined : NAMES.get(number);
      this.#sites.set(code.address, {
        address: code.address,
        function: functionName(of),
        by: made.by,
        ...(number !== undefined ? { number } : { unproven: given === undefined ? "unknown" : "argument" }),
        ...(known !== undefined && made.by !== "int 0x80" && made.by !== "sysenter" && { name: known }),
      });
      if (given !== undefined && made.by !== "int 0x80" && made.by !== "sysenter")
        this.#wrappers.set(of.address, { register: given, name: functionName(of) });
    });
  }

  /** Whether the instruction makes a system call, and which register says which. */
  #made({ flow, target, slot, address }: MachineCode): { by: string; register: number } | undefined {
    if (flow === Flow.SYSCALL) return { by: this.#instruction(address), register: RAX };
    if (flow === Flow.CALL || flow === Flow.JUMP) {
      const wrapper = this.#wrappers.get(target);
      return wrapper && { by: wrapper.name, register: wrapper.register };
    }
    if ((flow === Flow.CALL_INDIRECT || flow === Flow.INDIRECT) && slot !== 0) {
      const name = this.#slots.get(slot);
      return name === undefined ? undefined : { by: name, register: RDI };
    }
    return undefined;
  }

  #instruction(address: number): string {
    const region = this.#code.regionAt(address)!;
    for (let at = address - region.address; at < region.size; at++) {
      const pair = region.bytes[at]! * 256 + region.bytes[at + 1]!;
      if (pair === 0x0f05) return "syscall";
      if (pair === 0x0f34) return "sysenter";
      if (pair === 0xcd80) return "int 0x80";
    }
    return "syscall";
  }

  /** In a function, but where no way that is known leads to: a site if the function's code, read in order, has it. */
  #unreached(address: number): void {
    const owner = this.#functions.at(address);
    if (owner === undefined) return;
    const code = this.#code;
    code.seek(owner.address);
    while (code.next() && code.address < address);
    if (code.address !== address || code.flow !== Flow.SYSCALL) return;
    const by = this.#instruction(address);
    this.#sites.set(address, { address, function: functionName(owner), by, unproven: "unknown" });
  }

  /** The C library's own syscall(). */
  #imports(): void {
    for (const { address, symbol } of this.#elf.plt)
      if (symbol === "syscall") this.#wrappers.set(address, { register: RDI, name: "syscall()" });
    for (const { address, symbol } of this.#elf.relocations)
      if (symbol === "syscall") this.#slots.set(address, "syscall()");
  }

  /** Those who call wrappers; some are wrappers themselves. */
  #callers(): void {
    const done = new Set<number>();
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const fresh = new Set([...this.#wrappers.keys()].filter((address) => !done.has(address)));
      if (fresh.size === 0 && (round > 0 || this.#slots.size === 0)) return;
      const callers = new Set<CodeFunction>();
      for (const { from, to } of [...this.#functions.calls, ...this.#functions.jumps]) {
        if (!fresh.has(to)) continue;
        const caller = this.#functions.at(from);
        if (caller !== undefined) callers.add(caller);
      }
      if (round === 0)
        for (const { from, slot } of this.#functions.slotCalls) {
          const caller = this.#slots.has(slot) ? this.#functions.at(from) : undefined;
          if (caller !== undefined) callers.add(caller);
        }
      for (const address of fresh) done.add(address);
      for (const caller of callers)
        if (!this.#elf.plt.some(({ address }) => address === caller.address)) this.#look(caller);
    }
  }
}

const PAIRS = [
  [0x0f, 0x05],
  [0x0f, 0x34],
  [0xcd, 0x80],
].map((pair) => Buffer.from(pair));

export const functionName = ({ name, address }: CodeFunction): string => name ?? `0x${address.toString(16)}`;
