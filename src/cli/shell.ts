import { writeSync } from "node:fs";
import { HOME } from "../home.js";
import { inheritedLimits } from "../kernel/launch.js";
import { native } from "../kernel/native.js";
import { sessionOptions } from "../run.js";
import { Session } from "../session/session.js";
import type { Thread } from "../session/thread.js";
import { openStreams } from "../tools/streams.js";
import { TerminalApprover } from "./ask.js";
import { type FenceFlags, fenceOf, timeoutOf } from "./fence.js";
import { exit, say } from "./output.js";
import { Standstill } from "./standstill.js";
import { takeStartState } from "./start-state.js";
import { renderSummary } from "./summary.js";
import { usage } from "./values.js";

export interface ShellFlags extends FenceFlags {
  readonly policy?: readonly string[];
  readonly approvals?: string;
  readonly askTimeout: string;
  readonly quiet?: boolean;
}

/**
 * An interactive bash on a terminal of its own, which we pass on to the real one. With bash on the real one, its jobs
 * would have the keyboard, and nobody could be asked anything.
 */
export async function shellCommand(flags: ShellFlags, thread: Thread | undefined): Promise<never> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY)
    throw usage("hermes shell needs a terminal; without one: hermes run -- bash");
  const start = takeStartState();
  native().hide();
  const { columns, rows } = stdout;
  /** What the shell wrote while somebody is asked: it is not to be seen in the question. */
  const kept: Buffer[] = [];
  const streams = openStreams(
    { terminal: { columns, rows } },
    (_, bytes) => void (asking.size > 0 ? kept.push(bytes) : show(bytes)),
  );
  stdout.on("resize", () => streams.resize(stdout.columns, stdout.rows));
  const asking = new Set<number>();
  /** While somebody is asked, keys are the answer's. */
  const keyboard = () => {
    stdin.setRawMode(asking.size === 0);
    if (asking.size === 0) for (const bytes of kept.splice(0)) show(bytes);
    if (asking.size === 0) stdin.resume();
    else stdin.pause();
  };
  const { policy = [], approvals, quiet } = flags;
  const patience = timeoutOf(flags.askTimeout, "--ask-timeout");
  const approver = new TerminalApprover(approvals, () => session.reload(), new Standstill());
  if (!quiet) say(greeting(policy));
  let announced = false;
  const session = await Session.start(
    sessionOptions({
      command: ["bash", "--rcfile", `${HOME}completions/shell.bashrc`, "-i"],
      stdio: streams.stdio,
      blockingStdio: streams.blocking,
      env: start.env,
      policy,
      fence: fenceOf(flags, []),
      limits: inheritedLimits(start.openFiles),
      reload: true,
      newSession: true,
      ask: { patience, ...(approvals !== undefined && { approvals }) },
    }),
    {
      started: () => {
        streams.handedOver();
        stdin.on("data", (bytes: Buffer) => streams.write(bytes));
        keyboard();
      },
      problem: (text) => say(`hermes: ${text}\n`),
      policies: (all) => {
        if (announced) say(`hermes: in force now: ${all.map((p) => `${p.name} ${p.version}`).join(", ")}\n`);
        announced = true;
      },
      question: (question, answer) => {
        asking.add(question.id);
        keyboard();
        approver.ask(question, (given) => {
          answer(given);
          asking.delete(question.id);
          keyboard();
        });
      },
      withdrawn: (id, why) => {
        approver.withdraw(id, why);
        asking.delete(id);
        keyboard();
      },
      mainExited: () => session.end(),
    },
    [],
    thread,
  );
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => session.end());
  const result = await session.result;
  streams.over();
  await streams.ended;
  stdin.setRawMode(false);
  if (!quiet) say(renderSummary(result));
  exit(result.exitCode);
}

function greeting(policy: readonly string[]): string {
  const under = policy.length > 0 ? `under ${policy.join(", ")}` : "without a policy (-p FILE)";
  return `hermes: bash ${under}; a policy that is saved is in force at once; exit ends it\n`;
}

function show(bytes: Buffer): void {
  for (let done = 0; done < bytes.length; )
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return; // nobody looks any more
    }
}
