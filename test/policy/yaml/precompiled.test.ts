import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { RE2JS } from "re2js";
import { describe, expect, it } from "vitest";
import { loadYaml } from "../../../src/policy/yaml/load.js";
import { literalPrefixes } from "../../../src/policy/yaml/regular-expression.js";
import { Random } from "../../support/random.js";
import { NOWHERE, write } from "./policies.js";

const shipped = fileURLToPath(new URL("../../../policies", import.meta.url));
const names = readdirSync(shipped).filter((name) => /(?<!\.test)\.yaml$/.test(name));

/** The same policies with a byte more, so that nothing is known of them. */
function unknownCopy(): string {
  const folder = join(dirname(write("")), "copy");
  cpSync(shipped, folder, { recursive: true });
  for (const name of names) writeFileSync(join(folder, name), `${readFileSync(join(folder, name))}\n`);
  return folder;
}

describe("a policy that comes with HERMES", () => {
  const copy = unknownCopy();

  it.each(names)("is the same whether it is known or not: %s", async (name) => {
    const known = await loadYaml(join(shipped, name), NOWHERE);
    const read = await loadYaml(join(copy, name), NOWHERE);
    const view = ({ rules }: typeof known) =>
      inspect(rules, { depth: 6, maxArrayLength: null }).replaceAll(copy, shipped);
    expect(view(known)).toBe(view(read));
    expect(known.subscription.calls.size).toBe(read.subscription.calls.size);
    expect(known.subscription.constants).toEqual(read.subscription.constants);
  });

  it("is checked when it was changed", async () => {
    const text = readFileSync(join(shipped, "secrets.yaml"), "utf8");
    const broken = join(copy, "secrets.yaml");
    writeFileSync(broken, text.replace(/match: \[/, "match: [{ read: /nothing/of/the/kind }, "));
    await expect(loadYaml(broken, NOWHERE)).rejects.toThrow(/does not match its example/);
  });

  it("is checked again with the variables of a policy that the build does not know", async () => {
    const policy = (sockets: string) =>
      write(`name: own\nextends: workspace\nvariables: { sockets: ${sockets} }\nrules: []\n`);
    await loadYaml(policy("/run/postgresql/.s.PGSQL.5432"), NOWHERE);
    // The rule's own example says that docker's socket is refused.
    await expect(loadYaml(policy("/run/docker.sock"), NOWHERE)).rejects.toThrow(/does not match its example/);
  });
});

describe("what a regular expression's matches begin with", () => {
  it("is told of words and of alternatives", () => {
    expect(literalPrefixes("^git( push|-push)")).toEqual(["git"]);
    expect(literalPrefixes("^(ssh|scp)(\\s|$)")).toEqual(["ssh", "scp"]);
    expect(literalPrefixes("^((npm|yarn)( \\S+)* publish|docker push)")).toEqual([
      "npm",
      "yarn",
      "docker push",
    ]);
    expect(literalPrefixes("^gits?")).toEqual(["git"]);
  });

  it.each([
    "git",
    "^git|ssh",
    "^(?i)git",
    "^(git)?ssh",
    "^.git",
    "^g*it",
    "^(git|.*)x",
    "^(a|)b",
    "^\\w+",
    "^[a|b]c",
  ])("is not told where it cannot be: %s", (text) => expect(literalPrefixes(text)).toBeUndefined());

  it("loses no match", () => {
    const random = new Random(7);
    const parts = [
      "a",
      "b",
      "ab",
      "(",
      ")",
      "|",
      "?",
      "*",
      "+",
      "{0,1}",
      "[ab)]",
      "\\(",
      "\\|",
      ".",
      "$",
      " ",
      "^",
    ];
    const line = () =>
      Array.from({ length: random.below(6) }, () => random.pick(["a", "b", " ", "(", "|"])).join("");
    let told = 0;
    for (let i = 0; i < 20_000; i++) {
      const text = `^${Array.from({ length: 1 + random.below(8) }, () => random.pick(parts)).join("")}`;
      let compiled: RE2JS;
      try {
        compiled = RE2JS.compile(text);
      } catch {
        continue;
      }
      const starts = literalPrefixes(text);
      if (!starts) continue;
      told++;
      for (let j = 0; j < 20; j++) {
        const tried = line();
        if (compiled.matcher(tried).find())
          expect(
            starts.some((start) => tried.startsWith(start)),
            `${text} on "${tried}"`,
          ).toBe(true);
      }
    }
    expect(told).toBeGreaterThan(500);
  });
});
