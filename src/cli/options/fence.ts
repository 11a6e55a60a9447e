import { type FenceOptions, fenceOptions } from "../../kernel/fence/options.js";
import { LEVELS } from "../../nouns/protection.js";
import { parseDuration, parseSize } from "../../policy/match/quantity.js";
import { choice, usageError } from "./values.js";

/** The fence options of `hermes run`. */
export interface FenceFlags {
  readonly fence: string;
  readonly writable?: readonly string[];
  readonly readable?: readonly string[];
  readonly hide?: readonly string[];
  readonly connectPort?: readonly string[];
  readonly bindPort?: readonly string[];
  readonly network?: string;
  readonly memory?: string;
  readonly processes?: string;
  readonly cpus?: string;
  readonly require?: readonly string[];
  readonly cleanEnv?: boolean;
  readonly keepEnv?: readonly string[];
}

/** `set`: variables that the command line sets; they are always kept. */
export function fenceOf(flags: FenceFlags, set: readonly string[]): FenceOptions {
  const ports = (flag: string, list: readonly string[]) =>
    list.map((text) => quantity(flag, "a TCP port", text, wholeNumber, 0, 65_535));
  const { writable, readable, hide, connectPort, bindPort, network, memory, processes, cpus } = flags;
  const kept = [...words(flags.keepEnv), ...set];
  return fenceOptions({
    level: choice("--fence", flags.fence, LEVELS),
    ...(writable && { writable }),
    ...(readable && { readable }),
    ...(hide && { hidden: hide }),
    ...(connectPort && { connectPorts: ports("--connect-port", connectPort) }),
    ...(bindPort && { bindPorts: ports("--bind-port", bindPort) }),
    ...(network !== undefined && { network: choice("--network", network, ["own", "host"]) }),
    ...(memory !== undefined && {
      memory: quantity(
        "--memory",
        "a size such as 512M",
        memory,
        (t) => Number(parseSize(t) ?? Number.NaN),
        1,
      ),
    }),
    ...(processes !== undefined && {
      processes: quantity("--processes", "a whole number", processes, wholeNumber, 1),
    }),
    ...(cpus !== undefined && { cpus: quantity("--cpus", "a number such as 1.5", cpus, Number, 0.01) }),
    ...(flags.require && { requires: words(flags.require) }),
    ...(flags.cleanEnv && { cleanEnv: true }),
    ...(kept.length > 0 && { keepEnv: kept }),
  });
}

/** Milliseconds. */
export function timeoutOf(text: string, option = "--timeout"): number {
  const takes = "a duration such as 30s or 5m";
  return quantity(option, takes, text, (t) => (/^[\d.]+$/.test(t) ? Number(t) * 1000 : parseDuration(t)), 1);
}

function words(list: readonly string[] = []): string[] {
  return list.flatMap((text) => text.split(",")).filter((word) => word !== "");
}

function wholeNumber(text: string): number {
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

function quantity(
  flag: string,
  takes: string,
  text: string,
  parse: (text: string) => number,
  least: number,
  most = Number.MAX_SAFE_INTEGER,
): number {
  let value = Number.NaN;
  try {
    value = text === "" ? Number.NaN : parse(text);
  } catch {
    // Reported below, with the option's name.
  }
  if (value >= least && value <= most) return value;
  throw usageError(`${flag} takes ${takes}, not "${text}"`);
}
