import { Thread } from "../../session/thread.js";

/** The number of idle threads. More are started when needed and end after their run. */
const SPARE = 4;

/** Supervisor threads that are kept for the next command: starting one takes longer than most commands. */
export class Threads {
  readonly #idle: Thread[] = [];
  #closed = false;

  /** `first` is a thread that was started earlier. */
  constructor(first: Thread = newThread()) {
    this.#manage(first);
    first.worker.unref();
    this.#idle.push(first);
  }

  take(): Thread {
    return this.#idle.pop() ?? this.#manage(newThread());
  }

  #manage(thread: Thread): Thread {
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

/** Every command has a runtime check. */
function newThread(): Thread {
  return new Thread({ checks: true });
}
