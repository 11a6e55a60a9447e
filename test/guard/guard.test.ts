import { describe, expect, it } from "vitest";
import { findings } from "../../src/guard/finding.js";
import { Guard } from "../../src/guard/guard.js";
import type { Layer } from "../../src/guard/layer.js";

const { allow, ask, deny } = findings("test");
const layer = (check: Layer["check"], more: Partial<Layer> = {}): Layer => ({
  name: "test",
  kinds: ["text"],
  check,
  ...more,
});
const text = { kind: "text", input: "hello" } as const;

describe("the guard", () => {
  it("allows what no layer has found anything in", () => {
    expect(new Guard([]).check(text)).toEqual({ action: "allow", findings: [] });
  });

  it("takes the strictest of all findings and keeps them all, in order", () => {
    const guard = new Guard([
      layer(() => [ask("a", "first")]),
      layer(() => [deny("b", "second")]),
      layer(() => [allow("c", "third")]),
    ]);
    const { action, findings } = guard.check(text);
    expect(action).toBe("deny");
    expect(findings.map((f) => f.rule)).toEqual(["a", "b", "c"]);
  });

  it("asks only layers that know the kind", () => {
    const guard = new Guard([layer(() => [deny("a", "no")], { kinds: ["url"] })]);
    expect(guard.check(text).action).toBe("allow");
  });

  it("refuses when a layer throws", () => {
    const guard = new Guard([
      layer(() => {
        throw new Error("broken");
      }),
    ]);
    const { action, findings } = guard.check(text);
    expect([action, findings[0]?.reason]).toEqual(["deny", "This layer could not judge: broken"]);
  });

  it("judges subjects inside subjects with all layers, and refuses endless ones", () => {
    const nested = new Guard([
      layer((_, context) => context.inspect({ kind: "url", input: "inner" })),
      layer(({ input }) => [deny("url", input)], { kinds: ["url"] }),
    ]);
    expect(nested.check(text).findings.map((f) => f.reason)).toEqual(["inner"]);
    const endless = new Guard([layer((subject, context) => context.inspect(subject))]);
    expect(endless.check(text).findings.map((f) => f.rule)).toEqual(["too-large"]);
  });

  it("asks the network last, and only when nothing denied; a failed lookup denies", async () => {
    let asked = 0;
    const lookup = async () => {
      asked++;
      return [ask("dns", "private address")];
    };
    expect((await new Guard([layer(() => [deny("a", "no")], { lookup })]).judge(text)).action).toBe("deny");
    expect(asked).toBe(0);
    expect((await new Guard([layer(() => [], { lookup })]).judge(text)).action).toBe("ask");
    const broken = layer(() => [], { lookup: () => Promise.reject(new Error("no answer")) });
    expect((await new Guard([broken]).judge(text)).action).toBe("deny");
  });

  it("does as configuration says of single rules", () => {
    const guard = new Guard([layer(() => [deny("a", "no")])], { actions: { a: "ask" } });
    expect(guard.check(text).action).toBe("ask");
  });
});
