import type { ProcessInfo } from "../../nouns/event.js";
import { native, VIEW_DIFFERS } from "../binding/native.js";
import { KernelKin, type KinOptions } from "./kernel-kin.js";
import { childAbove, isBelow } from "./proc.js";
import { Process } from "./process.js";
import { RunProgram } from "./run-program.js";
import { Stacks } from "./stacks.js";

/** A pinned entry costs a descriptor, so there is a limit: the oldest entry is evicted. */
const MAX_PINNED = 512;

/**
 * The tracees of a session, by thread. An entry is created when a policy first reads one. The trace door
 * reports every exit, so an entry is valid until then. The notify door does not, so entries are pinned and
 * checked.
 */
export class ProcessTable {
  readonly #pinned: boolean;
  readonly #entries = new Map<number, Process>();
  #program: RunProgram | undefined;

  /**
   * Set when a tracee asks for another root or other mounts. From then on, paths are resolved in each
   * tracee's own view.
   */
  viewsDiffer = false;
  /**
   * Set when a tracee may have another user or other privileges than the process that acts on its behalf.
   * From then on, on-behalf calls use the tracee's credentials.
   */
  identitiesDiffer = false;
  /** The call stacks of the tracees. */
  readonly stacks = new Stacks((tid, address, into) => native().fetch(tid, address, into));

  /** The process that the session attached to, if it did not start one. */
  attached: number | undefined;

  /**
   * A caller may differ from the process that acts on its behalf: it was started as another user, executed
   * another program, or was created in other namespaces. A broker checks this itself. Without one we check,
   * and the native part caches whom it has checked.
   */
  look(broker: number, tid: number): void {
    if (broker !== 0) return;
    const wanted =
      (this.viewsDiffer ? 0 : VIEW_DIFFERS.apart) | (this.identitiesDiffer ? 0 : VIEW_DIFFERS.stranger);
    if (wanted === 0) return;
    const sight = native().compareView(tid, wanted);
    if (sight & VIEW_DIFFERS.apart) this.viewsDiffer = true;
    if (sight & VIEW_DIFFERS.stranger) this.identitiesDiffer = true;
  }

  readonly kin: KernelKin;

  constructor(exitsAreReported: boolean, kin: KinOptions = {}) {
    this.#pinned = !exitsAreReported;
    this.kin = new KernelKin(kin);
  }

  get(tid: number): Process {
    const known = this.#entries.get(tid);
    if (known?.alive) return known;
    known?.close();
    this.#makeRoom();
    const made = new Process(
      tid,
      this.#pinned,
      (pid) => this.#find(pid),
      () => this.#program,
    );
    this.#entries.set(tid, made);
    return made;
  }

  /**
   * A session's processes are below its launcher, which is our child: below its broker, which adopts orphans.
   */
  isOfRun(pid: number, caller: number): boolean {
    const launcher = childAbove(caller, process.pid);
    if (launcher !== undefined) return isBelow(pid, launcher);
    return this.attached !== undefined && (pid === this.attached || isBelow(pid, this.attached));
  }

  /** The run has begun with this process. */
  began(pid: number): void {
    this.#program = new RunProgram(pid);
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

  /** A process executes another program. Only one of its threads remains, and has the process's pid. */
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
