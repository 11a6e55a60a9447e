import { redact } from "../../intent/guard/credentials/secrets.js";
import { addRunRecord, type RunRecord } from "../../record/audit/run-log.js";

/** Without secrets: a file of its own, because most runs do not load it. */
export function writeRunRecord(record: RunRecord): void {
  addRunRecord(
    JSON.parse(JSON.stringify(record), (_, value) =>
      typeof value === "string" ? redact(value).text : value,
    ),
  );
}
