import type { InstructionEvent } from "../../nouns/event.js";
import { noSuchField, pushProcess, type Scene } from "./event-view.js";
import type { Pointer } from "./machine.js";
import type { LuaView } from "./view.js";

const FIELDS = [
  ...["kind", "name", "door", "time", "tid", "process", "address", "module"],
  ...["value", "leaf", "subleaf", "cpuid", "memory", "maps", "stack", "registers"],
];

/** `e`: an instruction as a handler sees it. 64-bit numbers are Lua integers. */
export class InstructionView implements LuaView {
  readonly length = 0;
  readonly #scene: Scene;
  readonly #event: InstructionEvent;

  constructor(scene: Scene, event: InstructionEvent) {
    this.#scene = scene;
    this.#event = event;
  }

  keys(): readonly string[] {
    return FIELDS;
  }

  field(L: Pointer, key: string | number): void {
    const { engine } = this.#scene;
    const event = this.#event;
    switch (key) {
      case "process":
        pushProcess(this.#scene, L, event.process);
        return;
      case "memory":
      case "maps":
      case "stack":
      case "registers":
        this.#scene.inside[key](L);
        return;
      case "kind":
      case "name":
      case "door":
      case "time":
      case "tid":
      case "address":
      case "module":
      case "value":
      case "leaf":
      case "subleaf":
      case "cpuid":
        engine.push(L, event[key]);
        return;
      default:
        throw noSuchField("an instruction", key, FIELDS);
    }
  }
}
