import type { PyArguments } from "./calls.js";
import { elements, knownText, options, type PyValue } from "./value.js";

/** Whether a call uses a shell. */
export function shellOf({ keywords, positional, open }: PyArguments): "yes" | "no" | "unknown" {
  const shell = keywords.get("shell") ?? positional[8];
  if (shell === undefined) return open ? "unknown" : "no";
  const known = options(shell).map((value) =>
    value.t === "number"
      ? value.v !== 0
        ? "yes"
        : "no"
      : value.t === "none"
        ? "no"
        : value.t === "text"
          ? value.v === ""
            ? "no"
            : "yes"
          : "unknown",
  );
  return known.includes("yes") ? "yes" : known.includes("unknown") ? "unknown" : "no";
}

/** The command lines that a call may start, in shell syntax; undefined for an unknown one. */
export function commandLines(path: string, args: PyArguments): readonly (string | undefined)[] {
  const given = args.keywords.get("args") ?? args.positional[0];
  if (path.includes("create_subprocess_exec")) return [spelled(args.positional, args.open)];
  if (given === undefined) return [args.open ? undefined : ""];
  return options(given).map((option) => {
    const program = knownText(option);
    if (program !== undefined) return shellOf(args) === "no" ? spelled([option], false) : program;
    const words = elements(option);
    return words && words.length > 0 ? spelled(words, false) : undefined;
  });
}

/** An unknown argument becomes a variable, which the command layer treats as unknown. */
function spelled(words: readonly PyValue[], open: boolean): string | undefined {
  const [program, ...rest] = words.map(word);
  if (program === undefined) return undefined;
  const line = [program, ...rest.map((text) => text ?? '"$argument"'), ...(open ? ['"$argument"'] : [])];
  return line.join(" ");
}

function word(value: PyValue): string | undefined {
  if (value.t === "ref" && value.path === "sys.executable") return "python3";
  if (value.t === "number") return String(value.v);
  const text = knownText(value);
  if (text === undefined) return undefined;
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
