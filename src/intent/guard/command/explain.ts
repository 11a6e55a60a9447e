import type { CommandReading } from "./reading.js";
import { HOLE, type Invocation } from "./script.js";

/** Explains how the guard read a script: one line per invocation, with its wrappers. */
export function explainReading({ invocations, code, errors }: CommandReading): string[] {
  return [
    ...invocations.map(explainInvocation),
    ...code.map(
      ({ language, via, text }) => `${[...via].join(" → ")} → ${language} code: ${shown(text.slice(0, 80))}`,
    ),
    ...errors.map(({ message }) => `cannot be parsed: ${message}`),
  ];
}

function explainInvocation({ argv, assignments, redirects, input, via, cwd }: Invocation): string {
  const words = [
    ...assignments.map(({ name, value }) => `${name}=${value.text}`),
    ...argv.map(({ text }) => (/^[\w@%+=:,./*?[\]~-]+$/.test(text) ? text : JSON.stringify(text))),
    ...redirects.map(({ operator, target }) => `${operator} ${target.text}`),
  ];
  const fed =
    input && input.from.length > 0
      ? `  (fed by ${input.from.map((one) => one.argv[0]?.text ?? "?").join(", ")})`
      : "";
  return shown(`${via.map((label) => `${label} → `).join("")}${words.join(" ")}${fed}  [in ${cwd}]`);
}

/** Unknown parts are shown as an ellipsis. */
const shown = (text: string) => text.replaceAll("\\u0000", "…").replaceAll(HOLE, "…");
