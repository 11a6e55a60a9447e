export { describeReturn, type FilterAction, RET, returnValue } from "./action.js";
export { checkProgram } from "./check.js";
export { compileFilter } from "./compile.js";
export { disassemble, type NameOfCall } from "./disassemble.js";
export { FilterTooLarge, InvalidFilterSpec, InvalidProgram } from "./errors.js";
export { encodeFilter, type Instruction, MAX_INSTRUCTIONS, OP } from "./instruction.js";
export { executedInstructions, interpretFilter, loadFilter, type Outcome } from "./interpret.js";
export { AUDIT_ARCH_I386, AUDIT_ARCH_X86_64, type SeccompData, X32_SYSCALL_BIT } from "./seccomp-data.js";
export type { ArgumentTest, CallTreatment, FilterRule, FilterSpec, Gate } from "./spec.js";
