import { ERRNOS } from "./errnos.generated.js";

let byName: Map<string, number> | undefined;
let byNumber: Map<number, readonly [name: string, text: string]> | undefined;

/** "ENOENT" for 2 and for -2, as the kernel returns it; undefined when the number has no name. */
export function errnoName(number: number): string | undefined {
  return numbers().get(Math.abs(number))?.[0];
}

/** "No such file or directory" for 2. */
export function errnoText(number: number): string | undefined {
  return numbers().get(Math.abs(number))?.[1];
}

/** 2 for "ENOENT", "enoent" and "2". */
export function errnoNumber(name: string): number | undefined {
  byName ??= new Map(ERRNOS.map(([number, errno]) => [errno, number]));
  if (/^\d+$/.test(name)) return numbers().has(Number(name)) ? Number(name) : undefined;
  return byName.get(name.toUpperCase());
}

/** Every name, aliases too: for messages that suggest one. */
export function errnoNames(): string[] {
  return ERRNOS.map(([, name]) => name);
}

function numbers() {
  byNumber ??= new Map(
    ERRNOS.filter(([, , , alias]) => !alias).map(([number, name, text]) => [number, [name, text]]),
  );
  return byNumber;
}
