import { describe, expect, test } from "vitest";
import { connect, event, open, rules } from "./policies.js";

describe("explain", () => {
  test("says which rule decided, and why each before it did not", async () => {
    const policy = await rules(
      "allow: connect",
      "deny: read, path: /a",
      "deny: read, user: root",
      "kill: read, path: /x/**",
    );
    const found = policy.explain(open("/x/y"));
    expect(found.verdict).toEqual(policy.decide(open("/x/y")));
    expect(found.rule).toBe("r4");
    expect(found.deeds).toHaveLength(1);
    expect(found.deeds[0]).toMatchObject({ does: ["read"], on: "/x/y", rule: "r4" });
    expect(found.deeds[0]!.steps.map(({ rule, matched, because }) => [rule, matched, because])).toEqual([
      ["r1", false, "allow: it is about connect"],
      ["r2", false, "path: /x/y is not in /a"],
      ["r3", false, "user: user 1000 is not in root"],
      ["r4", true, "every condition holds"],
    ]);
    expect(found.deeds[0]!.steps[1]!.at).toMatch(/policy-\d+\.yaml:4:5$/);
  });

  test("names each thing that a call does", async () => {
    const policy = await rules("allow: write, path: /ws/**", "deny: write");
    const { deeds, rule } = policy.explain(event("rename", { paths: ["/etc/a", "/ws/b"] }));
    expect(rule).toBe("r2");
    expect(deeds.map(({ does, on, rule }) => [does[0], does[1], on, rule])).toEqual([
      ["rename", "delete", "/etc/a", "r2"],
      ["rename", "create", "/ws/b", "r1"],
      ["rename", "delete", "/ws/b", "r1"],
    ]);
  });

  test("tells what was different for each kind of condition", async () => {
    const because = async (rule: string, call = open("/x", "O_RDWR")) =>
      (await rules(rule)).explain(call).deeds[0]!.steps[0]!.because;
    expect(await because("deny: read, flags: O_CREAT")).toBe("flags: its flags are O_RDWR");
    expect(await because("deny: read, process: /opt/x")).toBe("process: the program is /usr/bin/example");
    expect(await because("deny: connect, address: 10.0.0.1", connect("1.1.1.1:80"))).toBe(
      "address: 1.1.1.1:80 is not in 10.0.0.1",
    );
    expect(await because("deny: exec, argv: [git]", event("execve", { paths: ["/x"], argv: ["x"] }))).toBe(
      'argv: the command line ["x"] does not begin with git',
    );
    expect(await because("deny: read, when: { nth: 2 }")).toBe("when: not this time");
  });

  test("counts nothing", async () => {
    const policy = await rules("deny: read, when: { nth: 1 }");
    for (let i = 0; i < 3; i++) expect(policy.explain(open("/x")).rule).toBe("r1");
    expect(policy.decide(open("/x"))?.rule).toBe("r1");
    expect(policy.decide(open("/x"))).toBeUndefined();
    const rate = await rules("deny: read, rate: 1/day");
    for (let i = 0; i < 3; i++) expect(rate.explain(open("/x")).rule).toBeUndefined();
  });

  test("has nothing to say about calls that no rule names", async () =>
    expect((await rules("deny: read, path: /x")).explain(event("getpid"))).toEqual({
      verdict: undefined,
      rule: undefined,
      deeds: [],
    }));
});
