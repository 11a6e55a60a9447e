import { writeSync } from "node:fs";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { HOME } from "../home.js";
import type { Order, WorkerTask } from "./options.js";

type Listener = Parameters<NodeJS.EventEmitter["on"]>[1];

/** Whoever supervises a session, seen from elsewhere: reports come from it, orders go to it. */
export interface Supervising {
  readonly worker: {
    on(event: string, listener: Listener): unknown;
    off(event: string, listener: Listener): unknown;
  };
  /** The policies' files as they were when they were loaded, if that was before: a change since then is one. */
  readonly seen?: ReadonlyMap<string, string>;
  give(task: WorkerTask): void;
  order(order: Order): void;
  /** Its session is over. */
  release(): void;
}

/**
 * A supervising thread. It takes long to come up, so it can be started before there is a task for it, and be kept for the
 * next one.
 */
export class Thread implements Supervising {
  readonly worker: Worker;
  readonly #tasks: MessagePort;
  #given = 0;
  /** Whether it stays, to be given another task; else it ends with its session. */
  keep: ((thread: Thread) => boolean) | undefined;

  constructor() {
    // The task has a channel of its own: the worker's main one is for orders, which it takes only while it supervises.
    const { port1, port2 } = new MessageChannel();
    this.#tasks = port1;
    this.worker = new Worker(`${HOME}dist/session/thread-start.cjs`, {
      workerData: { tasks: port2 } satisfies ThreadData,
      transferList: [port2],
      execArgv: [],
      // Else Node would pass them to process.stdout and process.stderr, and merely to look at those makes pipes and
      // sockets non-blocking, which the program that shares them would see.
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

  order(order: Order): void {
    this.worker.postMessage({ task: this.#given, order } satisfies OrderForTask);
  }

  /** Its session is over. Whoever keeps threads for other tasks says so by `keep`. */
  release(): void {
    if (this.keep?.(this)) this.worker.unref();
    else this.end();
  }

  end(): void {
    this.#tasks.close();
  }
}

/** The program owns stdout: whatever the thread prints is HERMES's log. */
function log(text: Buffer): void {
  try {
    writeSync(2, text);
  } catch {
    // Nobody listens.
  }
}

/** An order may come before its task has begun, or after it is over: it says which one it is for, from 1 on. */
export interface OrderForTask {
  readonly task: number;
  readonly order: Order;
}

/** What the worker is born with. */
export interface ThreadData {
  readonly tasks: MessagePort;
}
