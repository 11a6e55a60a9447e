import { describe, expect, it } from "vitest";
import { renderSummary } from "../../src/cli/views/summary.js";
import { PolicyStack } from "../../src/policy/stack.js";
import type { SessionResult } from "../../src/session/options.js";
import { Summary } from "../../src/session/summary.js";
import { event, lua } from "../policy/lua/events.js";

function resultOf(summary: Summary): SessionResult {
  const protections = { doors: ["notify"], filterInstructions: 1, fence: "none", inForce: [], missing: [] };
  return {
    exitCode: 0,
    pid: 1,
    summary: summary.report(),
    protections: protections as never,
    policies: [],
    reloads: 0,
    problems: [],
  };
}

describe("the summary of a run", () => {
  it("counts one call, and several calls", () => {
    const summary = new Summary();
    const allowed = { action: "allow", policy: "p", version: "1" } as const;
    summary.count(event("getppid"), allowed);
    expect(renderSummary(resultOf(summary))).toContain("· 1 call seen");
    summary.count(event("getppid"), allowed);
    expect(renderSummary(resultOf(summary))).toContain("· 2 calls seen");
  });

  it("reports each failure of a policy with its own reason: an error, then a loop that is cut off", () => {
    const policy = lua(`local failed = false
      hermes.on("getppid", function(e)
        if not failed then failed = true error("no such thing") end
        while true do end
      end)`);
    const stack = new PolicyStack([policy], () => undefined);
    const summary = new Summary(true);
    for (let i = 0; i < 3; i++) {
      const made = event("getppid");
      summary.count(made, stack.decide(made));
    }
    const { decisions, deeds } = summary.report();
    for (const list of [decisions, deeds!])
      expect(list.map(({ count, reason }) => [count, reason]).sort()).toEqual([
        [1, expect.stringContaining("no such thing")],
        [2, expect.stringContaining("it ran too long and was cut off")],
      ]);
  });
});
