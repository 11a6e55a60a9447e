import { type ChildProcess, spawn } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { HERMES } from "../../support/cli.js";
import { NOBODY, OrdinaryUser } from "../../support/ordinary-user.js";
import { root } from "../../support/root.js";
import { until } from "../../support/until.js";
import { decisionOf, isAlive, ResidentPlace, WARM_ONLY } from "./resident-place.js";

const PLACE = join(root, "test/agents/hooks/resident-place.py");
const isRoot = process.getuid?.() === 0;

describe("the resident process does not serve", () => {
  let place: ResidentPlace;
  beforeAll(() => {
    place = new ResidentPlace();
    place.start();
  });
  afterAll(() => place.end());

  /** What the hook ends with behind this command: with Node in reach, and without. */
  const behind = (wall: readonly string[]) => {
    const input = place.input("claude-code", "Bash", { command: "ls" });
    const [program, ...words] = [...wall, HERMES, "hook", "claude-code"];
    const call = (env: NodeJS.ProcessEnv) => place.run(program!, words, { input, env }).status;
    return { withNode: call({}), warmOnly: call(WARM_ONLY) };
  };

  it("(but does serve a caller in its own place)", () => {
    expect(behind(["/usr/bin/env"])).toEqual({ withNode: 0, warmOnly: 0 });
  });

  it.each([
    ["--fence", "standard"],
    ["--fence", "none"],
  ])("a caller inside a run of HERMES: %s %s", (...fence) => {
    // The run itself needs Node: only what it starts is without.
    const run = [HERMES, "run", "-q", ...fence, "--", "/usr/bin/env"];
    expect(behind(run).withNode).toBe(0);
    expect(behind([...run, `PATH=${WARM_ONLY.PATH}`]).withNode).toBe(2);
  });

  it.runIf(isRoot)("a caller that Landlock confines, which shows nowhere", () => {
    expect(behind(["/usr/bin/python3", PLACE, "landlock"])).toEqual({ withNode: 0, warmOnly: 2 });
  });

  it("a caller with fewer rights, other limits, or other namespaces", () => {
    expect(behind(["/usr/bin/setpriv", "--no-new-privs"])).toEqual({ withNode: 0, warmOnly: 2 });
    expect(behind(["/usr/bin/prlimit", "--cpu=1000"])).toEqual({ withNode: 0, warmOnly: 2 });
    if (isRoot) expect(behind(["/usr/bin/unshare", "--uts"])).toEqual({ withNode: 0, warmOnly: 2 });
  });
});

describe("a caller does not believe", () => {
  let place: ResidentPlace;
  let name: string;
  let fake: ChildProcess | undefined;
  beforeEach(() => {
    place = new ResidentPlace();
    place.start();
    name = readdirSync(place.socketFolder).find((file) => !file.endsWith(".lock"))!;
    expect(place.resident(["stop"]).status).toBe(0);
  });
  afterEach(async () => {
    fake?.kill("SIGKILL");
    fake = undefined;
    await place.end();
  });

  /** A process that answers in place of the resident one; what it says. */
  const pose = async (folder: string, wall: readonly string[] = []) => {
    const [program, ...words] = [...wall, "/usr/bin/python3", PLACE, "pose", folder, name];
    fake = spawn(program!, words, {
      env: { ...place.env, HERMES_NO_RESIDENT: "1" },
      stdio: ["ignore", "pipe", "inherit"],
    });
    let said = "";
    fake.stdout!.on("data", (part) => {
      said += part;
    });
    await until(() => said.includes("listening"), "the process that poses as the resident one");
    return () => said;
  };
  const dangerous = async () => decisionOf(await place.bash("rm -rf /"));

  it("a process behind a fence", async () => {
    for (const fence of ["none", "standard"]) {
      const said = await pose(place.socketFolder, [HERMES, "run", "-q", "--fence", fence, "--"]);
      expect(await dangerous()).toBe("deny");
      expect(said()).not.toContain("believed");
      const gone = fake!;
      gone.kill("SIGTERM");
      await until(() => !isAlive(gone.pid!), "its end");
      rmSync(join(place.socketFolder, name));
    }
  });

  it.runIf(isRoot)("a process that Landlock confines", async () => {
    const said = await pose(place.socketFolder, ["/usr/bin/python3", PLACE, "landlock"]);
    expect(await dangerous()).toBe("deny");
    expect(said()).not.toContain("believed");
  });

  it("a folder that others may enter, that is a link, or that belongs to another user", async () => {
    const said = await pose(place.socketFolder);
    chmodSync(place.socketFolder, 0o711);
    expect(await dangerous()).toBe("deny");
    chmodSync(place.socketFolder, 0o700);
    const moved = `${place.socketFolder}.moved`;
    renameSync(place.socketFolder, moved);
    symlinkSync(moved, place.socketFolder);
    expect(await dangerous()).toBe("deny");
    rmSync(place.socketFolder);
    renameSync(moved, place.socketFolder);
    if (isRoot) {
      chownSync(place.socketFolder, NOBODY, NOBODY);
      expect(await dangerous()).toBe("deny");
      chownSync(place.socketFolder, 0, 0);
    }
    expect(said()).not.toContain("believed");
    // All of this was for something: an unconfined process of the same user in a private folder is the user.
    await place.bash("ls");
    await until(() => said().includes("believed"), "its success");
  });
});

describe.runIf(isRoot)("two users and two builds", () => {
  it("have resident processes of their own, side by side", async () => {
    const other = new OrdinaryUser();
    symlinkSync(join(root, "node_modules"), join(other.folder, "node_modules"));
    const place = new ResidentPlace();
    const theirs = new ResidentPlace();
    try {
      // Another build of the same user, in the same state folder.
      place.start();
      expect(place.resident(["start"], other.hermes).status).toBe(0);
      for (const hermes of [HERMES, other.hermes])
        expect(decisionOf(await place.bash("rm -rf /", { hermes, env: WARM_ONLY }))).toBe("deny");
      expect(readdirSync(place.socketFolder).filter((file) => !file.endsWith(".lock"))).toHaveLength(2);

      // Another user, who even reaches the socket.
      for (const folder of [theirs.folder, theirs.state, theirs.project, theirs.home])
        chownSync(folder, NOBODY, NOBODY);
      const call = (env: NodeJS.ProcessEnv) =>
        theirs.run(
          "/usr/bin/setpriv",
          ["--reuid", "65534", "--regid", "65534", "--clear-groups", other.hermes, "hook", "claude-code"],
          {
            input: theirs.input("claude-code", "Bash", { command: "ls" }),
            env: { ...env, HERMES_NO_RESIDENT: "" },
          },
        );
      mkdirSync(join(theirs.state, "resident"), { mode: 0o777 });
      chmodSync(join(theirs.state, "resident"), 0o777);
      expect(call({}).status).toBe(0);
      expect(call(WARM_ONLY).status).toBe(2);
    } finally {
      await place.end();
      await theirs.end();
      other.remove();
    }
  });
});
