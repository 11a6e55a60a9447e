import { SYSCALLS } from "../../abi/index.js";
import { type LuaEngine, REGISTRY } from "./engine.js";
import type { Pointer } from "./machine.js";
import { TYPE } from "./values.js";

/** Units of fuel for reading a field: our time and memory. */
const FIELD_COST = 20;
const VIEW_COST = 100;

/** One of our objects that Lua sees as a table. Each field is read on use. */
export interface LuaView {
  /** Pushes the value of a field: nil when there is none. */
  field(L: Pointer, key: string | number): void;
  /** The keys for `pairs`. */
  keys(): readonly (string | number)[];
  /** The value of `#`. */
  readonly length: number;
}

/** The views of the event being decided. Afterwards none of them works any more. */
export class LuaViews {
  readonly #engine: LuaEngine;
  readonly #metatable: bigint;
  readonly #next: bigint;
  readonly #live = new Map<Pointer, LuaView>();
  /** Lua has one object for each short string: the address of a name that is kept alive identifies it. */
  readonly #names = new Map<Pointer, string>();

  constructor(engine: LuaEngine, fieldNames: readonly string[]) {
    this.#engine = engine;
    const { x, thread: L } = engine;
    const names = new Set([...fieldNames, ...SYSCALLS.flatMap(({ args }) => args.map((a) => a.name))]);
    for (const name of names) {
      engine.pushText(L, name);
      this.#names.set(x.lua_tolstring(L, -1, 0), name);
      engine.ref();
    }
    engine.pushText(L, "next");
    x.lua_rawgeti(L, REGISTRY, GLOBALS);
    x.lua_rotate(L, -2, 1);
    x.lua_rawget(L, -2);
    this.#next = BigInt(engine.ref());
    engine.clear();
    this.#metatable = BigInt(this.#makeMetatable(L));
  }

  #makeMetatable(L: Pointer): number {
    const engine = this.#engine;
    const { x } = engine;
    const method = (name: string, call: (L: Pointer) => number) => {
      engine.pushText(L, name);
      engine.pushFunction(L, call);
      x.lua_rawset(L, -3);
    };
    x.lua_createtable(L, 0, 8);
    method("__index", (state) => this.#index(state));
    method("__len", (state) => {
      engine.push(state, this.#viewAt(state).length);
      return 1;
    });
    method("__pairs", (state) => this.#pairs(state));
    method("__newindex", () => {
      throw new Error("an event cannot be changed: answer with hermes.modify_arg, hermes.redirect …");
    });
    engine.setField(L, "__metatable", false);
    engine.setField(L, "__name", "hermes event");
    return engine.ref();
  }

  push(L: Pointer, view: LuaView): void {
    const { x } = this.#engine;
    this.#engine.charge(VIEW_COST);
    x.lua_createtable(L, 0, 0);
    x.lua_rawgeti(L, REGISTRY, this.#metatable);
    x.lua_setmetatable(L, -2);
    this.#live.set(x.lua_topointer(L, -1), view);
  }

  /** The event has been answered. */
  end(): void {
    this.#live.clear();
  }

  #viewAt(L: Pointer): LuaView {
    const view = this.#live.get(this.#engine.x.lua_topointer(L, 1));
    if (!view) throw new Error("this event has been answered: copy what you need while you decide");
    return view;
  }

  #index(L: Pointer): number {
    const { x } = this.#engine;
    this.#engine.charge(FIELD_COST);
    const view = this.#viewAt(L);
    const type = x.lua_type(L, 2);
    if (type === TYPE.string) {
      const name = this.#names.get(x.lua_tolstring(L, 2, 0));
      view.field(L, name ?? this.#engine.text(L, 2)!);
    } else if (type === TYPE.number) view.field(L, Number(x.lua_tonumberx(L, 2, 0)));
    else x.lua_pushnil(L);
    return 1;
  }

  /** next, a plain copy, nil. */
  #pairs(L: Pointer): number {
    const engine = this.#engine;
    const { x } = engine;
    const view = this.#viewAt(L);
    x.lua_rawgeti(L, REGISTRY, this.#next);
    x.lua_createtable(L, 0, 8);
    for (const key of view.keys()) {
      engine.push(L, key);
      view.field(L, key);
      x.lua_rawset(L, -3);
    }
    x.lua_pushnil(L);
    return 3;
  }
}

/** The registry's slot of the table of globals (LUA_RIDX_GLOBALS). */
export const GLOBALS = 2n;
