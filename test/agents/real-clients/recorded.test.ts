import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { AGENTS } from "../../../src/agents/hooks/agents.js";
import { judgeCall } from "../../../src/agents/hooks/judge.js";
import { readCall } from "../../../src/agents/hooks/read.js";
import { judgeResult } from "../../../src/agents/hooks/result.js";
import { hostGuard } from "../../../src/intent/guard/host.js";
import { CONTRACTS } from "../hooks/contract.js";
import { CLIENTS } from "./clients.js";
import { type Recorded, recordedFile } from "./record.js";

const guard = hostGuard({ workspace: "/place/project", cwd: "/place/project", home: "/place/home" });

/** What real clients told their hooks (`npm run agents -- --record`): the suite has no clients of its own. */
describe.each(CLIENTS.filter(({ wholeOnly }) => !wholeOnly))(
  "what $title told its hooks",
  ({ agent: name, version, tools }) => {
    const recorded: Recorded = JSON.parse(readFileSync(recordedFile(name), "utf8"));
    const agent = AGENTS.find((one) => one.name === name)!;
    const calls = recorded.inputs.map((input) => readCall(JSON.stringify(input), agent, {}));

    it("was recorded from the version that the table in docs/how-to/hooks.md is about", () => {
      expect(recorded.version).toBe(version);
      const page = readFileSync(new URL("../../../docs/how-to/hooks.md", import.meta.url), "utf8");
      expect(page).toContain(` ${version} |`);
    });

    it("names only tools that we know, or MCP servers' tools", () => {
      const unknown = calls.filter(
        ({ tool }) => !Object.hasOwn(agent.tools, tool) && !agent.servers.test(tool),
      );
      expect(unknown.map(({ tool }) => tool)).toEqual([]);
      expect(calls.some(({ tool }) => agent.servers.test(tool))).toBe(true);
      expect(calls.some(({ tool }) => agent.tools[tool]?.does === "search")).toBe(tools.search !== undefined);
    });

    it("is answered as its contract says: commands are seen, and so is what MCP servers returned", async () => {
      let commands = 0;
      for (const call of calls) {
        const judged =
          call.moment === "after"
            ? await judgeResult(call, agent, guard, {})
            : await judgeCall(call, agent, guard, "deny");
        expect([call.tool, judged.findings]).toEqual([call.tool, []]);
        if ("command" in judged) commands++;
        const refused = { action: "deny", reason: "because" } as const;
        CONTRACTS[name]![call.event]!.parse(JSON.parse(JSON.stringify(agent.answer(call, refused))));
      }
      expect(commands).toBeGreaterThanOrEqual(1 + tools.otherShells.length + (tools.helper ? 1 : 0));
    });
  },
);
