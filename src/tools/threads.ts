import { Thread } from "../session/thread.js";

/** So many wait for work; more are made when needed, and end when they have done theirs. */
const SPARE = 4;

/** Supervising threads that stay for the next command: to start one takes longer than most commands do. */
export class Threads {
  readonly #idle: Thread[] = [];
  #closed = false;

  constructor() {
    const first = this.#make();
    first.worker.unref();
    this.#idle.push(first);
  }

  take(): Thread {
    return this.#idle.pop() ?? this.#make();
  }

  #make(): Thread {
    const thread = new Thread();
    thread.worker.once("exit", () => {
      const at = this.#idle.indexOf(thread);
      if (at >= 0) this.#idle.splice(at, 1);
    });
    thread.keep = () => {
      if (this.#closed || this.#idle.length >= SPARE) return false;
      this.#idle.push(thread);
      return true;
    };
    return thread;
  }

  close(): void {
    this.#closed = true;
    for (const thread of this.#idle.splice(0)) thread.end();
  }
}
