import { writeSync } from "node:fs";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { HOME } from "../nouns/home.js";
import type { WorkerOrder, WorkerTask } from "./options.js";

type Listener = Parameters<NodeJS.EventEmitter["on"]>[1];

/** A session's supervisor, seen from another thread: it sends reports and takes orders. */
export interface Supervising {
  readonly worker: {
    on(event: string, listener: Listener): unknown;
    off(event: string, listener: Listener): unknown;
  };
  /**
   * The policies' files as they were when they were loaded, if that was earlier. A difference from then is a
   * change.
   */
  readonly seen?: ReadonlyMap<string, string>;
  give(task: WorkerTask): void;
  order(order: WorkerOrder): void;
  /** The session is over. */
  release(): void;
}

/**
 * A supervisor thread. It takes long to start, so it can be started before there is a task, and kept for the
 * next one.
 */
export class Thread implements Supervising {
  readonly worker: Worker;
  readonly #tasks: MessagePort;
  #given = 0;
  /** Returns true to keep the thread for another task; otherwise it ends with its session. */
  keep: ((thread: Thread) => boolean) | undefined;

  /** `checks`: its sessions will have a runtime check, which takes long to load. */
  constructor({ checks = false }: { readonly checks?: boolean } = {}) {
    // Each task has its own channel. The worker's main channel is for orders, which it reads only during
    // supervision.
    const { port1, port2 } = new MessageChannel();
    this.#tasks = port1;
    this.worker = new Worker(`${HOME}dist/session/thread-start.cjs`, {
      workerData: { tasks: port2, checks } satisfies ThreadData,
      transferList: [port2],
      execArgv: [],
      // Otherwise Node would pipe them to process.stdout and process.stderr. Merely touching those makes
      // pipes and sockets non-blocking, which the program that shares them would notice.
      stdout: true,
      stderr: true,
    });
    for (const stream of [this.worker.stdout, this.worker.stderr]) stream.on("data", log);
  }

  give(task: WorkerTask): void {
    this.worker.ref();
    this.#given++;
    this.#tasks.postMessage(task);
  }

  order(order: WorkerOrder): void {
    this.worker.postMessage({ task: this.#given, order } satisfies OrderForTask);
  }

  /** The session is over. `keep` decides whether the thread stays. */
  release(): void {
    if (this.keep?.(this)) this.worker.unref();
    else this.end();
  }

  end(): void {
    this.#tasks.close();
  }
}

/** The program owns stdout, so the thread's output goes to HERMES's log. */
function log(text: Buffer): void {
  try {
    writeSync(2, text);
  } catch {
    // stderr is closed: drop the text.
  }
}

/**
 * An order may arrive before its task has begun or after it is over. So it carries the number of its task,
 * from 1 on.
 */
export interface OrderForTask {
  readonly task: number;
  readonly order: WorkerOrder;
}

/** The worker's start data. */
export interface ThreadData {
  readonly tasks: MessagePort;
  /** Load the runtime check before there is a task. */
  readonly checks: boolean;
}
