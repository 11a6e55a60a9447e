/** Mirror of native/protocol/layout.h: the layout of the memory that a session shares with C. */

export const KIND = {
  woken: 0,
  entry: 1,
  return: 2,
  fork: 3,
  exec: 4,
  born: 5,
  exit: 6,
  mainExit: 7,
  mainStop: 8,
  over: 9,
  signal: 10,
  instruction: 12,
  notExecuted: 13,
  execTraced: 14,
} as const;

/** On an exec event of the notify door (enum new_program_flag), and its slots. */
export const NEW_PROGRAM = { read: 1, cached: 2 } as const;
export const NEW_PROGRAM_SLOT = { file: 0, code: 1, words: 2 } as const;

export const DOOR = { none: 0, notify: 1, trace: 2 } as const;

export const ANSWER = { continue: 0, return: 1, kill: 2, hold: 3, onBehalf: 4 } as const;
export const ANSWER_FLAG = {
  /** The socket is not a TCP socket, and must stay so. */
  noStream: 128,
  wantReturn: 1,
  setResult: 2,
  asTracee: 4,
  otherRoot: 8,
  registers: 16,
  routed: 32,
  deliver: 64,
  verify: 256,
  cache: 512,
} as const;
export const WRITE = { memory: 0, pointer: 1, address: 2, how: 3, snapshot: 4 } as const;

export const ARGUMENTS = 6;
export const EVENT_FIELD = {
  kind: 0,
  door: 4,
  tid: 8,
  nr: 12,
  args: 16,
  ip: 64,
  sp: 72,
  result: 80,
  id: 88,
  time: 96,
  peer: 104,
  fetched: 108,
  slots: 112,
  broker: 208,
  registers: 216,
} as const;
/** Words of struct user_regs_struct. */
export const USER_REGISTERS = 27;
export const SLOT_SIZE = 16;

export const ANSWER_OFFSET = 512;
export const ANSWER_FIELD = {
  action: 0,
  flags: 4,
  result: 8,
  registers: 16,
  signal: 20,
  args: 24,
  writeCount: 72,
  writes: 80,
} as const;
export const WRITE_FIELD = { kind: 0, argument: 4, address: 8, offset: 16, length: 20 } as const;
export const WRITE_SIZE = 24;
export const MAX_WRITES = 16;

/** The words of struct user_regs_struct. */
export const REGISTER = {
  r15: 0,
  r14: 1,
  r13: 2,
  r12: 3,
  rbp: 4,
  rbx: 5,
  r11: 6,
  r10: 7,
  r9: 8,
  r8: 9,
  rax: 10,
  rcx: 11,
  rdx: 12,
  rsi: 13,
  rdi: 14,
  orig_rax: 15,
  rip: 16,
  cs: 17,
  eflags: 18,
  rsp: 19,
  ss: 20,
  fs_base: 21,
  gs_base: 22,
  ds: 23,
  es: 24,
  fs: 25,
  gs: 26,
} as const;

export const PINS_OFFSET = 2048;
export const PIN_SIZE = 288;
export const MAX_PINS = 2;
/**
 * Fields of a pin: its state, then an errno, the object that was found, the object's folder, and its name
 * there.
 */
export const PIN_DEVICE = 20;
export const PIN_NAME = 24;
export const PIN_FOUND = 1;
export const PIN_MISSING = 2;
export const PIN_FAILED = 3;

export const FETCH_OFFSET = 4096;
export const FETCH_SIZE = 256 * 1024;
export const REPLY_OFFSET = FETCH_OFFSET + FETCH_SIZE;
export const REPLY_SIZE = 512 * 1024;
export const BUFFER_SIZE = REPLY_OFFSET + REPLY_SIZE;

export const FETCH = { nothing: 0, string: 1, bytes: 2 } as const;
export const MAX_SYSCALL = 512;
export const FETCH_STEP_SIZE = 4;
export const FETCH_PLAN_SIZE = MAX_SYSCALL * ARGUMENTS * FETCH_STEP_SIZE;

/** The verdict cache (native/protocol/verdict-cache.h). */
export const VERDICT_CACHE = { classes: 64, states: 4096, bytes: 128, start: 1, missing: 256 } as const;
export const VERDICT_CACHE_CLASS_FIELD = {
  nr: 0,
  flagsAt: 4,
  flags: 8,
  dirfdAt: 12,
  pathAt: 16,
  nullAt: 20,
  resolve: 24,
  allows: 28,
  answered: 32,
} as const;
export const VERDICT_CACHE_CLASS_SIZE = 36;
const CACHE_CLASSES_OFFSET = 16;
const CACHE_NEXT_OFFSET = CACHE_CLASSES_OFFSET + VERDICT_CACHE.classes * VERDICT_CACHE_CLASS_SIZE;
const CACHE_ALLOWED_OFFSET = CACHE_NEXT_OFFSET + VERDICT_CACHE.states * VERDICT_CACHE.bytes * 2;
const CACHE_EXECS_OFFSET = CACHE_ALLOWED_OFFSET + VERDICT_CACHE.classes * VERDICT_CACHE.states;
export const VERDICT_CACHE_FIELD = {
  inForce: 0,
  classCount: 4,
  mayShareCpu: 8,
  generation: 12,
  classes: CACHE_CLASSES_OFFSET,
  next: CACHE_NEXT_OFFSET,
  allowed: CACHE_ALLOWED_OFFSET,
  undecidedExecs: CACHE_EXECS_OFFSET,
  missing: CACHE_EXECS_OFFSET + 8,
} as const;
/** The rest is used by C alone. */
export const VERDICT_CACHE_SIZE = VERDICT_CACHE_FIELD.missing + VERDICT_CACHE.missing * 4;
