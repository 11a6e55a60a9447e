export { type FilterAction, RET, returnValue } from "./action.js";
export { checkProgram } from "./check.js";
export { compileFilter } from "./compile.js";
export { disassemble } from "./disassemble.js";
export { FilterTooLarge, InvalidFilterSpec, InvalidProgram } from "./errors.js";
export { BPF_OP, encodeFilter, type Instruction, MAX_INSTRUCTIONS } from "./instruction.js";
export { executedInstructions, interpretFilter, loadFilter } from "./interpret.js";
export { AUDIT_ARCH_I386, AUDIT_ARCH_X86_64, type SeccompData, X32_SYSCALL_BIT } from "./seccomp-data.js";
export type { ArgumentTest, CallTreatment, CodeGate, FilterRule, FilterSpec } from "./spec.js";
