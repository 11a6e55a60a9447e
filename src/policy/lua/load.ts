import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { basename, extname } from "node:path";
import { HermesError } from "../../nouns/errors.js";
import type { CallEvent, FunctionEvent, InstructionEvent, ReturnEvent } from "../../nouns/event.js";
import type { Verdict } from "../../nouns/verdict.js";
import type { FunctionSubscription, InstructionSubscription, Policy, Subscription } from "../policy.js";
import { NameError } from "./asked-names.js";
import type { Budgets } from "./engine.js";
import { LuaError } from "./error.js";
import { LuaScript, type ScriptHost, type ScriptSource } from "./script.js";
import type { LuaData } from "./values.js";

export interface LuaOptions {
  readonly budgets?: Partial<Budgets>;
  /** Where print and hermes.log go. */
  readonly log?: (policy: string, text: string) => void;
  /** The policy that this one replaces: its hermes.state is carried over. */
  readonly previous?: Policy;
}

const DEFAULT_BUDGETS: Budgets = { fuel: 20_000_000, memory: 64 * 1024 * 1024 };
const MAX_SOURCE = 1024 * 1024;
/** Lua shortens longer names in its messages. */
const MAX_CHUNK = 50;

/** Loads a policy written in Lua. Its code reaches nothing but the events that it decides. */
export async function loadLua(path: string, file: string, options: LuaOptions = {}): Promise<LuaPolicy> {
  const text = readFileSync(file);
  if (text.length > MAX_SOURCE)
    throw new HermesError("POLICY_INVALID", { file: path, message: `it is larger than ${MAX_SOURCE} bytes` });
  return new LuaPolicy(path, file, text, options);
}

export class LuaPolicy implements Policy {
  readonly version: string;
  readonly file: string;
  readonly #path: string;
  readonly #source: ScriptSource;
  readonly #host: ScriptHost;
  #script: LuaScript;

  constructor(path: string, file: string, text: Uint8Array, options: LuaOptions = {}) {
    this.#path = path;
    this.file = file;
    this.version = createHash("sha256").update(text).digest("hex").slice(0, 12);
    const name = basename(file, extname(file));
    this.#source = { chunk: basename(file).slice(-MAX_CHUNK), text, name };
    this.#host = {
      budgets: { ...DEFAULT_BUDGETS, ...options.budgets },
      log: options.log ?? ((policy, line) => console.error(`${policy}: ${line}`)),
    };
    const { previous } = options;
    this.#script = this.#load(previous instanceof LuaPolicy ? previous.exportState() : undefined);
  }

  get name(): string {
    return this.#script.name;
  }

  get subscription(): Subscription {
    return this.#script.subscription;
  }

  decide(event: CallEvent): Verdict | undefined {
    return this.#whole(() => this.#script.decide(event));
  }

  decideReturn(event: ReturnEvent): Verdict | undefined {
    return this.#whole(() => this.#script.decideReturn(event));
  }

  decideFunction(event: FunctionEvent, subscription: FunctionSubscription): Verdict | undefined {
    return this.#whole(() => this.#script.decideFunction(event, subscription));
  }

  decideInstruction(event: InstructionEvent, subscription: InstructionSubscription): Verdict | undefined {
    return this.#whole(() => this.#script.decideInstruction(event, subscription));
  }

  lint(): readonly string[] {
    return this.#script.lint();
  }

  locate(error: Error): string | undefined {
    return error instanceof LuaError && error.line !== undefined ? `${this.file}:${error.line}` : undefined;
  }

  /** hermes.state as plain data. */
  exportState(): LuaData {
    return this.#script.exportState();
  }

  importState(state: LuaData): void {
    this.#script.importState(state);
  }

  /**
   * A machine that stopped in the middle of its work is not trusted any more: the script restarts without its
   * state.
   */
  #whole<T>(act: () => T): T {
    try {
      return act();
    } catch (error) {
      if (error instanceof LuaError) error.locate(this.file, this.#source.chunk);
      if (this.#script.engine.broken) this.#script = this.#load(undefined);
      throw error;
    }
  }

  #load(state: LuaData | undefined): LuaScript {
    try {
      return new LuaScript(this.#source, this.#host, state);
    } catch (error) {
      throw this.#loadError(error as Error);
    }
  }

  #loadError(error: Error): Error {
    if (error instanceof HermesError) return error;
    if (error instanceof LuaError) error.locate(this.file, this.#source.chunk);
    const line = error instanceof LuaError || error instanceof NameError ? error.line : undefined;
    const syntax = error instanceof LuaError && error.syntax;
    return new HermesError(
      syntax ? "POLICY_SYNTAX" : "POLICY_INVALID",
      { file: line === undefined ? this.#path : `${this.#path}:${line}`, message: error.message },
      { cause: error },
    );
  }
}
