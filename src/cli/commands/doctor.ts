import { type DoctorCheck, examine } from "../../session/doctor.js";
import { exit, paint, print } from "../views/output.js";

const MARK = { yes: "✓", no: "✗", partly: "~" } as const;
const COLOUR = { yes: "green", no: "red", partly: "yellow" } as const;

/** Checks which protections this machine supports. Exits 0 when programs can be mediated, else 1. */
export async function doctorCommand(options: { json?: boolean }): Promise<never> {
  const checks = await examine();
  print(options.json ? `${JSON.stringify({ checks }, null, 2)}\n` : render(checks));
  exit(checks.some((check) => check.required && check.state === "no") ? 1 : 0);
}

function render(checks: readonly DoctorCheck[]): string {
  const p = paint(1);
  const width = Math.max(...checks.map((check) => check.name.length));
  const lines = checks.map(
    ({ name, state, finding }) => `  ${p(COLOUR[state], MARK[state])} ${name.padEnd(width)}  ${finding}`,
  );
  const broken = checks.filter((check) => check.required && check.state === "no");
  const verdict =
    broken.length === 0
      ? p("green", "HERMES can mediate programs on this machine.")
      : p(
          "red",
          `HERMES cannot mediate programs on this machine, because these are missing: ${broken.map((check) => check.name).join(", ")}.`,
        );
  return `${lines.join("\n")}\n\n${verdict}\n`;
}
