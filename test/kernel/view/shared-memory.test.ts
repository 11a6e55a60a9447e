import { spawnSync } from "node:child_process";
import { chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { NOBODY, OrdinaryUser } from "../../support/ordinary-user.js";

/** `agent` keeps the shared memory of others away. A workspace that lies there is the run's own all the same. */

const isRoot = process.getuid?.() === 0;
const USERS = isRoot ? (["root", "ordinary"] as const) : (["ordinary"] as const);

let user: OrdinaryUser;
let workspace: string;
let home: string;
beforeAll(() => {
  user = new OrdinaryUser();
});
afterAll(() => user.remove());
beforeEach(() => {
  workspace = mkdtempSync("/dev/shm/hermes-work-");
  home = mkdtempSync(join(tmpdir(), "hermes-home-"));
  mkdirSync(join(workspace, "src"));
  writeFileSync(join(workspace, "src/existing"), "text\n");
  writeFileSync(join(workspace, ".env"), "the secret\n");
  writeFileSync(`${workspace}.other`, "of another process\n");
});
afterEach(() => {
  for (const path of [workspace, home, `${workspace}.other`]) rmSync(path, { recursive: true, force: true });
});

const SCRIPT = `
cat src/existing .env ../*.other 2>&1
chmod 640 src/existing && echo new > src/new && mv src/new made && echo made
ls /dev/shm`;

describe.each(USERS)("a workspace in /dev/shm, as %s", (name) => {
  it.each(["standard", "strict"])("is used under agent, and the view holds: fence %s", (fence) => {
    const id = name === "root" || !isRoot ? undefined : NOBODY;
    if (id !== undefined)
      for (const path of [workspace, home, "src", "src/existing", ".env"])
        chownSync(path.startsWith("/") ? path : join(workspace, path), id, id);
    const { stdout, stderr } = spawnSync(
      user.hermes,
      ["run", "--json", "-p", "agent", "--fence", fence, "--", "sh", "-c", SCRIPT],
      {
        cwd: workspace,
        env: { PATH: process.env.PATH, HOME: home },
        encoding: "utf8",
        ...(id !== undefined && { uid: id, gid: id }),
      },
    );
    expect(stdout, stderr).toMatch(
      /^text\ncat: .env: No such file or directory\ncat: .*other.*: No such file/,
    );
    expect(stdout).toContain(`made\n${basename(workspace)}\n`);
    expect(readFileSync(join(workspace, "made"), "utf8")).toBe("new\n");
    const { protections, summary } = JSON.parse(stderr.split("\n").findLast((line) => line.startsWith("{"))!);
    expect(protections.hiddenFiles).toBeGreaterThan(0);
    // Neither reading nor chmod of an open file stops; what makes a file does.
    expect(summary.byCall.openat).toBeLessThan(10);
  });
});
