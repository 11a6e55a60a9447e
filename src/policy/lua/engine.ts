import { encodeText } from "../../text.js";
import { LuaError } from "./error.js";
import { OutOfFuel, type Pointer } from "./machine.js";
import { HARD_LIMIT } from "./meter.js";
import { TYPE, Values } from "./values.js";

export const REGISTRY = -1_001_000;
const STATUS_SYNTAX = 3;
const STATUS_MEMORY = 4;
const MASK_COUNT = 8;
/** What a machine whose tank is empty may still use, to reach the place where its line is known. */
const GRACE = 20_000;
/** Enough for the interpreter's own work between two calls: tracebacks, collecting garbage. */
const PLENTY = 2 ** 26;

export interface Budgets {
  /** Units of work for one event: about 2 to 8 ns each. */
  readonly fuel: number;
  /** Bytes of memory for everything that the policy holds. */
  readonly memory: number;
}

/** A Lua state: values in and out, protected calls, and what remains standing after a call that was cut off. */
export class Engine extends Values {
  readonly budgets: Budgets;
  /** The thread that handlers run in. After a cut it is left behind, with whatever it was doing, for a new one. */
  thread: Pointer;
  /** Something other than a budget stopped the machine in mid-air: it cannot be used again. */
  broken: Error | undefined;
  readonly #main: Pointer;
  readonly #chunk: string;
  readonly #hook: number;
  readonly #onError: number;
  #threadRef = 0;
  #draining = false;
  #collect: number | undefined;

  /** `chunk` is the name by which Lua's messages speak of the script. */
  constructor(chunk: string, budgets: Budgets) {
    super(budgets.memory);
    this.#chunk = chunk;
    this.budgets = budgets;
    this.#main = this.x.luaL_newstate();
    this.#hook = this.machine.addHook((L) => {
      throw new CutOff(L);
    });
    this.#onError = this.machine.addFunction((L) => this.#explain(L));
    this.machine.onEmpty = () => this.#empty();
    this.thread = this.#newThread();
  }

  // ---------------------------------------------------------------- running

  /** Calls the function and its arguments on top of the thread's stack. The results stay there until `clear`. */
  call(args: number, results: number, fuel = this.budgets.fuel): void {
    const { x, machine } = this;
    if (this.broken) throw this.broken;
    const stack = x.stackSave();
    let status: number;
    machine.fuel = fuel;
    try {
      status = x.lua_pcallk(this.thread, args, results, 1, 0, 0);
    } catch (thrown) {
      x.stackRestore(stack);
      throw this.#cutOff(thrown);
    }
    machine.fuel = PLENTY;
    if (status !== 0) throw this.#failed(status);
  }

  /** Empties the thread's stack but for what is always there. */
  clear(): void {
    this.x.lua_settop(this.thread, 1);
  }

  /** Leaves the function that the source compiles to on the thread's stack. */
  load(source: Uint8Array, chunk = this.#chunk): void {
    const { x } = this;
    if (!x.lua_checkstack(this.thread, 8)) throw new LuaError("not enough memory", this.#chunk);
    const at = x.malloc(source.length + 1);
    const name = this.#cString(`@${chunk}`);
    const mode = this.#cString("t");
    if (!at || !name || !mode) throw new LuaError("not enough memory", this.#chunk);
    this.machine.bytes.set(source, at);
    const status = x.luaL_loadbufferx(this.thread, at, source.length, name, mode);
    for (const block of [at, name, mode]) x.free(block);
    if (status !== 0) throw this.#failed(status);
  }

  /** After any failure: whatever was left half done on the thread's stack is gone. */
  recover(): void {
    if (this.broken) return;
    try {
      this.#replaceThread();
    } catch (cause) {
      this.broken = new LuaError("the interpreter is out of memory", this.#chunk, { cause });
    }
  }

  /** A function of ours for Lua to call. What it throws becomes a Lua error at the caller's line. */
  pushFunction(L: Pointer, call: (L: Pointer) => number): void {
    const slot = this.machine.addFunction((state) => {
      try {
        return call(state);
      } catch (thrown) {
        if (!(thrown instanceof Error) || thrown instanceof OutOfFuel || isOverflow(thrown)) throw thrown;
        return this.raise(state, thrown.message);
      }
    });
    this.x.lua_pushcclosure(L, slot, 0);
  }

  raise(L: Pointer, message: string): number {
    const { x } = this;
    x.luaL_where(L, 1);
    this.pushText(L, message);
    x.lua_concat(L, 2);
    return x.lua_error(L);
  }

  /** The function on top of the stack collects garbage when called: kept for ourselves. */
  keepCollector(): void {
    this.#collect = this.x.luaL_ref(this.thread, REGISTRY);
  }

  ref(): number {
    return this.x.luaL_ref(this.thread, REGISTRY);
  }

  unref(ref: number): void {
    this.x.luaL_unref(this.thread, REGISTRY, ref);
  }

  // ---------------------------------------------------------------- what goes wrong

  /** The tank is empty. Once it is filled a little, so that the hook can stop at a known line; then it is over. */
  #empty(): void {
    if (this.machine.fuel < -HARD_LIMIT) throw new Error("it was stuck inside the collector or a table");
    if (this.#draining) throw new CutOff(this.thread);
    this.#draining = true;
    this.machine.fuel = GRACE;
    this.x.lua_sethook(this.thread, this.#hook, MASK_COUNT, 1);
  }

  #cutOff(thrown: unknown): Error {
    this.machine.fuel = PLENTY;
    this.#draining = false;
    if (!(thrown instanceof CutOff)) {
      const cause = thrown as Error;
      this.broken = new LuaError(
        `the interpreter failed (${cause.message}); the policy starts anew, without its state`,
        this.#chunk,
        { cause },
      );
      return this.broken;
    }
    return new LuaError("it ran too long and was cut off", this.#chunk, {
      traceback: this.#replaceThread(thrown.thread),
    });
  }

  #failed(status: number): Error {
    const message = this.text(this.thread, -1) ?? "an error that is not text";
    const at = message.indexOf("\nstack traceback:\n");
    const traceback = at < 0 ? undefined : message.slice(at + 18);
    const error = new LuaError(at < 0 ? message : message.slice(0, at), this.#chunk, {
      ...(traceback !== undefined && { traceback }),
      syntax: status === STATUS_SYNTAX,
    });
    // Its stack may be most of what there is.
    if (status === STATUS_MEMORY) this.#replaceThread();
    else this.clear();
    return error;
  }

  /** Leaves the thread to the collector. Returns where the given one stood. */
  #replaceThread(explain?: Pointer): string {
    const old = this.#threadRef;
    this.thread = this.#newThread();
    const traceback = explain === undefined ? "" : this.#tracebackOf(explain);
    this.unref(old);
    this.#collectGarbage();
    return traceback;
  }

  /** The message handler of every call: adds the traceback while the stack is still there. */
  #explain(L: Pointer): number {
    const { x } = this;
    if (x.lua_type(L, 1) !== TYPE.string) x.luaL_tolstring(L, 1, 0);
    else x.lua_pushvalue(L, 1);
    x.luaL_traceback(L, L, x.lua_tolstring(L, -1, 0), 1);
    return 1;
  }

  #tracebackOf(of: Pointer): string {
    this.x.luaL_traceback(this.thread, of, 0, 0);
    const text = this.text(this.thread, -1) ?? "";
    this.clear();
    return text.replace(/^stack traceback:\n/, "");
  }

  #collectGarbage(): void {
    if (this.#collect === undefined) return;
    this.x.lua_rawgeti(this.thread, REGISTRY, BigInt(this.#collect));
    this.x.lua_pcallk(this.thread, 0, 0, 0, 0, 0);
    this.clear();
  }

  #newThread(): Pointer {
    const { x } = this;
    const thread = x.lua_newthread(this.#main);
    this.#threadRef = x.luaL_ref(this.#main, REGISTRY);
    x.lua_pushcclosure(thread, this.#onError, 0);
    return thread;
  }

  #cString(text: string): Pointer {
    const bytes = encodeText(text);
    const at = this.x.malloc(bytes.length + 1);
    if (!at) return 0;
    this.machine.bytes.set(bytes, at);
    this.machine.bytes[at + bytes.length] = 0;
    return at;
  }
}

/** Out of fuel, in this thread. */
class CutOff extends OutOfFuel {
  readonly thread: Pointer;

  constructor(thread: Pointer) {
    super("out of fuel");
    this.thread = thread;
  }
}

function isOverflow(error: Error): boolean {
  return error instanceof RangeError && error.message.includes("call stack");
}
