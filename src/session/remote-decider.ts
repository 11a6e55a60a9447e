import type { Decider } from "./loop.js";

/**
 * Policies that are closures of a host program cannot move to the worker thread. For them the worker asks the
 * host's thread: the event lies in shared memory, and both sides wait on words of a second shared buffer.
 */

const WORD = { asked: 0, question: 1, subject: 2, answered: 3, answer: 4 } as const;
const QUESTION = { handle: 0, release: 1 } as const;
export const CONTROL_SIZE = 32;

/** In the worker: blocks until the host has decided. */
export class RemoteDecider implements Decider {
  readonly #words: Int32Array;

  constructor(control: SharedArrayBuffer) {
    this.#words = new Int32Array(control);
  }

  handle(kind: number): number {
    return this.#ask(QUESTION.handle, kind);
  }

  release(tid: number): boolean {
    return this.#ask(QUESTION.release, tid) === 1;
  }

  #ask(question: number, subject: number): number {
    const words = this.#words;
    words[WORD.question] = question;
    words[WORD.subject] = subject;
    const turn = Atomics.add(words, WORD.asked, 1) + 1;
    Atomics.notify(words, WORD.asked);
    for (let answered = turn - 1; answered !== turn; answered = Atomics.load(words, WORD.answered))
      Atomics.wait(words, WORD.answered, answered);
    return words[WORD.answer]!;
  }
}

/** In the host: answers question after question without blocking its event loop. */
export async function answerRemotely(
  control: SharedArrayBuffer,
  decider: Decider,
  over: () => boolean,
): Promise<void> {
  const words = new Int32Array(control);
  for (let turn = 1; !over(); turn++) {
    while (Atomics.load(words, WORD.asked) < turn) {
      const wait = Atomics.waitAsync(words, WORD.asked, turn - 1);
      if (wait.async) await wait.value;
      if (over()) return;
    }
    const subject = words[WORD.subject]!;
    words[WORD.answer] =
      words[WORD.question] === QUESTION.handle ? decider.handle(subject) : Number(decider.release(subject));
    Atomics.store(words, WORD.answered, turn);
    Atomics.notify(words, WORD.answered);
  }
}

/** Wakes answerRemotely so that it sees the end. */
export function endRemote(control: SharedArrayBuffer): void {
  Atomics.notify(new Int32Array(control), WORD.asked);
}
