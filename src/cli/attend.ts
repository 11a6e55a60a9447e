import { native } from "../kernel/native.js";
import type { SessionResult } from "../session/options.js";
import { Session } from "../session/session.js";
import type { Supervising } from "../session/thread.js";
import { TerminalApprover } from "./ask.js";
import { type Attended, tellProblem } from "./attended.js";
import { answerLook } from "./look.js";
import { say } from "./output.js";
import { SignalRelay } from "./signals.js";
import { Standstill } from "./standstill.js";

const ORPHAN_NOTE_MS = 2000;

/** All that a run needs besides supervision: signals passed on, questions asked, files watched, time kept, problems told. */
export async function attend(run: Attended, thread?: Supervising): Promise<SessionResult> {
  const { options } = run;
  const about = {
    supervisor: process.pid,
    launcher: 0,
    pid: 0,
    command: options.command,
    started: run.started / 1000,
  };
  const onLook = async (asker: number) => {
    const status = await session.status();
    answerLook(asker, { hermes: "status", version: 1, ...about, ...status, time: Date.now() / 1000 });
  };
  const relay = new SignalRelay(run.signals, onLook, run.reloads ? () => session.reload() : undefined, () =>
    approver?.interrupt(),
  );
  let announced = false;
  const approver =
    options.ask && new TerminalApprover(options.ask.approvals, () => session.reload(), new Standstill());
  const session = await Session.start(
    options,
    {
      problem: tellProblem,
      ...(approver && {
        question: (question, answer) => approver.ask(question, answer),
        withdrawn: (id, why) => approver.withdraw(id, why),
      }),
      started: (pid, launcher) => {
        Object.assign(about, { pid, launcher });
        native().releaseStdio();
        relay.started(launcher);
      },
      policies: (policies) => {
        if (announced && !run.quiet)
          say(`hermes: in force now: ${policies.map((p) => `${p.name} ${p.version}`).join(", ")}\n`);
        announced = true;
      },
      mainExited: () => {
        // There is nobody left to pass a signal to: whoever sends one wants the rest to end.
        relay.ended(() => session.end());
        if (run.killOrphans) session.end();
        else setTimeout(() => noteOrphans(run), ORPHAN_NOTE_MS).unref();
      },
    },
    [],
    thread,
  );
  return session.result;
}

function noteOrphans({ quiet, json }: Attended): void {
  if (!quiet && !json)
    say(
      "hermes: the program has ended, but processes that it started still run; they stay supervised (Ctrl-C ends them)\n",
    );
}
