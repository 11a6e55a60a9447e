import { encodeText } from "../../nouns/text.js";
import { LuaError } from "./error.js";
import { LuaMachineFailure, OutOfFuel, type Pointer } from "./machine.js";
import { HARD_LIMIT } from "./meter.js";
import { LuaValues, TYPE } from "./values.js";

export const REGISTRY = -1_001_000;
const STATUS_SYNTAX = 3;
const STATUS_MEMORY = 4;
const MASK_COUNT = 8;
/** Including the traceback. */
const MAX_MESSAGE = 8192;
/** Extra fuel for a machine that ran out, so that it reaches a place where its line is known. */
const GRACE = 20_000;
/** Enough for the interpreter's own work between two calls: tracebacks, garbage collection. */
const PLENTY = 2 ** 26;

export interface Budgets {
  /** Units of work for one event: about 2 to 8 ns each. */
  readonly fuel: number;
  /** Bytes of memory for everything that the policy holds. */
  readonly memory: number;
}

/** A Lua state: converts values, makes protected calls, and recovers after a call was cut off. */
export class LuaEngine extends LuaValues {
  readonly budgets: Budgets;
  /**
   * The thread that handlers run in. After a cut-off it is abandoned in the middle of its work, and replaced
   * by a new one.
   */
  thread: Pointer;
  /** The machine stopped for another reason than a budget: it cannot be used again. */
  broken: Error | undefined;
  readonly #main: Pointer;
  readonly #chunk: string;
  readonly #hook: number;
  readonly #onError: number;
  #threadRef = 0;
  #draining = false;
  #collect: number | undefined;

  /** `chunk` is the script's name in Lua's messages. */
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
    if (this.#draining) this.#calm();
    if (status !== 0) throw this.#failed(status);
  }

  /** Empties the thread's stack down to its permanent part. */
  clear(): void {
    this.x.lua_settop(this.thread, 1);
  }

  /** Compiles the source and leaves the function on the thread's stack. */
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

  /** Abandons the thread, with its unfinished work, to the garbage collector and continues in a new one. */
  recover(): void {
    if (this.broken) return;
    this.machine.fuel = PLENTY;
    try {
      this.x.luaL_unref(this.#main, REGISTRY, this.#threadRef);
      this.#collectGarbage();
      this.thread = this.#newThread();
    } catch (cause) {
      this.broken = this.#failure(cause as Error);
    }
  }

  /**
   * Makes one of our functions callable from Lua. What it throws becomes a Lua error at the caller's line.
   */
  pushFunction(L: Pointer, call: (L: Pointer) => number): void {
    const slot = this.machine.addFunction((state) => {
      try {
        return call(state);
      } catch (thrown) {
        if (!isOurs(thrown)) throw thrown;
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

  /** Keeps the function on top of the stack, which collects garbage, for our own use. */
  keepCollector(): void {
    this.#collect = this.x.luaL_ref(this.thread, REGISTRY);
  }

  ref(): number {
    return this.x.luaL_ref(this.thread, REGISTRY);
  }

  // ---------------------------------------------------------------- failures

  /**
   * Called when the fuel is used up. The first time it adds a little, so that the hook can stop at a known
   * line. The second time it gives up.
   */
  #empty(): void {
    if (this.machine.fuel < -HARD_LIMIT)
      throw new LuaMachineFailure("it was stuck inside the garbage collector or a table");
    if (this.#draining) throw new CutOff(this.thread);
    this.#draining = true;
    this.machine.fuel = GRACE;
    this.x.lua_sethook(this.thread, this.#hook, MASK_COUNT, 1);
  }

  /** The call ended by itself before the hook could stop it. */
  #calm(): void {
    this.#draining = false;
    this.x.lua_sethook(this.thread, 0, 0, 0);
  }

  #cutOff(thrown: unknown): Error {
    this.machine.fuel = PLENTY;
    this.#draining = false;
    if (!(thrown instanceof CutOff)) {
      this.broken = this.#failure(thrown as Error);
      return this.broken;
    }
    const traceback = this.#tracebackOf(thrown.thread);
    this.recover();
    return new LuaError("it ran too long and was cut off", this.#chunk, { traceback });
  }

  #failure(cause: Error): Error {
    const message = `the interpreter failed (${cause.message}); the policy starts anew, without its state`;
    return new LuaError(message, this.#chunk, { cause });
  }

  #failed(status: number): Error {
    const message = this.clipped(this.thread, -1, MAX_MESSAGE) ?? "an error that is not text";
    const at = message.indexOf("\nstack traceback:\n");
    const traceback = at < 0 ? undefined : message.slice(at + 18);
    const error = new LuaError(at < 0 ? message : message.slice(0, at), this.#chunk, {
      ...(traceback !== undefined && { traceback }),
      syntax: status === STATUS_SYNTAX,
    });
    // Its stack may use most of the memory.
    if (status === STATUS_MEMORY) this.recover();
    else this.clear();
    return error;
  }

  /** The message handler of every call: adds the traceback while the stack still exists. */
  #explain(L: Pointer): number {
    const { x } = this;
    if (x.lua_type(L, 1) !== TYPE.string) x.luaL_tolstring(L, 1, 0);
    else x.lua_pushvalue(L, 1);
    x.luaL_traceback(L, L, x.lua_tolstring(L, -1, 0), 1);
    return 1;
  }

  /** The traceback of a thread that was cut off. Empty when memory is short. */
  #tracebackOf(of: Pointer): string {
    const { x } = this;
    try {
      x.luaL_traceback(this.#main, of, 0, 0);
      return (this.clipped(this.#main, -1, MAX_MESSAGE) ?? "").replace(/^stack traceback:\n/, "");
    } catch {
      return "";
    } finally {
      x.lua_settop(this.#main, 0);
    }
  }

  #collectGarbage(): void {
    if (this.#collect === undefined) return;
    this.x.lua_rawgeti(this.#main, REGISTRY, BigInt(this.#collect));
    this.x.lua_pcallk(this.#main, 0, 0, 0, 0, 0);
    this.x.lua_settop(this.#main, 0);
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

/** An error that the script may catch, not one that stops the machine. */
function isOurs(thrown: unknown): thrown is Error {
  return (
    thrown instanceof Error &&
    !(thrown instanceof OutOfFuel) &&
    !(thrown instanceof LuaMachineFailure) &&
    thrown.name !== "RuntimeError" &&
    !(thrown instanceof RangeError && thrown.message.includes("call stack"))
  );
}
