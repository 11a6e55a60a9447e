import { Assembler, REG } from "./assembler.js";
import { FUNCTION_SITE, LANE, MARGIN, MAX_FUNCTIONS, RECORD, RECORDS, RETURN_BIT } from "./lane.js";

/**
 * When a lane is full: the program waits until we have read it, or continues, and the call counts as lost.
 */
export type WhenFull = "wait" | "drop";

export interface RingStub {
  readonly code: Uint8Array;
  /** The address at which the thread stops (int3) when its lane is full, and continues when there is room. */
  readonly full?: number;
  readonly retry: number;
}

const record = (field: number) => LANE.records + field;

/**
 * Reserves a record: leaves its offset in rcx and its number in `number`. A single instruction takes the
 * number, so a signal handler that records too gets another one.
 */
function reserve(code: Assembler, number: 0 | 11): Assembler {
  code.raw(0xb9).word(1).exchangeAdd(REG.rcx, LANE.head); // mov ecx, 1; xadd gs:head, rcx
  if (number === REG.r11)
    code.raw(0x44, 0x8d, 0x59, 0x01); // lea r11d, [rcx + 1]
  else code.raw(0x8d, 0x41, 0x01); // lea eax, [rcx + 1]
  return code
    .raw(0x81, 0xe1)
    .word(RECORDS - 1)
    .raw(0xc1, 0xe1, 0x06); // and ecx, …; shl ecx, 6
}

/** rdtsc clobbers rax and rdx. */
function stampTime(code: Assembler): Assembler {
  return code
    .raw(0x0f, 0x31)
    .store32At(REG.rax, record(RECORD.time))
    .store32At(REG.rdx, record(RECORD.time + 4));
}

const value = (i: number) => record(RECORD.values + 8 * i);

/**
 * A system call recorded inside the program. The stub may use only rcx and r11, which the call clobbers
 * anyway, and no stack: memory below the stack pointer may be in use, and a clone's child has another stack.
 * The stub runs the displaced instructions (`before`, `behind`) and then jumps back to the program (`back`).
 * A call that is not in `table` (a byte for each number) is made at `plain`, where it goes through its
 * ordinary door.
 */
export function syscallStub(o: {
  readonly site: number;
  readonly table: number;
  readonly before: Uint8Array;
  readonly behind: Uint8Array;
  readonly back: number;
  readonly plain: number;
  readonly whenFull: WhenFull;
}): RingStub {
  const code = new Assembler().copy(o.before).label("retry");
  code.raw(0x3d).word(0x1ff).jump("plain", "above"); // cmp eax, 511
  code.raw(0x89, 0xc1, 0x80, 0xb9).word(o.table).raw(0).jump("plain", "equal"); // mov ecx, eax; cmp byte [rcx + table], 0
  code.load32(REG.r11, LANE.head).subtract32(REG.r11, LANE.tail);
  code
    .raw(0x41, 0x81, 0xfb)
    .word(RECORDS - MARGIN)
    .jump("full", "not-below"); // cmp r11d, …
  reserve(code, REG.r11);
  code.store32At(REG.rax, record(RECORD.subject)).put16At(record(RECORD.site), o.site);
  [REG.rdi, REG.rsi, REG.rdx, REG.r10, REG.r8, REG.r9].forEach((register, i) => {
    code.store64At(register, value(i));
  });
  stampTime(code).load16At(REG.rax, record(RECORD.subject)).load64At(REG.rdx, value(2));
  code.store32At(REG.r11, record(RECORD.commit));
  code.raw(0x0f, 0x05);
  reserve(code, REG.r11);
  code.store64At(REG.rax, value(0)).store64At(REG.rdx, value(1));
  stampTime(code).load64At(REG.rax, value(0)).load64At(REG.rdx, value(1));
  code.put32At(record(RECORD.subject), ((RETURN_BIT | o.site) << 16) >>> 0);
  code.store32At(REG.r11, record(RECORD.commit));
  code.label("on").copy(o.behind).jumpFar(o.back);
  code.label("plain").jumpFar(o.plain);
  code.label("full");
  if (o.whenFull === "wait") code.raw(0xcc);
  code.increment(LANE.lost).raw(0x0f, 0x05).jump("on");
  return {
    code: code.finish(),
    retry: code.offset("retry"),
    ...(o.whenFull === "wait" && { full: code.offset("full") }),
  };
}

/**
 * Counts a function's calls at its beginning and, with `records`, records them. Keeps registers, but not
 * flags: the ABI does not preserve flags across a call. `displaced` must be relocated to the address after
 * this code.
 */
export function functionStub(o: {
  readonly id: number;
  readonly records: boolean;
  readonly whenFull: WhenFull;
}): RingStub {
  if (o.id >= MAX_FUNCTIONS) throw new RangeError("too many functions");
  const code = new Assembler();
  code.increment(LANE.counts + 8 * o.id);
  if (!o.records) return { code: code.finish(), retry: 0 };
  code.label("retry").raw(0x50, 0x51, 0x52, 0x53); // push rax, rcx, rdx, rbx
  code.load32(REG.rax, LANE.head).subtract32(REG.rax, LANE.tail);
  code
    .raw(0x3d)
    .word(RECORDS - MARGIN)
    .jump("full", "not-below"); // cmp eax, …
  reserve(code, REG.rax).raw(0x89, 0xc3); // mov ebx, eax
  code.store64At(REG.rdi, value(0)).store64At(REG.rsi, value(1)).store64At(REG.rdx, value(2));
  code.raw(0x48, 0x8b, 0x44, 0x24, 0x10).store64At(REG.rax, value(3)); // mov rax, [rsp + 16]: rcx
  code.store64At(REG.r8, value(4));
  code.raw(0x48, 0x8b, 0x44, 0x24, 0x20).store64At(REG.rax, value(5)); // mov rax, [rsp + 32]: the return address
  stampTime(code).put32At(record(RECORD.subject), ((FUNCTION_SITE << 16) | o.id) >>> 0);
  code.store32At(REG.rbx, record(RECORD.commit));
  code.label("on").raw(0x5b, 0x5a, 0x59, 0x58).jump("end");
  code.label("full");
  if (o.whenFull === "drop") return finishDropping(code);
  // With the original registers, so that the function can start again.
  code.raw(0x5b, 0x5a, 0x59, 0x58).label("stop").raw(0xcc).increment(LANE.lost).label("end");
  return { code: code.finish(), retry: code.offset("retry"), full: code.offset("stop") };
}

function finishDropping(code: Assembler): RingStub {
  code.increment(LANE.lost).jump("on").label("end");
  return { code: code.finish(), retry: code.offset("retry") };
}
