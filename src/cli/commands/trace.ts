import { basename } from "node:path";
import { isatty } from "node:tty";
import { parseFilter } from "../../record/trace/filter.js";
import { TRACE_DEFAULTS, type TraceOptions } from "../../record/trace/options.js";
import type { StraceOptions } from "../../record/trace/strace-encoder.js";
import type { Thread } from "../../session/thread.js";
import { choice, functionList, usageError, wholeNumber } from "../options/values.js";
import { QUIET_RUN, runCommand, stackOption } from "./run.js";

interface TraceFlags {
  e?: string[];
  functions?: string[];
  prototypes?: string[];
  z?: boolean;
  Z?: boolean;
  y?: number;
  c?: boolean;
  C?: boolean;
  o?: string;
  t?: number;
  r?: boolean;
  T?: boolean;
  s: string;
  stack?: string | true;
  policy?: string[];
  workspace?: string;
  ask?: string;
  askTimeout?: string;
  json?: boolean;
  fast?: boolean;
  color: string;
}

const TIMES = [undefined, "seconds", "micros", "epoch"] as const;

/** `hermes trace`: a program's calls as they happen, in the format of strace. */
export async function traceCommand(words: string[], flags: TraceFlags, thread?: Thread): Promise<never> {
  const pid = flags.policy?.find((file) => /^\d+$/.test(basename(file)));
  if (pid !== undefined)
    throw usageError(
      `-p takes a policy here; for a running process: hermes attach ${basename(pid)} --trace FILE`,
    );
  const filter = parseFilter([
    ...(flags.e ?? []),
    ...(flags.z ? ["status=successful"] : []),
    ...(flags.Z ? ["status=failed"] : []),
  ]);
  const strings = wholeNumber("-s", flags.s);
  const trace: TraceOptions = {
    ...TRACE_DEFAULTS,
    file: flags.o ?? 2,
    // One more than is shown, to know whether the string was longer.
    bytes: strings + 1,
    onError: "continue",
    ...(filter.events ? { events: filter.events } : flags.functions && { events: [] }),
    ...(flags.functions && { functions: await functionList("-l", flags.functions) }),
    ...(await stackOption(flags.stack)),
    ...(!flags.json && { strace: straceOptions(flags, strings, filter.status) }),
  };
  const run = {
    ...QUIET_RUN,
    ...(flags.policy && { policy: flags.policy }),
    ...(flags.workspace !== undefined && { workspace: flags.workspace }),
    ...(flags.prototypes && { prototypes: flags.prototypes }),
    ...(flags.ask !== undefined && { ask: flags.ask }),
    ...(flags.askTimeout !== undefined && { askTimeout: flags.askTimeout }),
  };
  return runCommand(words, run, thread, { trace, agent: "hermes trace", ...(flags.fast && { fast: true }) });
}

function straceOptions(flags: TraceFlags, strings: number, status: StraceOptions["status"]): StraceOptions {
  const time = flags.r ? "relative" : TIMES[Math.min(flags.t ?? 0, TIMES.length - 1)];
  return {
    descriptors: (flags.y ?? 0) > 0,
    strings,
    elapsed: flags.T ?? false,
    pids: flags.o === undefined ? "terminal" : "file",
    colour: coloured(flags),
    ...(time && { time }),
    ...(status && { status }),
    ...((flags.c || flags.C) && { summary: flags.C ? "too" : "only" }),
  };
}

function coloured({ o, color }: TraceFlags): boolean {
  const when = choice("--color", color, ["auto", "always", "never"]);
  if (when !== "auto") return when === "always";
  return o === undefined && isatty(2) && !process.env.NO_COLOR && process.env.TERM !== "dumb";
}
