/** What we use of WebAssembly: the compiler's libraries describe it for browsers only. */
export interface Memory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

export interface Table {
  readonly length: number;
  get(slot: number): unknown;
  set(slot: number, value: unknown): void;
  grow(slots: number): number;
}

export type Module = object;
type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface Api {
  readonly Module: new (binary: Uint8Array) => Module;
  readonly Instance: new (module: Module, imports: Imports) => { readonly exports: unknown };
}

const api = (globalThis as unknown as { WebAssembly: Api }).WebAssembly;

export function compile(binary: Uint8Array): Module {
  return new api.Module(binary);
}

export function instantiate<Exports>(module: Module, imports: Imports): Exports {
  return new api.Instance(module, imports).exports as Exports;
}
