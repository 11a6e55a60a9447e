import { mkdtempSync, rmSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { type ApprovalsSection, approvalsSection } from "../../../src/intent/guard/config/approvals.js";
import type { Finding } from "../../../src/intent/guard/finding.js";
import { readStat } from "../../../src/kernel/process/proc.js";
import type { ApprovalRequest } from "../../../src/people/approval/approvals.js";
import { Queue, type QueueOptions } from "../../../src/people/approval/queue.js";
import { openStore } from "../../../src/record/store/open.js";
import type { Store } from "../../../src/record/store/store.js";
import { until } from "../../support/until.js";

export interface Desktop {
  readonly folder: string;
  readonly store: Store;
  readonly userFile: string;
  /** Requests that wait. */
  readonly open: Set<Promise<unknown>>;
  close(): Promise<void>;
}

/** A store of its own, in SQLite or where `url` says, with one session of this process. */
export async function desktop(url?: string): Promise<Desktop> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-approvals-"));
  const store = await openStore(url ?? join(folder, "hermes.db"));
  await openSession(store, "one", folder);
  const open = new Set<Promise<unknown>>();
  return {
    folder,
    store,
    userFile: join(folder, "config", "hermes.yaml"),
    open,
    close: async () => {
      await until(async () => {
        for (const { id } of await store.approvals({ state: ["pending"] }))
          await store.answer(id, { state: "refused", by: "test", time: Date.now() });
        return open.size === 0 ? true : undefined;
      });
      await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

export async function openSession(store: Store, id: string, workspace: string, pid = process.pid) {
  await store.openSession({
    id,
    started: Date.now(),
    host: hostname(),
    pid,
    pidStarted: readStat(pid)?.start ?? 0,
    workspace,
    agent: "test",
  });
}

/** A queue with this configuration; what it had to say is in `problems`. */
export function queueOf(
  { store, userFile, folder, open }: Desktop,
  section: Partial<ApprovalsSection> = {},
  more: Partial<QueueOptions> = {},
) {
  const problems: string[] = [];
  const config = approvalsSection.parse(section);
  const queue = new Queue({
    store,
    userFile,
    workspace: folder,
    config: () => config,
    problem: (text) => problems.push(text),
    ...more,
  });
  const ask = queue.request.bind(queue);
  queue.request = (...words) => {
    const outcome = ask(...words);
    open.add(outcome);
    void outcome.finally(() => open.delete(outcome));
    return outcome;
  };
  return { queue, problems };
}

export const asks = (rule: string, reason = `about ${rule}`): Finding => ({
  layer: "command",
  rule,
  action: "ask",
  reason,
});

let calls = 0;

/** Something that needs an answer; `rm -rf build` unless told otherwise. */
export function request(more: Partial<ApprovalRequest> = {}): ApprovalRequest {
  return {
    kind: "TOOL_CALL",
    session: "one",
    what: "rm -rf build",
    digest: `digest of ${more.what ?? "rm -rf build"}`,
    findings: [asks("recursive-delete")],
    argv: ["rm", "-rf", "build"],
    ...more,
  };
}

/** A tool call of the session, as the toolbox adds it before it asks. */
export async function toolCall(store: Store, session = "one"): Promise<string> {
  const id = `call-${process.pid}-${++calls}`;
  const created = Date.now();
  await store.addToolCall({
    id,
    session,
    tool: "terminal_exec",
    input: "{}",
    digest: "d",
    created,
    status: "PENDING",
  });
  return id;
}

/** The one row that waits. */
export async function parked(store: Store, digest?: string) {
  return until(async () => {
    const rows = await store.approvals({ state: ["pending"], ...(digest !== undefined && { digest }) });
    return rows.length === 1 ? rows[0] : undefined;
  });
}
