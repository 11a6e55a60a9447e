export function fuzzed(commands: readonly string[], count: number, seed?: number): Generator<string>;
