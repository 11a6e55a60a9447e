import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, statSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HERMES } from "../../support/cli.js";
import { isThere, until } from "../../support/until.js";
import { Place } from "./place.js";

const records = (place: Place) =>
  place.run(HERMES, ["audit", "show", "--json", "--kind", "tool-call"]).stdout.split("\n").filter(Boolean)
    .length;

describe("a hook while a console runs", () => {
  let place: Place;
  let console: ChildProcess;
  beforeAll(async () => {
    place = new Place();
    console = spawn(HERMES, ["console", "--listen", "127.0.0.1:0"], { env: place.env, stdio: "ignore" });
    await until(isThere(join(place.state, "hook.sock")), "the console's socket for hooks");
  });
  afterAll(async () => {
    console.kill("SIGTERM");
    await once(console, "exit");
    place.remove();
  });
  const bash = (command: string, env?: NodeJS.ProcessEnv) =>
    place.hook("claude-code", place.input("claude-code", "Bash", { command }), env);

  it("is answered by it, as it would have answered by itself, and recorded", () => {
    expect(statSync(join(place.state, "hook.sock")).mode & 0o077).toBe(0);
    const before = records(place);
    expect(bash("rm -rf /").answer.hookSpecificOutput.permissionDecision).toBe("deny");
    const { updatedInput } = bash("echo warm").answer.hookSpecificOutput;
    expect(place.run("bash", ["-c", updatedInput.command]).stdout).toBe("warm\n");
    expect(records(place)).toBeGreaterThanOrEqual(before + 2);
  });

  it("is refused what cannot be judged, and reads the project's configuration anew each time", () => {
    expect(place.hook("claude-code", "{").answer).toBe("blocked");
    place.write("project/hermes.yaml", "profile: [\n");
    expect(bash("ls").answer).toBe("blocked");
    place.write("project/hermes.yaml", "profile: strict\n");
    expect(bash("make").answer.hookSpecificOutput.permissionDecision).toBe("ask");
    place.write("project/hermes.yaml", "");
    expect(bash("make").answer.hookSpecificOutput.updatedInput.command).toContain(" exec ");
  });

  it("judges by itself when the console keeps another store", () => {
    const before = records(place);
    const store = join(place.folder, "other.db");
    expect(bash("ls", { HERMES_STORE: store }).answer.hookSpecificOutput.updatedInput.command).toContain(
      " exec ",
    );
    expect(existsSync(store)).toBe(true);
    expect(records(place)).toBe(before);
  });
});

describe("a hook that finds something else where the console listens", () => {
  it.each(["", "{", "null", '{"answer":1}', '{"refused":""}', "[]"])(
    "judges by itself: %j",
    async (answer) => {
      const place = new Place();
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        socket.on("error", () => {});
        socket.on("end", () => socket.end(answer)).resume();
      });
      server.listen(join(place.state, "hook.sock"));
      await once(server, "listening");
      try {
        const input = place.input("codex", "Bash", { command: "rm -rf /" });
        const child = spawn(HERMES, ["hook", "codex"], { env: place.env });
        child.stdin.end(input);
        let stdout = "";
        child.stdout.on("data", (part) => {
          stdout += part;
        });
        await once(child, "close");
        expect(JSON.parse(stdout).hookSpecificOutput.permissionDecision).toBe("deny");
      } finally {
        server.close();
        place.remove();
      }
    },
  );
});
