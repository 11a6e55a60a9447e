import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { EFFECTS } from "../../../src/policy/effects.js";
import { ADDRESS_WORDS } from "../../../src/policy/match/address.js";
import { ACTION_KEYS } from "../../../src/policy/yaml/action.js";
import { ruleSchema } from "../../../src/policy/yaml/schema.js";
import { root } from "../../support/root.js";
import { load } from "./policies.js";

const text = readFileSync(join(root, "docs/reference/yaml.md"), "utf8");
const blocks = [...text.matchAll(/^```yaml\n([\s\S]*?)^```/gm)].map((match) => ({
  line: text.slice(0, match.index).split("\n").length + 1,
  yaml: match[1]!,
}));

describe("docs/reference/yaml.md", () => {
  test.each(blocks)("the policy at line $line loads", async ({ yaml }) =>
    expect((await load(yaml)).rules.length).toBeGreaterThan(0),
  );

  test("names every effect, action, key and word for addresses", () => {
    const missing = [
      ...Object.keys(EFFECTS),
      ...ACTION_KEYS,
      ...Object.keys(ruleSchema.shape),
      ...Object.keys(ADDRESS_WORDS),
    ].filter((word) => !new RegExp(`\\b${word}\\b`).test(text));
    expect(missing).toEqual([]);
  });
});

describe("schemas/policy.schema.json", () => {
  test("is made from the schema that loading checks with", () => {
    execFileSync("node", ["scripts/schema.mjs", "--check"], { cwd: root, stdio: "pipe" });
  });

  test("knows every key of a rule and wants one action", () => {
    const schema = JSON.parse(readFileSync(join(root, "schemas/policy.schema.json"), "utf8"));
    const rule = schema.properties.rules.items;
    expect(Object.keys(rule.properties)).toEqual(Object.keys(ruleSchema.shape));
    expect(rule.additionalProperties).toBe(false);
    expect(rule.oneOf.map(({ required }: { required: string[] }) => required[0])).toEqual([...ACTION_KEYS]);
    for (const [key, value] of Object.entries(rule.properties))
      expect((value as { description?: string }).description, key).toBeTruthy();
  });
});
