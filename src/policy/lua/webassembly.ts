/** The part of WebAssembly that we use: TypeScript's libraries declare it for browsers only. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer;
  grow(pages: number): number;
}

export interface WasmTable {
  readonly length: number;
  get(slot: number): unknown;
  set(slot: number, value: unknown): void;
  grow(slots: number): number;
}

export type WasmModule = object;
type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

interface Api {
  readonly Module: new (binary: Uint8Array) => WasmModule;
  readonly Instance: new (module: WasmModule, imports: Imports) => { readonly exports: unknown };
}

const api = (globalThis as unknown as { WebAssembly: Api }).WebAssembly;

export function compile(binary: Uint8Array): WasmModule {
  return new api.Module(binary);
}

export function instantiate<Exports>(module: WasmModule, imports: Imports): Exports {
  return new api.Instance(module, imports).exports as Exports;
}
