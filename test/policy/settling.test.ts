import { expect, it } from "vitest";
import { syscallByName } from "../../src/abi/index.js";
import { callShape } from "../../src/kernel/decode/call-shape.js";
import { callEffects, ON_ONE_FILE } from "../../src/policy/call-effects.js";
import { flagsArgument } from "../../src/policy/match/flags.js";

/** What src/session/verdict-cache.ts takes for granted of the calls whose answers may stand. */
it.each([...ON_ONE_FILE])("%s is about one file, and its flags are in one register", (name) => {
  const call = syscallByName(name)!;
  const { paths, flags, how, fd, changesDescriptor } = callShape(call);
  expect(paths).toHaveLength(changesDescriptor ? 0 : 1);
  expect(how).toBe(-1);
  const looked = flagsArgument(call)?.index;
  if (looked !== undefined) expect(flags).toBe(looked);
  const argument = call.args[paths[0] ?? fd]!;
  for (const spec of [argument.follow, argument.noFollowAll]) {
    const index = spec?.match(/(\d+):\d+$/)?.[1];
    if (index !== undefined) expect(Number(index)).toBe(flags);
  }
  for (const { on, subtree, holds } of callEffects(call.nr)) {
    expect(on).toEqual({ kind: changesDescriptor ? "fd" : "path", argument: argument.name });
    expect(subtree).toBeUndefined();
    // Whether it does this is told by the flags alone: nothing else is asked for.
    const event = new Proxy({}, { get: (_, key) => expect.fail(`${name} looks at ${String(key)}`) });
    holds?.(0, event as never);
  }
});
