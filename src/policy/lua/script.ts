import type { CallEvent, FunctionEvent, InstructionEvent } from "../../nouns/event.js";
import { VERDICT_ACTIONS, type Verdict, type VerdictAction } from "../../nouns/verdict.js";
import { constantRules, type LooseRule } from "../define.js";
import { type FunctionPattern, namesFunction, parseFunctionPattern } from "../function-pattern.js";
import { namesInstruction, parseInstructionPattern } from "../instruction-pattern.js";
import type {
  CallSubscription,
  ConstantRule,
  FunctionSubscription,
  InstructionSubscription,
  Subscription,
} from "../policy.js";
import { Answers } from "./answers.js";
import { type AskedName, AskedNames, subscribedWord } from "./asked-names.js";
import { type Budgets, LuaEngine, REGISTRY } from "./engine.js";
import { LuaError } from "./error.js";
import { ArgsView, EventView, FIELD_NAMES, type Scene } from "./event-view.js";
import { FUNCTION_FIELDS, FunctionView } from "./function-view.js";
import { insideFunctions, looksInside } from "./inside.js";
import { InstructionView } from "./instruction-view.js";
import type { Pointer } from "./machine.js";
import { mentionedBy } from "./mentioned.js";
import { DEFAULT_SUBSCRIPTION } from "./names.js";
import { actionsOf, callsOf, namesOf, ruleOf, whenBoth, withoutPrefix } from "./registration.js";
import { openLibraries, pushGlobal, setGlobalFromTop } from "./sandbox.js";
import { seldomMade } from "./seldom-made.js";
import { type LuaData, TYPE } from "./values.js";
import { type LuaView, LuaViews } from "./view.js";

export interface ScriptSource {
  /** The script's name in Lua's messages. */
  readonly chunk: string;
  readonly text: Uint8Array;
  /** The policy's name, unless the script sets hermes.name. */
  readonly name: string;
}

export interface ScriptHost {
  readonly budgets: Budgets;
  log(policy: string, text: string): void;
}

interface Handler {
  readonly ref: bigint;
  /** "name": on_syscall(name, args). "event": a handler that takes an event. */
  readonly form: "event" | "name";
}

interface Registration extends Handler {
  readonly nrs: readonly number[];
  readonly part: "entry" | "returns";
  readonly actions: ReadonlySet<VerdictAction> | undefined;
  /** The policy declared that it reads stacks or registers. */
  readonly inside: boolean;
  /** Those named explicitly, not only by "*". */
  readonly named: ReadonlySet<number>;
  /** Calls that it needs only with some register arguments. */
  readonly when?: ReadonlyMap<number, CallSubscription["when"]>;
}

interface FunctionHandlers {
  readonly pattern: FunctionPattern;
  readonly handlers: (Handler & Pick<Registration, "part" | "actions">)[];
}

/** Loading gets this many times the fuel of a decision. */
const LOADING = 10;
/** A line of the log costs a system call. */
const LOG_COST = 2_000;
const MAX_LOG = 4096;
const EVERYTHING: ReadonlySet<VerdictAction> = new Set(VERDICT_ACTIONS);
/** The actions of a script that never mentions hermes: it can only return words. */
const WORDS_ONLY: ReadonlySet<VerdictAction> = new Set<VerdictAction>(["allow", "deny", "kill", "ask"]);

/** One loaded script: its state, its handlers and its subscription. */
export class LuaScript {
  readonly engine: LuaEngine;
  readonly subscription: Subscription;
  name: string;
  readonly #host: ScriptHost;
  readonly #answers: Answers;
  readonly #views: LuaViews;
  readonly #scene: Scene;
  readonly #hermes: bigint;
  readonly #registrations: Registration[] = [];
  readonly #functions: FunctionHandlers[] = [];
  readonly #constants: ConstantRule[] = [];
  readonly #instructions: (Handler & { readonly interest: InstructionSubscription })[] = [];
  readonly #entries = new Map<number, Handler[]>();
  readonly #returns = new Map<number, Handler[]>();
  #askedNames: AskedNames | undefined;
  #loading = true;

  constructor(source: ScriptSource, host: ScriptHost, state?: LuaData) {
    this.#host = host;
    this.name = source.name;
    this.engine = new LuaEngine(source.chunk, host.budgets);
    const { engine } = this;
    openLibraries(engine);
    this.#answers = new Answers(engine, () => this.name);
    this.#views = new LuaViews(engine, [...FIELD_NAMES, ...FUNCTION_FIELDS]);
    this.#scene = this.#makeScene();
    this.#hermes = BigInt(this.#makeHermes());
    if (state !== undefined) this.importState(state);
    engine.load(source.text);
    engine.call(0, 0, host.budgets.fuel * LOADING);
    engine.clear();
    this.subscription = this.#subscribe(source);
    this.#loading = false;
  }

  // ---------------------------------------------------------------- deciding

  decide(event: CallEvent): Verdict | undefined {
    return this.#ask(this.#entries.get(event.nr), event);
  }

  decideReturn(event: CallEvent): Verdict | undefined {
    return this.#ask(this.#returns.get(event.nr), event);
  }

  decideFunction(event: FunctionEvent, { index }: FunctionSubscription): Verdict | undefined {
    const { handlers } = this.#functions[index]!;
    const wanted = handlers.filter(({ part }) => (part === "returns") === (event.kind === "function-return"));
    const view = () => new FunctionView(this.#scene, event);
    return wanted.length === 0 ? undefined : this.#ask(wanted, event as unknown as CallEvent, view);
  }

  decideInstruction(event: InstructionEvent, { index }: InstructionSubscription): Verdict | undefined {
    const view = () => new InstructionView(this.#scene, event);
    return this.#ask([this.#instructions[index]!], event as unknown as CallEvent, view);
  }

  #ask(
    handlers: readonly Handler[] | undefined,
    event: CallEvent,
    view: () => LuaView = () => new EventView(this.#scene, event),
  ): Verdict | undefined {
    if (!handlers) return undefined;
    const { engine } = this;
    const { x } = engine;
    this.#answers.begin(event);
    try {
      for (const { ref, form } of handlers) {
        if (form === "name")
          for (const name of this.#askedNames!.of(event)) this.#askByName(ref, name, event);
        else {
          x.lua_rawgeti(engine.thread, REGISTRY, ref);
          this.#views.push(engine.thread, view());
          engine.call(1, 1);
          this.#answers.returned(engine.thread, -1);
          engine.clear();
        }
      }
    } catch (error) {
      if (!(error instanceof LuaError)) engine.recover();
      this.#answers.end();
      throw error;
    } finally {
      this.#views.end();
    }
    return this.#answers.end();
  }

  #askByName(ref: bigint, { text, word }: AskedName, event: CallEvent): void {
    const { engine } = this;
    const L = engine.thread;
    engine.x.lua_rawgeti(L, REGISTRY, ref);
    engine.pushText(L, text);
    this.#views.push(L, new ArgsView(this.#scene, event, word?.shape));
    engine.call(2, 1);
    this.#answers.returned(L, -1);
    engine.clear();
  }

  lint(): readonly string[] {
    const named = (nr: number) => this.#registrations.some((one) => one.named.has(nr));
    return seldomMade(named).map((text) => `${this.name}: ${text}`);
  }

  // ---------------------------------------------------------------- state

  exportState(): LuaData {
    const { engine } = this;
    const L = engine.thread;
    engine.x.lua_rawgeti(L, REGISTRY, this.#hermes);
    engine.getField(L, -1, "state");
    try {
      return engine.data(L, -1);
    } finally {
      engine.clear();
    }
  }

  /** Replaces the content of the state table; the table object stays the same. */
  importState(state: LuaData): void {
    if (!(state instanceof Map)) throw new TypeError("the state of a policy is a table");
    const { engine } = this;
    const { x, thread: L } = engine;
    x.lua_rawgeti(L, REGISTRY, this.#hermes);
    if (engine.getField(L, -1, "state") !== TYPE.table) {
      x.lua_settop(L, -2);
      x.lua_createtable(L, 0, 0);
      engine.pushText(L, "state");
      x.lua_pushvalue(L, -2);
      x.lua_rawset(L, -4);
    }
    const keys: LuaData[] = [];
    engine.each(L, -1, () => keys.push(engine.data(L, -2)));
    for (const key of keys) {
      engine.pushData(L, key);
      x.lua_pushnil(L);
      x.lua_rawset(L, -3);
    }
    for (const [key, value] of state) {
      engine.pushData(L, key);
      engine.pushData(L, value);
      x.lua_rawset(L, -3);
    }
    engine.clear();
  }

  // ---------------------------------------------------------------- the table `hermes`

  #makeScene(): Scene {
    const { engine } = this;
    return { engine, views: this.#views, inside: insideFunctions(engine, () => this.#current()) };
  }

  #current(): CallEvent | FunctionEvent {
    const { event } = this.#answers;
    if (!event) throw new Error("this event has been answered: copy what you need while you decide");
    return event;
  }

  #makeHermes(): number {
    const { engine } = this;
    const { x, thread: L } = engine;
    x.lua_createtable(L, 0, 32);
    const method = (name: string, call: (L: Pointer) => number) => {
      engine.pushText(L, name);
      engine.pushFunction(L, call);
      x.lua_rawset(L, -3);
    };
    for (const [name, make] of Object.entries(this.#answers.functions()))
      method(name, (state) => this.#answers.answer(state, name, make));
    method("on", (state) => this.#on(state, undefined));
    method("on_return", (state) => this.#on(state, "returns"));
    method("rule", (state) => this.#rule(state));
    method("log", (state) => this.#print(state));
    method("time", (state) => {
      x.lua_pushnumber(state, this.#answers.event?.time ?? Date.now() / 1000);
      return 1;
    });
    engine.setField(L, "state", {});
    x.lua_pushvalue(L, -1);
    const ref = engine.ref();
    setGlobalFromTop(engine, "hermes");
    engine.pushFunction(L, (state) => this.#print(state));
    setGlobalFromTop(engine, "print");
    engine.clear();
    return ref;
  }

  #print(L: Pointer): number {
    const { engine } = this;
    const words: string[] = [];
    for (let i = 1, count = engine.x.lua_gettop(L); i <= count; i++) {
      engine.x.luaL_tolstring(L, i, 0);
      words.push(engine.clipped(L, -1, MAX_LOG)!);
      engine.x.lua_settop(L, -2);
    }
    const text = words.join("\t");
    engine.charge(LOG_COST + text.length);
    this.#host.log(this.name, text.length > MAX_LOG ? `${text.slice(0, MAX_LOG)}…` : text);
    return 0;
  }

  /** hermes.on(names, [options,] handler) */
  #on(L: Pointer, part: "returns" | undefined): number {
    const { engine } = this;
    if (!this.#loading)
      throw new Error("handlers are registered while the policy loads, not inside a handler");
    const hasOptions = engine.type(L, 2) === TYPE.table;
    const at = hasOptions ? 3 : 2;
    if (engine.type(L, at) !== TYPE.function)
      throw new TypeError(`hermes.on needs a function, not ${engine.typeName(L, at)}`);
    const names = namesOf(engine.value(L, 1));
    const options = hasOptions ? (engine.value(L, 2) as Record<string, unknown>) : {};
    for (const key of Object.keys(options))
      if (key !== "actions" && key !== "inside")
        throw new TypeError(`hermes.on has the options actions and inside, not "${key}"`);
    const actions = actionsOf(options.actions);
    engine.x.lua_pushvalue(L, at);
    const ref = BigInt(engine.x.luaL_ref(L, REGISTRY));
    const byPart = new Map<Registration["part"], number[]>();
    const named = new Set<number>();
    for (const name of names.filter((name) => namesFunction(name.replace(/^return:/, ""))))
      this.#onFunction(name, { ref, form: "event" }, part, actions);
    for (const name of names) {
      if (namesFunction(name.replace(/^return:/, ""))) continue;
      if (namesInstruction(name)) {
        if (part === "returns") throw new Error(`${name}: an instruction has no return: use hermes.on`);
        const index = this.#instructions.length;
        const subscription = { ...parseInstructionPattern(name), actions: actions ?? EVERYTHING, index };
        this.#instructions.push({ ref, form: "event", interest: subscription });
        continue;
      }
      const isReturn = part === "returns" || name.startsWith("return:");
      const call = name.replace(/^return:/, "");
      const calls = callsOf(call);
      if (call !== "*") for (const { nr } of calls) named.add(nr);
      const key = isReturn ? "returns" : "entry";
      byPart.set(key, [...(byPart.get(key) ?? []), ...calls.map((call) => call.nr)]);
    }
    for (const [key, nrs] of byPart)
      this.#registrations.push({
        ref,
        form: "event",
        nrs,
        part: key,
        actions,
        inside: options.inside === true,
        named,
      });
    return 0;
  }

  #onFunction(
    name: string,
    handler: Handler,
    part: "returns" | undefined,
    actions: ReadonlySet<VerdictAction> | undefined,
  ): void {
    const isReturn = part === "returns" || name.startsWith("return:");
    const text = name.replace(/^return:/, "");
    const pattern = parseFunctionPattern(text);
    let known = this.#functions.find((one) => one.pattern.text === text);
    if (!known) {
      known = { pattern, handlers: [] };
      this.#functions.push(known);
    }
    known.handlers.push({ ...handler, part: isReturn ? "returns" : "entry", actions });
  }

  #rule(L: Pointer): number {
    if (!this.#loading) throw new Error("rules are made while the policy loads, not inside a handler");
    const rule = this.engine.value(L, 1);
    if (typeof rule !== "object" || rule === null) throw new TypeError("hermes.rule takes a table");
    this.#constants.push(...withoutPrefix(() => constantRules("lua", ruleOf(rule as LooseRule))));
    return 0;
  }

  // ---------------------------------------------------------------- the script's subscription

  #subscribe(source: ScriptSource): Subscription {
    const { engine } = this;
    const L = engine.thread;
    engine.x.lua_rawgeti(L, REGISTRY, this.#hermes);
    engine.getField(L, -1, "name");
    this.name = engine.text(L, -1) ?? this.name;
    engine.x.lua_settop(L, -2);
    engine.getField(L, -1, "actions");
    const actions = actionsOf(engine.value(L, -1)) ?? EVERYTHING;
    engine.clear();
    this.#registerOnSyscall(source);
    const instructions = this.#instructions.map(({ interest }) => interest);
    const inside = instructions.length + this.#functions.length;
    if (this.#registrations.length + this.#constants.length + inside === 0)
      throw new Error("it decides nothing: define on_syscall(name, args), or call hermes.on or hermes.rule");
    const calls = new Map<number, CallSubscription>();
    const mentioned = looksInside(source.text);
    for (const registration of this.#registrations) {
      const handlers = registration.part === "entry" ? this.#entries : this.#returns;
      for (const nr of new Set(registration.nrs)) {
        handlers.set(nr, [...(handlers.get(nr) ?? []), registration]);
        const known = calls.get(nr);
        calls.set(nr, {
          entry: registration.part === "entry" || (known?.entry ?? false),
          returns: registration.part === "returns" || (known?.returns ?? false),
          actions: new Set([...(known?.actions ?? []), ...(registration.actions ?? actions)]),
          ...((mentioned || registration.inside || known?.inside) && { inside: true as const }),
          ...((registration.named.has(nr) || known?.named) && { named: true }),
          ...whenBoth(known, registration.when?.get(nr)),
        });
      }
    }
    const functions = this.#functions.map(({ pattern, handlers }, index) => ({
      pattern,
      entry: handlers.some(({ part }) => part === "entry"),
      returns: handlers.some(({ part }) => part === "returns"),
      actions: new Set(handlers.flatMap((handler) => [...(handler.actions ?? actions)])),
      index,
    }));
    return {
      calls,
      constants: this.#constants,
      ...(functions.length > 0 && { functions }),
      ...(instructions.length > 0 && { instructions }),
    };
  }

  #registerOnSyscall(source: ScriptSource): void {
    const { engine } = this;
    const L = engine.thread;
    const type = pushGlobal(engine, "on_syscall");
    if (type === TYPE.nil) {
      engine.clear();
      return;
    }
    if (type !== TYPE.function)
      throw new Error(`on_syscall must be a function, not a ${engine.typeName(L, -1)}`);
    const ref = BigInt(engine.ref());
    pushGlobal(engine, "subscribe");
    const isNamed = engine.type(L, -1) !== TYPE.nil;
    const wanted = isNamed ? namesOf(engine.value(L, -1), "subscribe") : DEFAULT_SUBSCRIPTION;
    engine.clear();
    const own = wanted.flatMap((name) => (subscribedWord(name) ? [] : callsOf(name).map((call) => call.nr)));
    const text = Buffer.from(source.text);
    const subscribed = isNamed ? wanted.flatMap((name) => subscribedWord(name) ?? []) : undefined;
    this.#askedNames = new AskedNames(own, mentionedBy(text.toString("latin1")), subscribed);
    const { added } = this.#askedNames;
    const nrs = [...own, ...added.keys()];
    const mentionsHermes = text.includes("hermes");
    this.#registrations.push({
      ref,
      form: "name",
      nrs,
      part: "entry",
      actions: mentionsHermes ? undefined : WORDS_ONLY,
      inside: false,
      named: new Set(wanted.includes("*") ? [] : nrs),
      when: added,
    });
  }
}
