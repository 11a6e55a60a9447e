import { readFileSync } from "node:fs";
import { syscallByNumber } from "../../abi/index.js";
import { Elf } from "../../binary/elf/index.js";
import { native } from "../../kernel/binding/native.js";

const AT_SYSINFO_EHDR = 33n;
const PAGE = 4096;
const LOAD = "load";
/** Larger than the vDSO of any kernel. */
const MOST = 16 * PAGE;
const ENDBR64 = Buffer.of(0xf3, 0x0f, 0x1e, 0xfa);

interface Patch {
  readonly offset: number;
  readonly bytes: Buffer;
}

/**
 * The kernel maps a small library, the vDSO, into every program. It tells the time without a system call, so
 * no filter sees it. We patch its functions to enter the kernel, in each new program before its first
 * instruction. Wherever the program finds them (libc, Go's runtime, its own search), they are the same
 * functions at the same address.
 */
export class Vdso {
  readonly #calls: ReadonlySet<number>;
  /** The last vDSO image and its patch: they are the same for every program. */
  #image: Buffer = Buffer.alloc(0);
  #patches: readonly Patch[] = [];

  /** `calls` are the numbers of the calls that must be seen. */
  constructor(calls: ReadonlySet<number>) {
    this.#calls = calls;
  }

  /** A new program is about to start. Throws when its calls could go unseen. */
  execed(tid: number): void {
    const at = placeOf(tid);
    if (at === 0n) return; // a kernel without a vDSO
    const size = this.#image.length || PAGE;
    let image = read(tid, at, size);
    if (!image.equals(this.#image)) {
      image = read(tid, at, sizeOf(image));
      this.#patches = patchesOf(image, this.#calls);
      this.#image = image;
    }
    for (const { offset, bytes } of this.#patches) {
      const failed = native().store(tid, at + BigInt(offset), bytes);
      if (failed < 0) throw new Error(`its vDSO cannot be changed (errno ${-failed})`);
    }
  }
}

function placeOf(tid: number): bigint {
  const auxv = readFileSync(`/proc/${tid}/auxv`);
  for (let at = 0; at + 16 <= auxv.length; at += 16)
    if (auxv.readBigUInt64LE(at) === AT_SYSINFO_EHDR) return auxv.readBigUInt64LE(at + 8);
  return 0n;
}

function read(tid: number, at: bigint, size: number): Buffer {
  const bytes = Buffer.alloc(size);
  if (native().fetch(tid, at, bytes) !== size) throw new Error("its vDSO cannot be read");
  return bytes;
}

function sizeOf(firstPage: Buffer): number {
  const { segments } = Elf.from(firstPage, "[vdso]");
  const end = Math.max(
    PAGE,
    ...segments.filter(({ type }) => type === LOAD).map((s) => s.address + s.memorySize),
  );
  if (end > MOST) throw new Error("its vDSO is larger than any known one");
  return Math.ceil(end / PAGE) * PAGE;
}

function patchesOf(image: Buffer, calls: ReadonlySet<number>): Patch[] {
  const { symbols } = Elf.from(image, "[vdso]");
  return [...calls].flatMap((nr) => {
    const [symbol] = symbols.byName(`__vdso_${syscallByNumber(nr)!.name}`);
    if (!symbol) return []; // this kernel has no such function
    const from = symbol.address;
    const entry = image.subarray(from, from + ENDBR64.length).equals(ENDBR64) ? ENDBR64.length : 0;
    const bytes = callOf(nr);
    if (symbol.size < entry + bytes.length) throw new Error(`${symbol.name} is too short to be changed`);
    return [{ offset: from + entry, bytes }];
  });
}

/** mov eax, nr; syscall; ret */
function callOf(nr: number): Buffer {
  const bytes = Buffer.from("b8000000000f05c3", "hex");
  bytes.writeUInt32LE(nr, 1);
  return bytes;
}
