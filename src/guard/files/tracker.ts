/** What tells one state of a file from another: modification time in ms and size, or a digest. */
export type Stamp = string;

export interface Warning {
  readonly rule: "changed-since-read" | "concurrent-writer" | "written-unread" | "re-read" | "re-read-loop";
  readonly reason: string;
  /** The operation is refused, not only warned of. */
  readonly stop: boolean;
}

export interface Limits {
  /** The same part of an unchanged file, in a row: from here on the agent is told. */
  readonly warnAfter: number;
  /** From here on it is refused. */
  readonly stopAfter: number;
}

export const RE_READ: Limits = { warnAfter: 3, stopAfter: 4 };

interface Known {
  readonly stamp: Stamp;
  /** Of the last writer's order when this was seen. */
  readonly order: number;
}

interface Task {
  readonly seen: Map<string, Known>;
  /** The last read, and how often it was repeated without anything else in between. */
  last: string | undefined;
  repeated: number;
}

/** More files per task than anybody works on: the oldest are forgotten. */
const MOST_FILES = 10_000;

/**
 * What each task read and wrote. Owned by a session; paths are real paths. JavaScript runs one call at a time, so a call is
 * atomic; tasks of other processes are seen by the stamps they leave.
 */
export class FileTracker {
  readonly #tasks = new Map<string, Task>();
  readonly #writers = new Map<string, { readonly task: string; readonly order: number }>();
  readonly #limits: Limits;
  #order = 0;

  constructor(limits: Limits = RE_READ) {
    this.#limits = limits;
  }

  /** Before a read. `part` names the window, so that going through a file is not a loop. */
  read(task: string, path: string, stamp: Stamp, part = ""): Warning | undefined {
    const state = this.#task(task);
    const key = `${path}\0${part}\0${stamp}`;
    state.repeated = state.last === key ? state.repeated + 1 : 1;
    state.last = key;
    remember(state.seen, path, { stamp, order: this.#order });
    const { warnAfter, stopAfter } = this.#limits;
    const times = `${path} was read ${state.repeated} times in a row and has not changed.`;
    if (state.repeated >= stopAfter)
      return { rule: "re-read-loop", reason: `${times} Use what you have.`, stop: true };
    if (state.repeated >= warnAfter) return { rule: "re-read", reason: times, stop: false };
    return undefined;
  }

  /** Before a write: what should be known about it. `stamp` is the file's state now, undefined when there is none. */
  beforeWrite(task: string, path: string, stamp: Stamp | undefined): readonly Warning[] {
    const state = this.#task(task);
    const seen = state.seen.get(path);
    const writer = this.#writers.get(path);
    const warnings: Warning[] = [];
    const warn = (rule: Warning["rule"], reason: string) => warnings.push({ rule, reason, stop: false });
    if (writer && writer.task !== task && (seen === undefined || writer.order > seen.order))
      warn("concurrent-writer", `Task ${writer.task} wrote ${path} since this task last saw it.`);
    else if (seen && stamp !== undefined && stamp !== seen.stamp)
      warn("changed-since-read", `${path} was changed since this task read it: read it again first.`);
    else if (seen && stamp === undefined)
      warn("changed-since-read", `${path} was removed since this task read it.`);
    else if (!seen && stamp !== undefined)
      warn("written-unread", `${path} exists, and this task has not read it.`);
    return warnings;
  }

  /** After a write: what is there now is known to this task. */
  wrote(task: string, path: string, stamp: Stamp): void {
    const state = this.#task(task);
    this.#order++;
    remember(state.seen, path, { stamp, order: this.#order });
    remember(this.#writers, path, { task, order: this.#order });
    state.last = undefined;
    state.repeated = 0;
  }

  /** Anything else that a task does ends a row of equal reads. */
  acted(task: string): void {
    const state = this.#tasks.get(task);
    if (state) state.last = undefined;
  }

  forget(task: string): void {
    this.#tasks.delete(task);
  }

  #task(name: string): Task {
    const known = this.#tasks.get(name);
    if (known) return known;
    const made: Task = { seen: new Map(), last: undefined, repeated: 0 };
    this.#tasks.set(name, made);
    return made;
  }
}

function remember<T>(map: Map<string, T>, path: string, value: T): void {
  map.delete(path);
  map.set(path, value);
  if (map.size > MOST_FILES) map.delete(map.keys().next().value!);
}
