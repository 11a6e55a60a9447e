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

/** What the shell does itself. It starts no program, so the runtime check never hears of it, except of the files it opens. */
const IN_THE_SHELL = new Set(
  "echo printf print export declare typeset local readonly set unset read test [ [[ true false : cd pushd popd alias unalias shift return exit break continue let wait jobs trap umask ulimit type hash pwd dirs mapfile readarray getopts shopt bind complete compgen eval source . exec builtin command kill history".split(
    " ",
  ),
);

/** What the runtime check will see of the command, should the guard have misread it. */
export function laterChecks({ invocations }: CommandReading): string[] {
  const certain = invocations.filter(({ suspected, program }) => !suspected && program !== "");
  const names = (inShell: boolean) => [
    ...new Set(
      certain.map(({ program }) => program).filter((program) => IN_THE_SHELL.has(program) === inShell),
    ),
  ];
  const [started, own] = [names(false), names(true)];
  const lines: string[] = [];
  if (started.length > 0)
    lines.push(
      `at run time: ${listed(started)} judged again at exec; files, connections and signals when they are used`,
    );
  if (own.length > 0)
    lines.push(`no later check: ${listed(own)} (the shell itself), except for the files that it opens`);
  return lines.map(shown);
}

const NAMED = 6;
const listed = (names: readonly string[]) =>
  names.length > NAMED ? `${names.slice(0, NAMED).join(", ")} …` : names.join(", ");

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
