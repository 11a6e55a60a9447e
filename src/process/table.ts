import type { ProcessInfo } from "../event.js";
import { native, SIGHT } from "../kernel/native.js";
import { Kin, type KinOptions } from "./kin.js";
import { childAbove, isBelow } from "./proc.js";
import { Process } from "./process.js";
import { Stacks } from "./stack.js";

/** With pins an entry costs a descriptor, so there is a limit; the oldest entry makes room. */
const MAX_PINNED = 512;

/**
 * The tracees of a session, by thread. Entries are made when a policy first looks at one. The trace door tells us
 * of every exit, so an entry is right until then; the notify door does not, so entries are pinned and checked.
 */
export class ProcessTable {
  readonly #pinned: boolean;
  readonly #entries = new Map<number, Process>();

  /** Set when a tracee asks for another root or other mounts: from then on paths are walked in each tracee's own view. */
  viewsDiffer = false;
  /** Set when a tracee may be another user, or have other rights, than whoever acts for it: from then on acts are made as it. */
  identitiesDiffer = false;
  /** Who called whom in each of them. */
  readonly stacks = new Stacks((tid, address, into) => native().fetch(tid, address, into));

  /** The process that the session was attached to, where it did not start one. */
  attached: number | undefined;

  /**
   * Whoever makes a call may differ from who acts for it by now: it was started as somebody else, has another program, or was
   * born in other namespaces. A broker looks itself; without one we do, and the native part knows whom it has looked at.
   */
  look(broker: number, tid: number): void {
    if (broker !== 0) return;
    const wanted = (this.viewsDiffer ? 0 : SIGHT.apart) | (this.identitiesDiffer ? 0 : SIGHT.stranger);
    if (wanted === 0) return;
    const sight = native().sight(tid, wanted);
    if (sight & SIGHT.apart) this.viewsDiffer = true;
    if (sight & SIGHT.stranger) this.identitiesDiffer = true;
  }

  readonly kin: Kin;

  constructor(exitsAreReported: boolean, kin: KinOptions = {}) {
    this.#pinned = !exitsAreReported;
    this.kin = new Kin(kin);
  }

  get(tid: number): Process {
    const known = this.#entries.get(tid);
    if (known?.alive) return known;
    known?.close();
    this.#makeRoom();
    const made = new Process(tid, this.#pinned, (pid) => this.#find(pid));
    this.#entries.set(tid, made);
    return made;
  }

  /** What a session has started is below its launcher, which is our child: below its broker, which adopts orphans. */
  isOfRun(pid: number, caller: number): boolean {
    const launcher = childAbove(caller, process.pid);
    if (launcher !== undefined) return isBelow(pid, launcher);
    return this.attached !== undefined && (pid === this.attached || isBelow(pid, this.attached));
  }

  #find(pid: number): ProcessInfo | undefined {
    return pid > 1 ? this.get(pid) : undefined;
  }

  #makeRoom(): void {
    if (!this.#pinned || this.#entries.size < MAX_PINNED) return;
    const [oldest, entry] = this.#entries.entries().next().value!;
    entry.close();
    this.#entries.delete(oldest);
  }

  /** A new program runs in a process. Of its threads only one is left, and has the process's number. */
  execed(pid: number): void {
    this.stacks.forget(pid);
    this.#entries.get(pid)?.execed();
  }

  exited(tid: number): void {
    this.stacks.forget(tid);
    this.#entries.get(tid)?.close();
    this.#entries.delete(tid);
  }

  close(): void {
    for (const entry of this.#entries.values()) entry.close();
    this.#entries.clear();
    this.stacks.close();
  }
}
