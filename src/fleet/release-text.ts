import { HermesError } from "../nouns/errors.js";
import { type Operation, sql } from "../record/store/sql.js";

/** The text of a released policy. */
export function* releaseText(serial: number): Operation<string> {
  const [row] =
    yield sql`SELECT p.text FROM release r JOIN policy p ON p.version = r.policy WHERE r.serial = ${serial}`;
  if (!row) throw new HermesError("FLEET", { message: `there is no policy with the number ${serial}` });
  return String(row.text);
}
