import type { CompoundList, Statement } from "unbash";

/** What makes an endless loop wait or end. */
const PAUSES = /\b(sleep|break|read|wait|exit|return|inotifywait|tail|watch|nc|select|usleep)\b/;

const isNothing = ({ command }: Statement) =>
  command.type === "Command" && /^(:|true)$/.test(command.name?.value ?? "");

export const isAlwaysTrue = ({ commands }: CompoundList): boolean => commands.every(isNothing);

/** A body that does nothing, that leaves something behind each time, or that never pauses. */
export function isRunaway({ commands, pos, end }: CompoundList, source: string): boolean {
  const left = commands.some(({ background }) => background);
  return left || commands.every(isNothing) || !PAUSES.test(source.slice(pos, end));
}
