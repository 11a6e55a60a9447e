import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { decodeText } from "../../nouns/text.js";
import { readText } from "./proc.js";

/** Read at most this much of a program's list of JIT code. */
const MOST_BYTES = 64 * 1024 * 1024;
const MOST_NAMES = 1_000_000;
const LINE = /^(?:0x)?([0-9a-fA-F]{1,16}) (?:0x)?([0-9a-fA-F]{1,16}) (.{1,4096})$/;

interface Named {
  readonly from: number;
  readonly to: number;
  readonly symbol: string;
}

/**
 * Names of JIT code, as node (`--perf-basic-prof`), java and others write them to /tmp/perf-PID.map. They are
 * the program's own claims, from its own view of /tmp. The file grows while the program runs, and code may be
 * overwritten: of two names for one address, the later one counts.
 */
export class JitNames {
  readonly #pid: number;
  #names: Named[] = [];
  #sorted: readonly Named[] = [];
  #read = 0;
  #rest = "";

  constructor(pid: number) {
    this.#pid = pid;
  }

  at(address: number): Named | undefined {
    this.#readOn();
    let low = 0;
    let high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sorted[middle]!.from <= address) low = middle + 1;
      else high = middle;
    }
    const named = this.#sorted[low - 1];
    return named && address < named.to ? named : undefined;
  }

  #readOn(): void {
    const text = this.#newText();
    if (text === "") return;
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop()!.slice(0, 8192);
    for (const line of lines) {
      const match = LINE.exec(line);
      if (!match || this.#names.length >= MOST_NAMES) continue;
      const from = Number.parseInt(match[1]!, 16);
      const to = from + Number.parseInt(match[2]!, 16);
      if (to < 2 ** 47) this.#names.push({ from, to, symbol: decodeText(Buffer.from(match[3]!, "latin1")) });
    }
    this.#sorted = withoutOverwritten(this.#names);
  }

  /** The text written since last time. Opens plain files only: others could block us. */
  #newText(): string {
    const path = `/proc/${this.#pid}/root/tmp/perf-${innerPid(this.#pid)}.map`;
    let fd: number;
    try {
      fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    } catch {
      return "";
    }
    try {
      const stat = fstatSync(fd);
      const size = Math.min(stat.isFile() ? stat.size : 0, MOST_BYTES) - this.#read;
      if (size <= 0) return "";
      const bytes = Buffer.allocUnsafe(size);
      const got = readSync(fd, bytes, 0, size, this.#read);
      this.#read += got;
      return bytes.toString("latin1", 0, got);
    } catch {
      return "";
    } finally {
      closeSync(fd);
    }
  }
}

/** Sorted, and each cut or dropped where a later one overlaps it. */
function withoutOverwritten(names: readonly Named[]): Named[] {
  const order = names.map((named, i) => ({ ...named, i })).sort((a, b) => a.from - b.from || a.i - b.i);
  const kept: (Named & { i: number })[] = [];
  for (const named of order) {
    for (let last = kept.at(-1); last && last.to > named.from; last = kept.at(-1)) {
      if (last.i < named.i) {
        kept.pop();
        if (last.from < named.from) kept.push({ ...last, to: named.from });
        if (last.from < named.from) break;
      } else break;
    }
    const last = kept.at(-1);
    const from = last && last.to > named.from ? last.to : named.from;
    if (from < named.to) kept.push({ ...named, from });
  }
  return kept;
}

/** The pid as the process itself knows it. */
function innerPid(pid: number): number {
  const numbers = /^NSpid:\t(.*)$/m.exec(readText(`/proc/${pid}/status`))?.[1]?.split("\t");
  return Number(numbers?.at(-1) ?? pid);
}
