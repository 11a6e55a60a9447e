import { type ErrorCode, HermesError } from "../nouns/errors.js";
import type { WorkerReport } from "./options.js";

/** Rebuilds the reported error. */
export function failure(report: Extract<WorkerReport, { type: "failed" }>): HermesError {
  const error = new HermesError(report.code as ErrorCode);
  error.message = report.message;
  return report.deeds ? Object.assign(error, { deeds: report.deeds }) : error;
}
