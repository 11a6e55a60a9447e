import { HermesError } from "../errors.js";
import { BUFFER_SIZE } from "../kernel/layout.js";
import { native } from "../kernel/native.js";
import { loadPolicies } from "../policy/load.js";
import { Mediation } from "./mediation.js";
import type { Report, SessionOptions, WorkerTask } from "./options.js";
import { RemoteDecider } from "./remote.js";
import { type Channel, Supervisor } from "./supervisor.js";

/** One session, on the thread that calls this: it owns the tracees, and blocks in the wait. Tells how it ended. */
export async function supervise(task: WorkerTask, channel: Channel): Promise<Report> {
  try {
    return await (task.remote
      ? decideElsewhere({ ...task, remote: task.remote }, channel)
      : decideHere(task, channel));
  } catch (error) {
    const known =
      error instanceof HermesError
        ? error
        : new HermesError(
            "SUPERVISOR",
            { message: (error as Error).stack ?? String(error) },
            { cause: error },
          );
    return { type: "failed", code: known.code, message: known.message };
  } finally {
    native().close();
  }
}

async function decideHere({ options }: WorkerTask, channel: Channel): Promise<Report> {
  try {
    return await mediate(options, channel);
  } catch (error) {
    const canDoWithout = options.attach && options.door === "auto";
    if (!canDoWithout || !(error instanceof HermesError) || error.code !== "ATTACH_FILTER") throw error;
    native().close();
    channel.report({ type: "problem", text: `${error.message}; attached without one` });
    return mediate({ ...options, door: "trace" }, channel);
  }
}

async function mediate(options: SessionOptions, channel: Channel): Promise<Report> {
  const policies = [
    ...(await loadPolicies(options.policies, { cwd: options.cwd })),
    ...(options.deed ? await (await import("../deed/policy.js")).deedPolicies(options.deed) : []),
  ];
  const memory = new ArrayBuffer(BUFFER_SIZE);
  let supervisor: Supervisor | undefined;
  const mediation = new Mediation(options, policies, memory, {
    problem: (text) => channel.report({ type: "problem", text }),
    ask: (question) => channel.report({ type: "question", question }),
    withdraw: (id, why) => channel.report({ type: "withdrawn", id, why }),
    stop: () => supervisor?.end(),
  });
  await mediation.loadApprovals();
  const tellPolicies = () =>
    channel.report({ type: "policies", policies: mediation.policies, files: mediation.files });
  try {
    supervisor = new Supervisor(options, mediation.doorway, memory, channel);
    tellPolicies();
    const ending = await supervisor.run(mediation.handler, {
      reload: async () => {
        if (await mediation.reload()) tellPolicies();
      },
      leave: () => mediation.handler.inside?.leave(),
      flush: () => mediation.flushTrace(),
      status: () => channel.report({ type: "status", status: mediation.status() }),
      answer: (id, answer) => mediation.handler.answer(id, answer),
      ...(mediation.ticking && { ticking: mediation.ticking }),
    });
    return { type: "done", result: mediation.finish(supervisor.pid, ending, supervisor.fence) };
  } finally {
    mediation.close();
  }
}

async function decideElsewhere({ options, remote }: Required<WorkerTask>, channel: Channel): Promise<Report> {
  const supervisor = new Supervisor(options, remote.doorway, remote.memory, channel);
  const ending = await supervisor.run(new RemoteDecider(remote.control));
  return { type: "over", ending, fence: supervisor.fence };
}
