import type { ApprovalsSection } from "../../intent/guard/config/approvals.js";
import { loadConfig, type Places, userFile } from "../../intent/guard/config/load.js";
import type { Audit } from "../../record/audit/audit.js";
import type { Store } from "../../record/store/store.js";
import type { Approver } from "./approver.js";
import { Queue } from "./queue.js";
import { readSecret } from "./token.js";
import { WebhookApprover } from "./webhook.js";

interface OpenQueueOptions {
  readonly store: Store;
  readonly audit: Audit;
  readonly places: Places;
  /** Besides those that hermes.yaml names. */
  readonly approvers?: readonly Approver[];
  /** Tells the operator. */
  readonly problem?: (text: string) => void;
}

/** The queue as hermes.yaml configures it: the same for every command that asks. */
export function openQueue({ store, audit, places, approvers = [], problem }: OpenQueueOptions): Queue {
  const section = () => loadConfig(places).config.approvals;
  return new Queue({
    store,
    audit,
    config: section,
    workspace: places.workspace,
    userFile: userFile(places),
    approvers: [...approvers, ...webhooks(section(), problem)],
    ...(problem && { problem }),
  });
}

function webhooks({ webhook }: ApprovalsSection, problem: OpenQueueOptions["problem"]): WebhookApprover[] {
  if (!webhook) return [];
  const { url, secret_file, answer_url } = webhook;
  return [
    new WebhookApprover({
      url,
      secret: readSecret(secret_file),
      ...(answer_url !== undefined && { answerUrl: answer_url }),
      ...(problem && { problem }),
    }),
  ];
}
