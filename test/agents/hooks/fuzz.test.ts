import { describe, expect, it } from "vitest";
import type { HookDecision } from "../../../src/agents/hooks/agent.js";
import { AGENTS } from "../../../src/agents/hooks/agents.js";
import { judgeCall } from "../../../src/agents/hooks/judge.js";
import { readCall, UnreadableInput } from "../../../src/agents/hooks/read.js";
import { judgeResult } from "../../../src/agents/hooks/result.js";
import { UnreadableCall } from "../../../src/agents/hooks/tools.js";
import { unwrapped, wrapped } from "../../../src/agents/hooks/wrap.js";
import { hostGuard } from "../../../src/intent/guard/host.js";
import { Random } from "../../support/random.js";
import { CONTRACTS } from "./contract.js";

const guard = hostGuard({ workspace: "/tmp" });

describe.each(AGENTS)("inputs of $name made at random", (agent) => {
  it("are refused as unreadable, or answered as the contract says", async () => {
    const random = new Random(20261115);
    let answered = 0;
    for (let i = 0; i < 600; i++) {
      const text = mutated(example(agent.name, random), random);
      try {
        const call = readCall(text, agent, {});
        const judged =
          call.moment === "after"
            ? await judgeResult(call, agent, guard, {})
            : await judgeCall(call, agent, guard, random.pick(["allow", "ask", "deny"]));
        const decision: HookDecision = {
          action: judged.action,
          reason: "because",
          ...("command" in judged && { input: { ...call.input, command: wrapped("x", WRAPPING) } }),
          ...("output" in judged && { output: judged.output! }),
        };
        const answer = agent.answer(call, decision);
        if (answer === undefined) expect(decision.action === "deny").toBe(false);
        else CONTRACTS[agent.name]![call.event]!.parse(JSON.parse(JSON.stringify(answer)));
        answered++;
      } catch (error) {
        expect(
          [UnreadableInput, UnreadableCall].some((kind) => error instanceof kind),
          String(error),
        ).toBe(true);
      }
    }
    expect(answered).toBeGreaterThan(100);
  });
});

const WRAPPING = { workspace: "/tmp", timeout: 1 };

describe("a command that is wrapped", () => {
  it("comes out as it went in, whatever letters it is of", () => {
    const random = new Random(7);
    const letters = ["'", '"', "\\", "$", "`", "\n", " ", "--", "a", "é", "'\\''", ";", "&&", "#"];
    for (let i = 0; i < 500; i++) {
      const command = random.some(letters, 20).join("");
      expect(unwrapped(wrapped(command, { ...WRAPPING, workspace: command }))).toBe(command);
    }
  });

  it("is no other when something is added", () => {
    const ours = wrapped("ls", WRAPPING);
    for (const text of [`${ours} `, `${ours};ls`, ` ${ours}`, ours.replace("--ask queue", "--ask terminal")])
      expect(unwrapped(text)).toBeUndefined();
    expect(unwrapped(ours.replace(/^\S+/, "/tmp/other/hermes"))).toBeUndefined();
  });
});

function example(agent: string, random: Random): string {
  const gemini = agent === "gemini";
  const tool = random.pick(
    gemini
      ? ["run_shell_command", "write_file", "web_fetch", "save_memory", "mcp__x__y", "odd"]
      : ["Bash", "Read", "Write", "apply_patch", "mcp__x__y", "WebFetch", "odd"],
  );
  const event = random.pick(
    gemini ? ["BeforeTool", "AfterTool"] : ["PreToolUse", "PreToolUse", "PermissionRequest", "PostToolUse"],
  );
  const text = random.pick([
    "ls",
    "rm -rf /",
    "exec ls",
    "*** Add File: a",
    "https://x.example/",
    "/etc/shadow",
    "",
  ]);
  const input = { command: text, file_path: text, url: text, prompt: text, fact: text, path: [text] };
  return JSON.stringify({
    session_id: "s",
    transcript_path: null,
    cwd: "/tmp",
    hook_event_name: event,
    tool_name: tool,
    tool_input: input,
    tool_response: { content: [text, { deep: text }] },
  });
}

/** A letter changed, cut out, doubled; a value swapped; or nothing. */
function mutated(text: string, random: Random): string {
  const at = random.below(text.length);
  switch (random.below(6)) {
    case 0:
      return text.slice(0, at) + String.fromCharCode(random.below(0x180)) + text.slice(at + 1);
    case 1:
      return text.slice(0, at) + text.slice(at + 1 + random.below(20));
    case 2:
      return text.slice(0, at) + text.slice(Math.max(0, at - 30));
    case 3:
      return text;
    default: {
      const value = random.pick([...text.matchAll(/"[^"]*"(?!:)/g)]);
      const other = random.pick(["null", "1e999", '"\\u0000"', "{}", "[[]]", '"\\ud800"', "true", '"ls"']);
      return text.slice(0, value.index) + other + text.slice(value.index + value[0].length);
    }
  }
}
