import { native } from "../../kernel/binding/native.js";
import type { SessionResult } from "../../session/options.js";
import { Session } from "../../session/session.js";
import type { Supervising } from "../../session/thread.js";
import { say } from "../views/output.js";
import { Asker } from "./asker.js";
import { type ControlledRun, reportProblem, reportRefusal } from "./controlled-run.js";
import type { RunRecorder } from "./record-run.js";
import { SignalRelay } from "./signals.js";
import { replyStatus } from "./status-signal.js";

const ORPHAN_NOTE_MS = 2000;
const RECORD_MS = 60_000;

/**
 * Everything that a run needs besides supervision: relays signals, asks questions, watches files, enforces the timeout,
 * reports problems.
 */
export async function controlRun(
  run: ControlledRun,
  recorder: RunRecorder,
  thread?: Supervising,
): Promise<SessionResult> {
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
    replyStatus(asker, { hermes: "status", version: 1, ...about, ...status, time: Date.now() / 1000 });
  };
  const relay = new SignalRelay(run.signals, onLook, run.reloads ? () => session.reload() : undefined, () =>
    asker?.interrupt(),
  );
  let announced = false;
  const asker = run.ask && new Asker(run.ask);
  const session = await Session.start(
    options,
    {
      problem: reportProblem,
      refused: (refusal) => reportRefusal(run.log, refusal),
      ...(asker && {
        question: (question, answer) => asker.question(question, answer),
        withdrawn: (id, why) => asker.withdrawn(id, why),
      }),
      started: (pid, launcher) => {
        Object.assign(about, { pid, launcher });
        native().releaseStdio();
        relay.started(launcher);
      },
      policies: (policies) => {
        if (announced && !run.quiet)
          say(`hermes: policies reloaded: ${policies.map((p) => `${p.name} ${p.version}`).join(", ")}\n`);
        announced = true;
      },
      mainExited: () => {
        // The program is gone: a signal from now on is meant to end the rest.
        relay.ended(() => session.end());
        if (run.killOrphans) session.end();
        else setTimeout(() => noteOrphans(run), ORPHAN_NOTE_MS).unref();
      },
    },
    [],
    thread,
  );
  // A service runs for days: what it is refused is in the log meanwhile.
  const recording = setInterval(() => {
    session.status().then(
      ({ summary }) => recorder.record(summary),
      () => {}, // it has just ended, and is recorded at its end
    );
  }, RECORD_MS);
  recording.unref();
  return session.result.finally(() => {
    clearInterval(recording);
    asker?.close();
  });
}

function noteOrphans({ quiet, json }: ControlledRun): void {
  if (!quiet && !json)
    say(
      "hermes: the program has ended, but processes that it started are still running and supervised (Ctrl-C ends them)\n",
    );
}
