import { HOME } from "../home.js";

/** A word that a POSIX shell takes as it is. */
export function quoted(word: string): string {
  return `'${word.replaceAll("'", "'\\''")}'`;
}

/** This HERMES, as a word in a shell: bare if it can be, since Codex finds no rule behind a program's name in quotes. */
export const RUNNER = bare(`${HOME}hermes`);

function bare(word: string): string {
  return /^[\w@%+:,./-]+$/.test(word) ? word : quoted(word);
}

export interface Wrapping {
  readonly workspace: string;
  /** Seconds. */
  readonly timeout: number;
  /** The question that the agent's own user answers before this runs. */
  readonly asked?: string;
}

/**
 * The command that the agent runs in place of its own: judged once more, and held by the kernel. It starts where the agent's
 * shell is, which only that shell knows.
 *
 * Agents look for their user's own rules in what they are about to run, part by part. So the agent's own command stands
 * behind ours, where it is read and never reached: `exit` passes on the status of ours. All of it is plain words: Codex
 * finds no rule in a line with a `$` in it, and Claude Code asks about every `exec`.
 */
export function wrapped(command: string, { workspace, timeout, asked }: Wrapping): string {
  const words = [
    `${RUNNER} exec`,
    `--workspace ${quoted(workspace)}`,
    "--here",
    `--timeout ${timeout}`,
    "--ask queue",
    ...(asked === undefined ? [] : [`--asked ${asked}`]),
    "--",
    quoted(command),
  ];
  return `${words.join(" ")}\nexit\n${command}`;
}

const OURS =
  /^(?:[\w@%+:,./-]+|'(?:[^']|'\\'')*') exec --workspace '((?:[^']|'\\'')*)' --here --timeout (\d+) --ask queue (?:--asked (\w+) )?-- '((?:[^']|'\\'')*)'\nexit\n/;

/** The agent's own command in one that `wrapped` made; undefined for everything else. */
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
