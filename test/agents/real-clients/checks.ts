import type { Check } from "./checks/check.js";
import { COMMAND_CHECKS } from "./checks/commands.js";
import { DOCTOR_CHECKS } from "./checks/doctor.js";
import { FAILURE_CHECKS } from "./checks/failures.js";
import { GUARD_CHECKS } from "./checks/guard.js";
import { INSTALL_CHECKS } from "./checks/install.js";
import { TOOL_CHECKS } from "./checks/tools.js";
import { WHOLE_CHECKS } from "./checks/whole.js";

export const CHECKS: readonly Check[] = [
  ...COMMAND_CHECKS,
  ...TOOL_CHECKS,
  ...GUARD_CHECKS,
  ...FAILURE_CHECKS,
  ...DOCTOR_CHECKS,
  ...INSTALL_CHECKS,
  ...WHOLE_CHECKS,
];
