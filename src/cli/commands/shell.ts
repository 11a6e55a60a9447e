import { writeSync } from "node:fs";
import { openStreams } from "../../agents/tools/streams.js";
import { inheritedLimits } from "../../kernel/binding/launch.js";
import { native } from "../../kernel/binding/native.js";
import { HOME } from "../../nouns/home.js";
import { sessionOptions } from "../../session/run.js";
import { Session } from "../../session/session.js";
import type { Thread } from "../../session/thread.js";
import { allowanceOption } from "../options/allowances.js";
import { type FenceFlags, fenceOf } from "../options/fence.js";
import { usageError, workspaceOption } from "../options/values.js";
import { Asker } from "../run/asker.js";
import { takeStartState } from "../run/start-state.js";
import { exit, say } from "../views/output.js";
import { renderSummary } from "../views/summary.js";
import { type AskFlags, askOptions, askPlan } from "./run.js";

interface ShellFlags extends FenceFlags, Omit<AskFlags, "ask"> {
  readonly policy?: readonly string[];
  readonly workspace?: string;
  readonly quiet?: boolean;
}

/**
 * An interactive bash on a terminal of its own, which we pass on to the real one. With bash on the real one, its jobs
 * would have the keyboard, and its user could not be asked anything.
 */
export async function shellCommand(flags: ShellFlags, thread: Thread | undefined): Promise<never> {
  const { stdin, stdout } = process;
  if (!stdin.isTTY || !stdout.isTTY)
    throw usageError("hermes shell needs a terminal; without one: hermes run -- bash");
  const start = takeStartState();
  native().hide();
  const { columns, rows } = stdout;
  /** Output of the shell while a question is shown: it must not appear in the question. */
  const kept: Buffer[] = [];
  const streams = openStreams(
    { terminal: { columns, rows } },
    (_, bytes) => void (asking.size > 0 ? kept.push(bytes) : show(bytes)),
  );
  stdout.on("resize", () => streams.resize(stdout.columns, stdout.rows));
  const asking = new Set<number>();
  /** While a question is shown, keys are the answer's. */
  const keyboard = () => {
    stdin.setRawMode(asking.size === 0);
    if (asking.size === 0) for (const bytes of kept.splice(0)) show(bytes);
    if (asking.size === 0) stdin.resume();
    else stdin.pause();
  };
  const { policy = [], quiet } = flags;
  const asker = new Asker(askPlan({ ...flags, ask: "terminal" }, { agent: "hermes shell" })!);
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
      ...workspaceOption(flags.workspace),
      ...(await allowanceOption({ policies: policy, workspace: flags.workspace })),
      limits: inheritedLimits(start.openFiles),
      reload: true,
      newSession: true,
      ...askOptions({ ...flags, ask: "terminal" }),
    }),
    {
      started: () => {
        streams.handedOver();
        stdin.on("data", (bytes: Buffer) => streams.write(bytes));
        keyboard();
      },
      problem: (text) => say(`hermes: ${text}\n`),
      policies: (all) => {
        if (announced)
          say(`hermes: policies reloaded: ${all.map((p) => `${p.name} ${p.version}`).join(", ")}\n`);
        announced = true;
      },
      question: (question, answer) => {
        asking.add(question.id);
        keyboard();
        asker.question(question, (given) => {
          answer(given);
          asking.delete(question.id);
          keyboard();
        });
      },
      withdrawn: (id, why) => {
        asker.withdrawn(id, why);
        asking.delete(id);
        keyboard();
      },
      mainExited: () => session.end(),
    },
    [],
    thread,
  );
  for (const signal of ["SIGTERM", "SIGHUP"] as const) process.on(signal, () => session.end());
  const result = await session.result.finally(() => asker.close());
  streams.over();
  await streams.ended;
  stdin.setRawMode(false);
  if (!quiet) say(renderSummary(result));
  exit(result.exitCode);
}

function greeting(policy: readonly string[]): string {
  const under = policy.length > 0 ? `under ${policy.join(", ")}` : "without a policy (-p FILE)";
  return `hermes: bash ${under}; a saved policy is reloaded at once; type exit to leave\n`;
}

function show(bytes: Buffer): void {
  for (let done = 0; done < bytes.length; )
    try {
      done += writeSync(1, bytes, done);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return; // the terminal is gone
    }
}
