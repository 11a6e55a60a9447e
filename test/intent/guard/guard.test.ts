import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findings } from "../../../src/intent/guard/finding.js";
import { Guard } from "../../../src/intent/guard/guard.js";
import type { Layer } from "../../../src/intent/guard/layer.js";
import { LAYERS } from "../../../src/intent/guard/layers.js";
import { root } from "../../support/root.js";

const { allow, ask, deny } = findings("test");
const layer = (check: Layer["check"], more: Partial<Layer> = {}): Layer => ({
  name: "test",
  kinds: ["text"],
  check,
  ...more,
});
const text = { kind: "text", input: "hello" } as const;

describe("the guard", () => {
  it("allows a subject without findings", () => {
    expect(new Guard([]).check(text)).toEqual({ action: "allow", findings: [] });
  });

  it("lists its layers in the order in which they run, in the file to read first", () => {
    const head = readFileSync(join(root, "src/intent/guard/guard.ts"), "utf8").split("export interface")[0]!;
    const listed = [...head.matchAll(/^ \* {5}([a-z]+) {2,}\S/gm)].map((match) => match[1]);
    expect(listed).toEqual(LAYERS.map(({ name }) => name));
  });

  it("takes the strictest action and keeps all findings, in order", () => {
    const guard = new Guard([
      layer(() => [ask("a", "first")]),
      layer(() => [deny("b", "second")]),
      layer(() => [allow("c", "third")]),
    ]);
    const { action, findings } = guard.check(text);
    expect(action).toBe("deny");
    expect(findings.map((f) => f.rule)).toEqual(["a", "b", "c"]);
  });

  it("asks only the layers for this kind", () => {
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
    expect([action, findings[0]?.reason]).toEqual(["deny", "The layer test failed: broken"]);
  });

  it("judges subjects inside subjects with all layers, and refuses endless nesting", () => {
    const nested = new Guard([
      layer((_, context) => context.inspect({ kind: "url", input: "inner" })),
      layer(({ input }) => [deny("url", input)], { kinds: ["url"] }),
    ]);
    expect(nested.check(text).findings.map((f) => f.reason)).toEqual(["inner"]);
    const endless = new Guard([layer((subject, context) => context.inspect(subject))]);
    expect(endless.check(text).findings.map((f) => f.rule)).toEqual(["too-large"]);
  });

  it("uses the network last, and only without a refusal; a failed lookup denies", async () => {
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

  it("applies the configured actions of single rules", () => {
    const guard = new Guard([layer(() => [deny("a", "no")])], { actions: { a: "ask" } });
    expect(guard.check(text).action).toBe("ask");
  });
});
