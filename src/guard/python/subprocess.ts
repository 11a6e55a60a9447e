import type { Arguments } from "./calls.js";
import { elements, options, textOf, type Value } from "./value.js";

/** Whether a call goes through a shell. */
export function shellOf({ keywords, positional, open }: Arguments): "yes" | "no" | "unknown" {
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

/** The command lines that a call may start, as a shell would spell them; undefined for one that is not known. */
export function command(path: string, args: Arguments): readonly (string | undefined)[] {
  const given = args.keywords.get("args") ?? args.positional[0];
  if (path.includes("create_subprocess_exec")) return [spelled(args.positional, args.open)];
  if (given === undefined) return [args.open ? undefined : ""];
  return options(given).map((option) => {
    const program = textOf(option);
    if (program !== undefined) return shellOf(args) === "no" ? spelled([option], false) : program;
    const words = elements(option);
    return words && words.length > 0 ? spelled(words, false) : undefined;
  });
}

/** What is not known of an argument stays a variable, which the command layer takes as such. */
function spelled(words: readonly Value[], open: boolean): string | undefined {
  const [program, ...rest] = words.map(word);
  if (program === undefined) return undefined;
  const line = [program, ...rest.map((text) => text ?? '"$argument"'), ...(open ? ['"$argument"'] : [])];
  return line.join(" ");
}

function word(value: Value): string | undefined {
  if (value.t === "ref" && value.path === "sys.executable") return "python3";
  if (value.t === "number") return String(value.v);
  const text = textOf(value);
  if (text === undefined) return undefined;
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
