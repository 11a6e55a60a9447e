/** The state that HERMES was started in and that Node does not keep; the `hermes` script notes it. */
export interface StartState {
  /** Bit n - 1: signal n was ignored, as nohup does. */
  readonly ignoredSignals: bigint;
  /** Descriptors for the program's 0, 1 and 2; -1 where there was none. */
  readonly stdio: readonly [number, number, number];
}

/** Reads the note and takes it out of the environment, which the program inherits. */
export function takeStartState(env: NodeJS.ProcessEnv = process.env): StartState {
  const [ignored = "", ...closed] = (env.HERMES_START ?? "").split(" ");
  delete env.HERMES_START;
  const fd = (n: number) => (closed.includes(String(n)) ? -1 : n);
  return {
    ignoredSignals: /^[0-9a-f]{16}$/.test(ignored) ? BigInt(`0x${ignored}`) : 0n,
    stdio: [fd(0), fd(1), fd(2)],
  };
}
