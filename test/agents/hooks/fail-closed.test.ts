import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HERMES } from "../../support/cli.js";
import { root } from "../../support/root.js";
import { type AgentName, Place } from "./place.js";

const AGENTS: readonly AgentName[] = ["claude-code", "codex", "gemini"];
const SHELL: Readonly<Record<AgentName, string>> = {
  "claude-code": "Bash",
  codex: "Bash",
  gemini: "run_shell_command",
};

describe.each(AGENTS)("the hook of %s says no", (agent) => {
  let place: Place;
  beforeAll(() => {
    place = new Place();
  });
  afterAll(() => place.remove());
  const good = () => place.input(agent, SHELL[agent], { command: "ls" });

  it("to what is not its contract's input", () => {
    const broken = [
      "",
      "{",
      "null",
      "[]",
      '"x"',
      good().slice(0, -1),
      Buffer.from([0x7b, 0xff, 0xfe, 0x7d]),
      place.input(agent, SHELL[agent], { command: "ls" }, { hook_event_name: "SessionStart" }),
      place.input(agent, SHELL[agent], { command: "ls" }, { hook_event_name: "__proto__" }),
      place.input(agent, SHELL[agent], { command: "ls" }, { cwd: "relative" }),
      place.input(agent, SHELL[agent], "ls"),
      place.input(agent, SHELL[agent], { command: ["ls"] }),
      place.input(agent, SHELL[agent], {}),
      place.input(agent, "", { command: "ls" }),
    ];
    for (const input of broken) expect([input, place.hook(agent, input).answer]).toEqual([input, "blocked"]);
  });

  it("when hermes.yaml is broken, and says where", () => {
    const file = place.write("project/hermes.yaml", "profile: [\n");
    try {
      const { answer, stderr } = place.hook(agent, good());
      expect(answer).toBe("blocked");
      expect(stderr).toContain("hermes.yaml");
    } finally {
      rmSync(file);
    }
  });

  it("when nothing can be recorded", () => {
    const store = join(place.folder, "not-a-database");
    writeFileSync(store, "this is no database, and never was one".repeat(100));
    expect(place.hook(agent, good(), { HERMES_STORE: store }).answer).toBe("blocked");
    expect(place.hook(agent, good(), { HERMES_STORE: "/dev/null/hermes.db" }).answer).toBe("blocked");
  });

  it("when it is not built, or its bundle is damaged", () => {
    const copy = join(place.folder, "copy");
    mkdirSync(join(copy, "dist/cli"), { recursive: true });
    symlinkSync(join(root, "package.json"), join(copy, "package.json"));
    writeFileSync(join(copy, "hermes"), "");
    place.run("cp", [HERMES, join(copy, "hermes")]);
    chmodSync(join(copy, "hermes"), 0o755);
    const start = () => place.run(join(copy, "hermes"), ["hook", agent], { input: good() });
    expect(start()).toMatchObject({ status: 2, stdout: "" });
    place.run("cp", [join(root, "dist/cli/main.cjs"), join(copy, "dist/cli/main.cjs")]);
    expect(start()).toMatchObject({ status: 2, stdout: "" });
    writeFileSync(join(copy, "dist/cli/hook.cjs"), "throw new Error('damaged')");
    expect(start()).toMatchObject({ status: 2, stdout: "" });
  });
});

it("a store that hangs is a no, before the agent gives up waiting", () => {
  const place = new Place();
  try {
    const input = place.input("codex", "Bash", { command: "ls" });
    // Node never comes back from making that folder.
    const { answer, stderr } = place.hook("codex", input, { HERMES_STORE: "/proc/nowhere/hermes.db" });
    expect(answer).toBe("blocked");
    expect(stderr).not.toBe("");
  } finally {
    place.remove();
  }
});

it("an agent that is not known gets a no", () => {
  const place = new Place();
  try {
    for (const args of [[], ["cursor"], ["codex", "--quietly"]])
      expect(place.run(HERMES, ["hook", ...args], { input: "{}" })).toMatchObject({ status: 2, stdout: "" });
  } finally {
    place.remove();
  }
});
