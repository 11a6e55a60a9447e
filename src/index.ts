/** The public surface of hermes-runtime. Small on purpose; docs/api.md shows it in use. */

export { type Address, formatAddress, parseAddress } from "./address.js";
export type { Answer, Question } from "./approval/question.js";
export { type AttachOptions, attach, startAttached } from "./attach.js";
export { HermesError } from "./errors.js";
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
} from "./event.js";
export { definePolicy, type PolicySpec } from "./policy/define.js";
export { defineFaults, type FaultRule, occurrences, type When } from "./policy/faults.js";
export type { Policy } from "./policy/policy.js";
export { type CoarseTime, coarseTime } from "./policy/time/coarse-time.js";
export { type VirtualTime, virtualTime } from "./policy/time/virtual-time.js";
export { type RunOptions, run, start } from "./run.js";
export type { SessionResult } from "./session/options.js";
export type { Session, SessionEvents } from "./session/session.js";
export { utsname } from "./structs.js";
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
} from "./verdict.js";
