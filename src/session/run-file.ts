import type { CallEvent, PathArgument } from "../nouns/event.js";

/** An execve as policies see it for another file than the named one: the interpreter, the real program. */
export class RunFile implements CallEvent {
  readonly #event: CallEvent;
  readonly path: string;
  readonly argv: readonly string[];
  readonly #env: () => readonly string[] | undefined;

  constructor(
    event: CallEvent,
    path: string,
    argv: readonly string[],
    env: () => readonly string[] | undefined,
  ) {
    this.#event = event;
    this.path = path;
    this.argv = argv;
    this.#env = env;
  }

  readonly kind = "syscall";
  get name() {
    return this.#event.name;
  }
  get nr() {
    return this.#event.nr;
  }
  get classes() {
    return this.#event.classes;
  }
  get tid() {
    return this.#event.tid;
  }
  get process() {
    return this.#event.process;
  }
  get time() {
    return this.#event.time;
  }
  get door() {
    return this.#event.door;
  }
  /** Not the arguments of the call: they may be another program's by now. */
  get args(): CallEvent["args"] {
    return { filename: this.path, argv: this.argv, envp: this.env } as unknown as CallEvent["args"];
  }
  argument(i: number) {
    return this.#event.argument(i);
  }
  get requested() {
    return this.path;
  }
  get paths(): readonly PathArgument[] {
    return [{ argument: "filename", requested: this.path, path: this.path }];
  }
  get fd() {
    return undefined;
  }
  get address() {
    return undefined;
  }
  get addresses() {
    return [];
  }
  get kin() {
    return this.#event.kin;
  }
  get controls() {
    return [];
  }
  get receivers() {
    return [];
  }
  readonly signal = undefined;
  get env() {
    return this.#env();
  }
  get flags() {
    return this.#event.flags;
  }
  get data() {
    return undefined;
  }
  get memory() {
    return this.#event.memory;
  }
  stack(limit?: number) {
    return this.#event.stack(limit);
  }
  registers() {
    return this.#event.registers();
  }
  maps() {
    return this.#event.maps();
  }
  get elapsed() {
    return this.#event.elapsed;
  }
}
