import { BUFFER_SIZE } from "../kernel/binding/layout.js";
import { native } from "../kernel/binding/native.js";
import { HermesError } from "../nouns/errors.js";
import { loadPolicies } from "../policy/load.js";
import { Mediation } from "./mediation.js";
import type { SessionOptions, WorkerReport, WorkerTask } from "./options.js";
import { type RefusedStart, refusedStart } from "./refused-start.js";
import { RemoteDecider } from "./remote-decider.js";
import { Supervisor, type SupervisorChannel } from "./supervisor.js";

/**
 * Runs one session on the calling thread, which owns the tracees and blocks in wait. Reports how it ended.
 */
export async function supervise(task: WorkerTask, channel: SupervisorChannel): Promise<WorkerReport> {
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
    const { deeds } = known as Partial<RefusedStart>;
    return { type: "failed", code: known.code, message: known.message, ...(deeds && { deeds }) };
  } finally {
    native().close();
  }
}

async function decideHere({ options }: WorkerTask, channel: SupervisorChannel): Promise<WorkerReport> {
  try {
    return await mediate(options, channel);
  } catch (error) {
    if (!(error instanceof HermesError)) throw error;
    const second = secondTry(options, error);
    if (!second) throw error;
    native().close();
    if (second.note) channel.report({ type: "problem", text: second.note });
    return mediate(second.options, channel);
  }
}

/** How to do without what this machine does not have, before the program has started; undefined: not at all. */
function secondTry(
  options: SessionOptions,
  { code, message }: HermesError,
): { readonly options: SessionOptions; readonly note?: string } | undefined {
  if (code === "ATTACH_FILTER" && options.attach && options.door === "auto")
    return { options: { ...options, door: "trace" }, note: `${message}; attached without one` };
  if (code === "UNAVAILABLE" && options.defence === undefined)
    return { options: { ...options, defence: "stops", withoutView: message } };
  return undefined;
}

async function mediate(options: SessionOptions, channel: SupervisorChannel): Promise<WorkerReport> {
  const policies = [
    ...(await loadPolicies(options.policies, options)),
    ...(options.deed
      ? await (await import("../intent/runtime-check/policy.js")).runtimeCheckPolicies(options.deed)
      : []),
  ];
  const memory = new ArrayBuffer(BUFFER_SIZE);
  let supervisor: Supervisor | undefined;
  const mediation = new Mediation(options, policies, memory, {
    problem: (text) => channel.report({ type: "problem", text }),
    refused: (refusal) => channel.report({ type: "refused", refusal }),
    ask: (question) => channel.report({ type: "question", question }),
    withdraw: (id, why) => channel.report({ type: "withdrawn", id, why }),
    stop: () => supervisor?.end(),
  });
  await mediation.loadApprovals();
  const tellPolicies = () =>
    channel.report({ type: "policies", policies: mediation.policies, files: mediation.files });
  try {
    supervisor = new Supervisor(options, mediation.doorway, memory, channel);
    mediation.began(supervisor.pid);
    tellPolicies();
    const ending = await supervisor.run(mediation.mediator, {
      reload: async () => {
        if (await mediation.reload()) tellPolicies();
        else channel.report({ type: "watch", files: mediation.files });
      },
      leave: () => mediation.mediator.inside?.leave(),
      flush: () => mediation.flushTrace(),
      status: () => channel.report({ type: "status", status: mediation.status() }),
      answer: (id, reply) => mediation.mediator.answer(id, reply),
      ...(mediation.ticking && { ticking: mediation.ticking }),
    });
    return { type: "done", result: mediation.finish(supervisor.pid, ending, supervisor) };
  } catch (error) {
    throw refusedStart(error, options, mediation.refusals) ?? error;
  } finally {
    mediation.close();
  }
}

async function decideElsewhere(
  { options, remote }: Required<WorkerTask>,
  channel: SupervisorChannel,
): Promise<WorkerReport> {
  const supervisor = new Supervisor(options, remote.doorway, remote.memory, channel);
  const ending = await supervisor.run(new RemoteDecider(remote.control));
  return { type: "over", ending, fence: supervisor.fence, masksSeen: supervisor.masksSeen };
}
