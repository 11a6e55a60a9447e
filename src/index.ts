/** The public surface of hermes-runtime. Small on purpose; docs/reference/api.md shows it in use. */

export { type Address, formatAddress, parseAddress } from "./nouns/address.js";
export { HermesError } from "./nouns/errors.js";
export type {
  CallEvent,
  CallStack,
  CodePlace,
  CpuidResult,
  Descriptor,
  Frame,
  FunctionEvent,
  FunctionReturnEvent,
  InstructionEvent,
  MemoryMap,
  PathArgument,
  ProcessInfo,
  ProgramMemory,
  Registers,
  ReturnEvent,
} from "./nouns/event.js";
export { utsname } from "./nouns/structs.js";
export {
  allow,
  ask,
  delay,
  deny,
  emulate,
  fault,
  kill,
  modify,
  redirect,
  type Verdict,
  virtualFile,
} from "./nouns/verdict.js";
export type { Answer, Reply } from "./people/approval/answer.js";
export type { Question } from "./people/approval/question.js";
export { definePolicy, type PolicySpec } from "./policy/define.js";
export { defineFaults, type FaultRule, occurrences, type When } from "./policy/faults.js";
export type { Policy } from "./policy/policy.js";
export { type CoarseTime, coarseTime } from "./policy/time/coarse-time.js";
export { type VirtualTime, virtualTime } from "./policy/time/virtual-time.js";
export { type AttachOptions, attach, startAttached } from "./session/attach-run.js";
export type { SessionResult } from "./session/options.js";
export { type RunOptions, run, start } from "./session/run.js";
export type { Session, SessionEvents } from "./session/session.js";
