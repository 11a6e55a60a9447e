import type { ApprovalRow, Store } from "../../record/store/store.js";

export interface AnswerWait {
  readonly signal?: AbortSignal;
  /** When the caller has waited long enough, though others may go on waiting for the same. */
  readonly deadline: number;
  /** Milliseconds after which `answer` is called. */
  readonly after?: number;
  readonly answer?: () => Promise<unknown>;
  /** Expires what is over. */
  readonly sweep: () => Promise<void>;
  /** The caller has given up. */
  readonly abandoned: () => Promise<void>;
}

/** Node's timers take no more. */
const LONGEST_MS = 2 ** 31 - 1;

/** Resolves to the row when it is not pending any more, or as it is when the caller stops waiting. */
export function waitForAnswer(store: Store, row: ApprovalRow, waiting: AnswerWait): Promise<ApprovalRow> {
  const { signal, deadline, after, answer, sweep, abandoned } = waiting;
  return new Promise((resolve, reject) => {
    let over = false;
    let leaving = false;
    let timer: NodeJS.Timeout | undefined;
    const answering = after !== undefined && setTimeout(() => void answer?.().then(look, fail), after);
    const stop = store.onApprovals(() => void look());
    const abort = () => {
      leaving = true;
      void abandoned()
        .then(() => store.approval(row.id))
        .then((now) => finish(now ?? row), fail);
    };
    signal?.addEventListener("abort", abort);
    if (signal?.aborted) abort();
    watchTheClock();
    void look();

    function watchTheClock(): void {
      if (over) return;
      const left = Math.max(Math.min(row.expires, deadline) - Date.now(), 0) + 1;
      timer = setTimeout(() => void lookAtTheClock(), Math.min(left, LONGEST_MS));
    }

    async function lookAtTheClock(): Promise<void> {
      await sweep().then(look, fail);
      if (Date.now() >= deadline) finish(row);
      else watchTheClock();
    }

    async function look(): Promise<void> {
      try {
        const now = await store.approval(row.id);
        if (!now) fail(new Error("its row is gone"));
        else if (now.state !== "pending" && !leaving) finish(now);
      } catch (error) {
        fail(error);
      }
    }

    function finish(now: ApprovalRow): void {
      if (over) return;
      end();
      resolve(now);
    }

    function fail(error: unknown): void {
      end();
      reject(error);
    }

    function end(): void {
      over = true;
      clearTimeout(timer);
      if (answering) clearTimeout(answering);
      signal?.removeEventListener("abort", abort);
      stop();
    }
  });
}
