import { HermesError } from "../errors.js";
import { type Operation, sql } from "../store/sql.js";

/** The text of what was given out under a number. */
export function* textOf(serial: number): Operation<string> {
  const [row] =
    yield sql`SELECT p.text FROM release r JOIN policy p ON p.version = r.policy WHERE r.serial = ${serial}`;
  if (!row) throw new HermesError("FLEET", { message: `there is no policy ${serial}` });
  return String(row.text);
}
