import { resolve } from "node:path";
import { SYSCALLS, type Syscall, signalName } from "../abi/index.js";
import { type Arrangement, arrange, unserved } from "../doors/arrangement.js";
import { HermesError } from "../errors.js";
import { DOOR } from "../kernel/layout.js";
import { callsNamed } from "../policy/define.js";
import { loadPolicies } from "../policy/load.js";
import type { ConstantRule, Policy } from "../policy/policy.js";
import { PolicyStack } from "../policy/stack.js";
import { ProcessTable } from "../process/table.js";
import { Summary } from "../summary.js";
import { openTrace } from "../trace/open.js";
import type { TraceResult } from "../trace/options.js";
import type { Recorder } from "../trace/recorder.js";
import { Handler, waitStatus } from "./handler.js";
import type { PolicyName, Protections, SessionOptions, SessionResult } from "./options.js";
import { VirtualFiles } from "./virtual-files.js";

/** How many different troubles are told. */
const MAX_PROBLEMS = 50;

export interface MediationHost {
  problem(text: string): void;
  /** The run must end: its trace cannot be written any more. */
  stop(): void;
}

/** The deciding half of a session: its policies, its records, its counts. It lives where the policies live. */
export class Mediation {
  readonly arrangement: Arrangement;
  readonly handler: Handler;
  readonly #options: SessionOptions;
  #policies: readonly Policy[];
  #reloads = 0;
  readonly #host: MediationHost;
  readonly #summary = new Summary();
  readonly #recorder: Recorder | undefined;
  readonly #problems: string[] = [];
  readonly #filtered: readonly ConstantRule[];
  #traceError: HermesError | undefined;

  constructor(
    options: SessionOptions,
    policies: readonly Policy[],
    memory: ArrayBufferLike,
    host: MediationHost,
  ) {
    this.#options = options;
    this.#policies = policies;
    this.#host = host;
    const stack = new PolicyStack(policies, (error) => this.#problem(error.message));
    this.#filtered = stack.constantsInFilter;
    const live = (options.live ?? []).flatMap((key) => callsNamed("--live", key));
    const recorded = recordedCalls(options);
    this.arrangement = arrange({ stack, recorded, door: options.door, live });
    const processes = new ProcessTable((this.arrangement.doors & (1 << DOOR.trace)) !== 0);
    this.#recorder = this.#openTrace(processes, recorded);
    this.#checkRequired(policies);
    this.handler = new Handler({
      memory,
      stack,
      processes,
      summary: this.#summary,
      virtualFiles: new VirtualFiles(),
      ...(this.#recorder && { recorder: this.#recorder }),
      onProblem: (text) => this.#problem(text),
    });
  }

  /** A protection that is not there is not silently done without. */
  #checkRequired(policies: readonly Policy[]): void {
    const { door, fence } = this.#options;
    const missing: Record<string, string | undefined> = {
      notify: door === "trace" ? "the run was told to use the trace door" : undefined,
      trace: door === "notify" ? "the run was told to use the notify door" : undefined,
      no_new_privs: wantsNoNewPrivs(this.#options) ? undefined : "the run was told to have no fence",
      fence: fence === "none" ? "the run was told to have no fence" : undefined,
    };
    for (const { name, requires = [] } of policies)
      for (const what of requires) {
        const why = what in missing ? missing[what] : "this version does not know it";
        if (why !== undefined)
          throw new HermesError("UNAVAILABLE", { what: `${what} (policy ${name} requires it)`, why });
      }
  }

  #openTrace(processes: ProcessTable, observed: readonly Syscall[]): Recorder | undefined {
    const { trace, command, cwd, env } = this.#options;
    if (!trace) return undefined;
    return openTrace(trace, {
      command,
      cwd,
      home: env.HOME,
      policies: this.#policies.map(({ name, version }) => ({ name, version })),
      processes,
      observed: new Set(observed.map((call) => call.nr)),
      onError: (error) => this.#traceFailed(error),
    });
  }

  #traceFailed(error: HermesError): void {
    this.#traceError = error;
    if (this.#options.trace?.onError === "continue")
      this.#problem(`${error.message}; the run goes on, and its end says what was not recorded`);
    else this.#host.stop();
  }

  get policies(): readonly PolicyName[] {
    return this.#policies.map(({ name, version, file }) => ({
      name,
      version,
      ...(file !== undefined && { file }),
    }));
  }

  /** Every file that the policies were made of, and those they were asked for by. */
  get files(): readonly string[] {
    const named = this.#options.policies.map((path) => resolve(path));
    return [...new Set([...named, ...this.#policies.flatMap((policy) => policy.files ?? [])])];
  }

  /**
   * Loads the policy files anew and puts all policies in force at once, between two events. When any of them is broken
   * or wants more than the filter in force can give, those in force stay, and why is told.
   */
  async reload(): Promise<boolean> {
    const inline = this.#policies.filter((policy) => policy.file === undefined);
    try {
      const loaded = await loadPolicies(this.#options.policies, {
        previous: this.#policies,
        cwd: this.#options.cwd,
      });
      const next = [...loaded, ...inline];
      if (next.every((policy, i) => policy.version === this.#policies[i]?.version)) return false;
      this.#replace(next);
      return true;
    } catch (error) {
      this.#host.problem(`${(error as Error).message}; the policies in force stay`);
      return false;
    }
  }

  #replace(policies: readonly Policy[]): void {
    this.#checkRequired(policies);
    const stack = new PolicyStack(policies, (error) => this.#problem(error.message), this.#filtered);
    const missing = unserved(this.arrangement, stack);
    if (missing.length > 0)
      throw new HermesError("UNAVAILABLE", {
        what: `to stop ${missing.slice(0, 8).join(", ")}${missing.length > 8 ? " …" : ""} (or to change what was only decided)`,
        why: "the filter of a running program can only be tightened; start the run with --live",
      });
    const kept = new Set(stack.constants.map((rule) => rule.id));
    const stuck = this.#filtered.filter((rule) => !kept.has(rule.id));
    if (stuck.length > 0)
      this.#host.problem(
        `rules decided in the kernel's filter stay in force for this run: ${stuck.map((r) => r.id).join(", ")}`,
      );
    this.#policies = policies;
    this.#reloads++;
    this.handler.replaceStack(stack);
    this.#recorder?.setVersion(policies);
    this.#recorder?.note({ kind: "policies", time: Date.now() / 1000, policies: this.policies });
  }

  #problem(text: string): void {
    if (this.#problems.length >= MAX_PROBLEMS || this.#problems.includes(text)) return;
    this.#problems.push(text);
    this.#host.problem(text);
  }

  /** Ends the records and says how it went. Throws when the run was stopped for want of a trace. */
  finish(pid: number, status: number): SessionResult {
    const { code, signal } = waitStatus(status);
    const exitCode = code ?? 128 + signal!;
    this.#recorder?.note({ kind: "end", time: Date.now() / 1000, exitCode });
    this.handler.close();
    if (this.#traceError && this.#options.trace?.onError === "stop") throw this.#traceError;
    return {
      exitCode,
      ...(signal !== undefined && { signal: signalName(signal) ?? String(signal) }),
      pid,
      summary: this.#summary.report(),
      protections: this.#protections(),
      policies: this.policies,
      reloads: this.#reloads,
      ...this.#traceResult(),
      problems: this.#problems,
    };
  }

  #traceResult(): { trace?: TraceResult } {
    const { trace } = this.#options;
    if (!trace || !this.#recorder) return {};
    const { records, lost } = this.#recorder.writer;
    const complete = lost.observations === 0 && lost.decisions === 0;
    return { trace: { file: trace.file, records, complete, lost } };
  }

  #protections(): Protections {
    const { doors, program, refusesIoUring } = this.arrangement;
    return {
      doors: (["notify", "trace"] as const).filter((name) => doors & (1 << DOOR[name])),
      filterInstructions: program.length,
      constantRules: this.#policies.reduce((sum, policy) => sum + policy.subscription.constants.length, 0),
      noNewPrivs: wantsNoNewPrivs(this.#options),
      ioUring: refusesIoUring ? "refused" : "allowed",
      fence: this.#options.fence,
    };
  }
}

/** Without the right to administer the machine, a filter needs it; with it, only the fence does. */
export function wantsNoNewPrivs(options: SessionOptions): boolean {
  return options.fence !== "none" || process.getuid?.() !== 0;
}

function recordedCalls({ trace }: SessionOptions) {
  if (!trace) return [];
  return trace.events ? trace.events.flatMap((key) => callsNamed("--events", key)) : SYSCALLS;
}
