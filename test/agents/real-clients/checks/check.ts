import type { Seat } from "../seat.js";

/** What a check found: it holds, it does not (and why), or the client has nothing that it is about. */
export type Outcome =
  | { readonly held: true; readonly note?: string }
  | { readonly held: false; readonly why: string }
  | "none";

export interface Check {
  /** The row of the table. */
  readonly name: string;
  /** About the whole agent under `hermes run`, without a hook. */
  readonly whole?: boolean;
  run(seat: Seat): Promise<Outcome>;
}

/** Every claim must hold; the first that does not is told, with what was seen. */
export function outcome(claims: Readonly<Record<string, boolean>>, seen: string, note?: string): Outcome {
  const broken = Object.entries(claims).find(([, held]) => !held);
  if (broken) return { held: false, why: `${broken[0]}: ${seen.slice(0, 1500)}` };
  return { held: true, ...(note !== undefined && { note }) };
}
