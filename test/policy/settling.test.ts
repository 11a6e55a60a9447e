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
  for (const { on, subtree, holds, does } of callEffects(call.nr)) {
    const onFd = does.includes("fsetattr");
    expect(on).toEqual(
      onFd ? { kind: "fd", argument: call.args[fd]!.name } : { kind: "path", argument: argument.name },
    );
    expect(subtree).toBeUndefined();
    // Whether it does this is told by the flags alone, and by whether there is a path: nothing else is asked for.
    const isThere = (i: number) => (i === paths[0] ? 0n : expect.fail(`${name} looks at argument ${i}`));
    const event = new Proxy(
      {},
      { get: (_, key) => (key === "argument" ? isThere : expect.fail(`${name} looks at ${String(key)}`)) },
    );
    holds?.(0, event as never);
  }
});
