import { HOME } from "../../nouns/home.js";

/** A word that needs no quoting in a POSIX shell. */
export function shellQuoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/**
 * The path of this HERMES as a shell word. Unquoted where possible: Codex finds no permission rule for a quoted program
 * name.
 */
export const RUNNER = bare(`${HOME}hermes`);

function bare(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : shellQuoted(word);
}

interface Wrapping {
  readonly workspace: string;
  /** Seconds. */
  readonly timeout: number;
  /** The question that the agent's own user answers before this runs. */
  readonly asked?: string;
}

/**
 * The command that the agent runs instead of its own: `hermes exec` judges it again, and the supervisor enforces the
 * judgement. It starts in the current folder of the agent's shell, which only that shell knows.
 *
 * Agents match their user's permission rules against each part of the command line. So the agent's own command follows
 * ours: it is matched but never run, because `exit` passes on the status of ours. The line has plain words only: Codex
 * matches no rule in a line with a `$`, and Claude Code asks about every `exec`.
 */
export function wrapped(command: string, { workspace, timeout, asked }: Wrapping): string {
  const words = [
    `${RUNNER} exec`,
    `--workspace ${shellQuoted(workspace)}`,
    "--here",
    `--timeout ${timeout}`,
    "--ask queue",
    ...(asked === undefined ? [] : [`--asked ${asked}`]),
    "--",
    shellQuoted(command),
  ];
  return `${words.join(" ")}\nexit\n${command}`;
}

const OURS =
  /^(?:[\w@%+:,./-]+|'(?:[^']|'\\'')*') exec --workspace '((?:[^']|'\\'')*)' --here --timeout (\d+) --ask queue (?:--asked (\w+) )?-- '((?:[^']|'\\'')*)'\nexit\n/;

/** The agent's own command in a line that `wrapped` made; undefined for any other line. */
export function unwrapped(text: string): string | undefined {
  const match = OURS.exec(text);
  if (!match) return undefined;
  const [, workspace, timeout, asked, command] = match;
  const plain = (word: string) => word.replaceAll("'\\''", "'");
  const found = plain(command!);
  const again = wrapped(found, {
    workspace: plain(workspace!),
    timeout: Number(timeout),
    ...(asked !== undefined && { asked }),
  });
  return again === text ? found : undefined;
}
