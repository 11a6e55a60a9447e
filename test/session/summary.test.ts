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

  const DENIED = { action: "deny", policy: "p", version: "1", rule: "r", reason: "No." } as const;
  const opened = (path: string) =>
    event("openat", { paths: [{ argument: "path", requested: path, path }], path });

  it("names what a rule refused: the first few in text, all counts in the report", () => {
    const summary = new Summary();
    for (const path of ["/a", "/b", "/a", "/c", "/d"]) summary.count(opened(path), DENIED);
    summary.count(event("connect", { address: { family: "ipv4", host: "10.0.0.1", port: 80 } }), DENIED);
    summary.count(event("execve", { argv: ["git", "push"] }), DENIED);
    const { decisions } = summary.report();
    expect(decisions.map(({ targets }) => targets)).toEqual([
      [
        { target: "/a", count: 2 },
        { target: "/b", count: 1 },
        { target: "/c", count: 1 },
        { target: "/d", count: 1 },
      ],
      [{ target: "10.0.0.1:80", count: 1 }],
      [{ target: "git push", count: 1 }],
    ]);
    const text = renderSummary(resultOf(summary));
    expect(text).toContain("p/r: No. (/a ×2, /b, /c, …)\n");
    expect(text).toContain("p/r: No. (10.0.0.1:80)\n");
  });

  it("shows hostile names harmlessly", () => {
    const summary = new Summary();
    summary.count(opened("/x\u001b[31m\u202e\n"), DENIED);
    summary.count(opened(`/${"y".repeat(5000)}`), DENIED);
    const text = renderSummary(resultOf(summary));
    expect(text).toContain("/x\\x1b[31m\\u202e\\x0a");
    expect(text).toMatch(/\/y{99}…\)\n/);
  });

  it("keeps a bounded number of targets, and says how many calls had others", () => {
    const summary = new Summary();
    for (let i = 0; i < 5000; i++) summary.count(opened(`/file${i}`), DENIED);
    const [{ count, targets, unlisted } = {}] = summary.report().decisions;
    expect([count, targets?.length, unlisted]).toEqual([5000, 100, 4900]);
    for (let rule = 0; rule < 900; rule++)
      for (let i = 0; i < 20; i++) summary.count(opened(`/file${i}`), { ...DENIED, rule: `r${rule}` });
    const all = summary.report().decisions.reduce((sum, one) => sum + (one.targets?.length ?? 0), 0);
    expect(all).toBe(10_000);
  });

  it("does not look up targets of calls that are only watched", () => {
    const summary = new Summary();
    const watched = { action: "allow", policy: "p", version: "1", watched: true } as const;
    const made = Object.defineProperty(event("openat"), "paths", {
      get: () => {
        throw new Error("looked up");
      },
    });
    summary.count(made, watched);
    summary.count(made, DENIED);
    expect(summary.report().decisions.map(({ targets }) => targets)).toEqual([undefined, undefined]);
  });

  it("tells a call that was delayed from one that was made to fail", () => {
    const summary = new Summary();
    const faulty = (fault: object) => ({ ...DENIED, action: "fault" as const, fault });
    summary.count(event("write"), faulty({}));
    summary.count(event("write"), faulty({ errno: "EIO" }));
    summary.count(event("write"), faulty({ errno: "EIO" }));
    const text = renderSummary(resultOf(summary));
    expect(text).toContain("2 made to fail · 1 delayed");
    expect(text).toMatch(/delay +write +×1/);
    expect(text).toMatch(/fault +write +×2/);
    expect(summary.report().byAction).toEqual({ fault: 3 });
  });
});
