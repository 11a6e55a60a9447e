import { existsSync } from "node:fs";
import { HermesError } from "../../nouns/errors.js";
import { readWritten } from "../../offline/simulate/read.js";
import { loadPolicy } from "../../policy/load.js";
import { PolicyStack } from "../../policy/stack.js";
import { paint, print } from "../views/output.js";

/**
 * Runs the tests beside policies: a list of events, each with the expected action and optionally the rule. Loading a policy
 * has already checked the examples in its own rules. Exits 1 when a test fails.
 */
export async function policyTestCommand(files: string[]): Promise<number> {
  const p = paint(1);
  let passed = 0;
  let failed = 0;
  for (const file of files) {
    const policy = await loadPolicy(file);
    const tests = file.replace(/\.\w+$/, ".test.yaml");
    if (!existsSync(tests)) {
      print(`${file}: loads; it has no tests (${tests})\n`);
      continue;
    }
    const stack = new PolicyStack([policy], () => {}, []);
    for (const [i, test] of (await readWritten(tests)).entries()) {
      if (test.expect === undefined)
        throw new HermesError("EVENTS", {
          file: `${tests}, event ${i + 1}`,
          message: "a test needs `expect: allow|deny|…`",
        });
      const decision = stack.decide(test.event);
      const ok = decision.action === test.expect && (test.rule === undefined || decision.rule === test.rule);
      if (ok) passed++;
      else failed++;
      const found = `${decision.action}${decision.rule ? ` by ${decision.rule}` : ""}${decision.reason ? ` (${decision.reason})` : ""}`;
      const wanted = `${test.expect}${test.rule ? ` by ${test.rule}` : ""}`;
      if (!ok)
        print(`${p("red", "✗")} ${tests}, event ${i + 1}: ${test.text}: expected ${wanted}, got ${found}\n`);
    }
  }
  print(`${passed} passed, ${failed} failed\n`);
  return failed > 0 ? 1 : 0;
}
