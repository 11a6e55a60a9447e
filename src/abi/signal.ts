import { SIGNALS } from "./signals.generated.js";

/** Calls that signal another process, or have the kernel do so: fcntl by F_SETOWN, ioctl by TIOCSIG. */
export const SIGNALLING: ReadonlySet<string> = new Set([
  "kill",
  "tkill",
  "tgkill",
  "rt_sigqueueinfo",
  "rt_tgsigqueueinfo",
  "pidfd_send_signal",
  "pidfd_open",
  "fcntl",
  "ioctl",
]);

let byName: Map<string, number> | undefined;
let byNumber: Map<number, string> | undefined;

/** "SIGTERM" for 15; undefined outside 1..64. */
export function signalName(number: number): string | undefined {
  byNumber ??= new Map(SIGNALS.filter(([, , alias]) => !alias).map(([signal, name]) => [signal, name]));
  return byNumber.get(number);
}

/** 15 for "SIGTERM", "TERM", "sigterm" and "15"; "SIGRTMAX-1" counts down. */
export function signalNumber(name: string): number | undefined {
  byName ??= new Map(SIGNALS.map(([signal, text]) => [text, signal]));
  if (/^\d+$/.test(name)) return signalName(Number(name)) === undefined ? undefined : Number(name);
  const upper = name.toUpperCase();
  const full = upper.startsWith("SIG") ? upper : `SIG${upper}`;
  const fromTop = full.match(/^SIGRTMAX-(\d+)$/);
  if (fromTop) return Number(fromTop[1]) <= 30 ? 64 - Number(fromTop[1]) : undefined;
  return byName.get(full);
}
