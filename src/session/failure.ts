import { type ErrorCode, HermesError } from "../errors.js";
import type { Report } from "./options.js";

/** The error that was reported. */
export function failure(report: Extract<Report, { type: "failed" }>): HermesError {
  const error = new HermesError(report.code as ErrorCode);
  error.message = report.message;
  return error;
}
