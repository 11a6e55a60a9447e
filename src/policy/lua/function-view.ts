import type { FunctionEvent, FunctionReturnEvent } from "../../nouns/event.js";
import { noSuchField, pushProcess, type Scene } from "./event-view.js";
import type { Pointer } from "./machine.js";
import type { LuaView } from "./view.js";

/** Units of fuel for a piece of the program's memory. */
const READ_COST = 500;
const MOST_ARGUMENTS = 32;

export const FUNCTION_FIELDS = [
  "kind",
  "name",
  "module",
  "symbol",
  "address",
  "tid",
  "process",
  "time",
  "door",
  "args",
  "texts",
  "floats",
  "caller",
  "result",
  "result_text",
  "result_float",
  "value",
  "elapsed",
  "memory",
  "maps",
  "stack",
  "registers",
] as const;

/** `e`: a function call or its return, as a handler sees it. */
export class FunctionView implements LuaView {
  readonly length = 0;
  readonly #scene: Scene;
  readonly #event: FunctionEvent & Partial<FunctionReturnEvent>;

  constructor(scene: Scene, event: FunctionEvent) {
    this.#scene = scene;
    this.#event = event as FunctionEvent & Partial<FunctionReturnEvent>;
  }

  keys(): readonly string[] {
    return FUNCTION_FIELDS;
  }

  field(L: Pointer, key: string | number): void {
    const event = this.#event;
    const { engine, views } = this.#scene;
    const isReturn = event.kind === "function-return";
    switch (key) {
      case "kind":
      case "name":
      case "module":
      case "symbol":
      case "address":
      case "tid":
      case "time":
      case "door":
      case "elapsed":
        engine.push(L, event[key]);
        return;
      case "process":
        pushProcess(this.#scene, L, event.process);
        return;
      case "args":
        views.push(L, new ArgumentsView(this.#scene, (i) => event.argument(i), event));
        return;
      case "texts":
        views.push(L, new ArgumentsView(this.#scene, (i) => event.string(i)));
        return;
      case "floats":
        views.push(L, new ArgumentsView(this.#scene, (i) => event.float(i)));
        return;
      case "caller":
        engine.charge(READ_COST);
        engine.push(L, event.caller);
        return;
      case "result":
        engine.push(L, isReturn ? BigInt.asIntN(64, event.resultExact!) : undefined);
        return;
      case "result_text":
        engine.charge(READ_COST);
        engine.push(L, isReturn ? event.resultString!() : undefined);
        return;
      case "result_float":
        engine.push(L, isReturn ? event.resultFloat : undefined);
        return;
      case "value":
        engine.charge(READ_COST);
        engine.push(L, isReturn ? event.value : undefined);
        return;
      case "memory":
      case "maps":
      case "stack":
      case "registers":
        this.#scene.inside[key](L);
        return;
      default:
        throw noSuchField("a function's event", key, FUNCTION_FIELDS);
    }
  }
}

/** Arguments by number from 1, and by their names in the function's prototype. */
class ArgumentsView implements LuaView {
  readonly length = MOST_ARGUMENTS;
  readonly #scene: Scene;
  readonly #read: (i: number) => unknown;
  readonly #named: FunctionEvent | undefined;

  constructor(scene: Scene, read: (i: number) => unknown, named?: FunctionEvent) {
    this.#scene = scene;
    this.#read = read;
    this.#named = named;
  }

  keys(): readonly string[] {
    return this.#named ? Object.keys(this.#named.args).filter((name) => !/^\d+$/.test(name)) : [];
  }

  field(L: Pointer, key: string | number): void {
    const { engine } = this.#scene;
    engine.charge(READ_COST);
    if (typeof key === "string") engine.push(L, this.#named?.args[key]);
    else
      engine.push(
        L,
        Number.isInteger(key) && key >= 1 && key <= MOST_ARGUMENTS ? this.#read(key - 1) : undefined,
      );
  }
}
