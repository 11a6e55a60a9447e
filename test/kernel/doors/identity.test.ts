import { describe, expect, it } from "vitest";
import { changesIdentity } from "../../../src/kernel/doors/door-plan.js";

const [SETUID, SETREGID, SETRESUID, SETGROUPS, GETUID] = [105, 114, 117, 116, 102];
const uid = process.getuid!();
const gid = process.getgid!();
const asked = (nr: number, ...values: number[]) => changesIdentity(nr, (i) => values[i]!);

describe("whether a call changes the user of a program", () => {
  it("does when it sets an id that is not ours, in any argument", () => {
    expect(asked(SETUID, uid + 1)).toBe(true);
    expect(asked(SETREGID, gid, gid + 1)).toBe(true);
    expect(asked(SETRESUID, uid, uid, uid + 7)).toBe(true);
  });

  it("does not when it sets what it is, or leaves it", () => {
    expect(asked(SETUID, uid)).toBe(false);
    expect(asked(SETREGID, -1, gid)).toBe(false);
    expect(asked(SETRESUID, uid, -1, uid)).toBe(false);
    expect(asked(GETUID)).toBe(false);
  });

  it("does whenever groups, capabilities or namespaces are set", () => {
    expect(asked(SETGROUPS, 0)).toBe(true);
  });
});
