import { resolve } from "node:path";
import { native } from "../../kernel/binding/native.js";
import { attachedOptions } from "../../session/attach-run.js";
import { LIVE_ALL } from "../../session/run.js";
import { Session } from "../../session/session.js";
import type { Thread } from "../../session/thread.js";
import { allowanceOption } from "../options/allowances.js";
import { callList, choice, usageError, workspaceOption } from "../options/values.js";
import { Asker } from "../run/asker.js";
import { reportRefusal, tellLeftOut } from "../run/controlled-run.js";
import { hearAttachedSignals, takeSignals } from "../run/signals.js";
import { takeStartState } from "../run/start-state.js";
import { replyStatus } from "../run/status-signal.js";
import { exit, say } from "../views/output.js";
import { LOGS } from "../views/refusal.js";
import { renderSummary } from "../views/summary.js";
import { type AskFlags, askOptions, askPlan, type RecordFlags, traceOptions } from "./run.js";

interface AttachFlags extends RecordFlags, AskFlags {
  policy?: string[];
  workspace?: string;
  door: string;
  filter?: boolean;
  fence?: string;
  reload: boolean;
  live?: string | true;
  log?: string;
  quiet?: boolean;
  json?: boolean;
}

/** Watches over a process that runs already, until it ends or a signal says that it is enough. */
export async function attachCommand(word: string, flags: AttachFlags, thread?: Thread): Promise<never> {
  const start = takeStartState();
  const log = flags.log === undefined ? undefined : choice("--log", flags.log, LOGS);
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
      replyStatus(asker, { hermes: "status", version: 1, ...about, ...status, time: Date.now() / 1000 });
    },
  });
  const plan = askPlan(flags, { agent: "hermes attach", attached: pid });
  const asker = plan && new Asker(plan);
  let announced = false;
  const session = await Session.start(
    options,
    {
      problem: (text) => say(`hermes: ${text}\n`),
      refused: (refusal) => reportRefusal(log, refusal),
      ...(asker && {
        question: (question, answer) => asker.question(question, answer),
        withdrawn: (id, why) => asker.withdrawn(id, why),
      }),
      started: () => {
        if (!flags.quiet && !flags.json) say(`hermes: attached to ${pid}; Ctrl-C leaves it\n`);
      },
      policies: (policies) => {
        if (announced && !flags.quiet)
          say(`hermes: policies reloaded: ${policies.map((p) => `${p.name} ${p.version}`).join(", ")}\n`);
        announced = true;
      },
    },
    [],
    thread,
  );
  const result = await session.result.finally(() => asker?.close());
  tellLeftOut(log, result);
  if (flags.json) say(`${JSON.stringify(result)}\n`);
  else if (!flags.quiet) say(renderSummary(result));
  exit(result.exitCode);
}

async function sessionOptions(word: string, flags: AttachFlags) {
  if (!/^[1-9]\d{0,9}$/.test(word)) throw usageError(`attach takes a process id, not "${word}"`);
  if (flags.fence !== undefined)
    throw usageError("--fence: a running program cannot be put behind a fence; start it with hermes run");
  const approvals = flags.approvals === undefined ? {} : { approvals: resolve(flags.approvals) };
  return attachedOptions({
    pid: Number(word),
    policy: (flags.policy ?? []).map((file) => resolve(file)),
    door: choice("--door", flags.door, ["auto", "notify", "trace"]),
    filter: flags.filter === true,
    reload: flags.reload,
    ...workspaceOption(flags.workspace),
    ...(await allowanceOption({ policies: flags.policy, workspace: flags.workspace })),
    ...(flags.log !== undefined && { logRefusals: true }),
    ...askOptions({ ...flags, ...approvals }),
    ...(flags.live !== undefined && {
      live: await callList("--live", flags.live === true ? LIVE_ALL.join(",") : flags.live),
    }),
    ...(flags.trace !== undefined && { trace: await traceOptions(resolve(flags.trace), flags) }),
  });
}
