import { resolve } from "node:path";
import { attachedOptions } from "../attach.js";
import { native } from "../kernel/native.js";
import { LIVE } from "../run.js";
import { Session } from "../session/session.js";
import type { Thread } from "../session/thread.js";
import { TerminalApprover } from "./ask.js";
import { answerLook } from "./look.js";
import { exit, say } from "./output.js";
import { type AskFlags, askOptions, type TraceFlags, traceOptions } from "./run.js";
import { hearAttachedSignals, takeSignals } from "./signals.js";
import { Standstill } from "./standstill.js";
import { takeStartState } from "./start-state.js";
import { renderSummary } from "./summary.js";
import { callList, choice, usage } from "./values.js";

export interface AttachFlags extends TraceFlags, AskFlags {
  policy?: string[];
  door: string;
  filter?: boolean;
  fence?: string;
  reload: boolean;
  live?: string | true;
  quiet?: boolean;
  json?: boolean;
}

/** Watches over a process that runs already, until it ends or somebody says that it is enough. */
export async function attachCommand(word: string, flags: AttachFlags, thread?: Thread): Promise<never> {
  const start = takeStartState();
  const options = await sessionOptions(word, flags);
  const { pid } = options.attach!;
  native().hide();
  const about = {
    supervisor: process.pid,
    launcher: 0,
    pid,
    attached: true as const,
    command: options.command,
    started: Date.now() / 1000,
  };
  hearAttachedSignals(takeSignals(start.ignoredSignals), {
    pid,
    leave: () => session.end(),
    onHangup: flags.reload && options.policies.length > 0 ? () => session.reload() : undefined,
    onLook: async (asker) => {
      const status = await session.status();
      answerLook(asker, { hermes: "status", version: 1, ...about, ...status, time: Date.now() / 1000 });
    },
  });
  const approver =
    options.ask && new TerminalApprover(options.ask.approvals, () => session.reload(), new Standstill(pid));
  let announced = false;
  const session = await Session.start(
    options,
    {
      problem: (text) => say(`hermes: ${text}\n`),
      ...(approver && {
        question: (question, answer) => approver.ask(question, answer),
        withdrawn: (id, why) => approver.withdraw(id, why),
      }),
      started: () => {
        if (!flags.quiet && !flags.json) say(`hermes: attached to ${pid}; Ctrl-C leaves it\n`);
      },
      policies: (policies) => {
        if (announced && !flags.quiet)
          say(`hermes: in force now: ${policies.map((p) => `${p.name} ${p.version}`).join(", ")}\n`);
        announced = true;
      },
    },
    [],
    thread,
  );
  const result = await session.result;
  if (flags.json) say(`${JSON.stringify(result)}\n`);
  else if (!flags.quiet) say(renderSummary(result));
  exit(result.exitCode);
}

async function sessionOptions(word: string, flags: AttachFlags) {
  if (!/^[1-9]\d{0,9}$/.test(word)) throw usage(`a process is named by its number, not "${word}"`);
  if (flags.fence !== undefined)
    throw usage(
      "--fence: a program that runs already cannot be put behind a fence; start it with hermes run",
    );
  const approvals = flags.approvals === undefined ? {} : { approvals: resolve(flags.approvals) };
  return attachedOptions({
    pid: Number(word),
    policy: (flags.policy ?? []).map((file) => resolve(file)),
    door: choice("--door", flags.door, ["auto", "notify", "trace"]),
    filter: flags.filter === true,
    reload: flags.reload,
    ...askOptions({ ...flags, ...approvals }),
    ...(flags.live !== undefined && {
      live: await callList("--live", flags.live === true ? LIVE.join(",") : flags.live),
    }),
    ...(flags.trace !== undefined && { trace: await traceOptions(resolve(flags.trace), flags) }),
  });
}
