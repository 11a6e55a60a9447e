import type { Reading } from "./reading.js";
import { HOLE, type Invocation } from "./script.js";

/** How a script was understood: one line per invocation, with what it was wrapped in. */
export function explainReading({ invocations, code, errors }: Reading): string[] {
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

/** What cannot be known is shown as an ellipsis. */
const shown = (text: string) => text.replaceAll("\\u0000", "…").replaceAll(HOLE, "…");
