import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { syscallByName } from "../../src/abi/index.js";
import { NOBODY, OrdinaryUser } from "../support/ordinary-user.js";
import { program } from "../support/programs.js";

/**
 * Threads of one process share a working directory and a umask unless they ask the kernel for their own, which the usual
 * seccomp profile of a container refuses. Sessions in one process must not notice.
 */

const COUNT = 3000;
const isRoot = process.getuid?.() === 0;
let folder: string;
let user: OrdinaryUser;
beforeAll(() => {
  user = new OrdinaryUser();
  folder = mkdtempSync(join(tmpdir(), "hermes-views-"));
  for (const name of ["allowed", "denied"]) {
    mkdirSync(join(folder, name));
    writeFileSync(join(folder, name, "token"), name);
    chmodSync(join(folder, name), 0o777);
  }
  chmodSync(folder, 0o755);
  const rule = `{ id: denied, deny: read, path: "${folder}/denied/*", reason: It is secret. }`;
  writeFileSync(join(folder, "policy.yaml"), `name: views\nrules:\n  - ${rule}\n`);
});
afterAll(() => {
  user.remove();
  rmSync(folder, { recursive: true, force: true });
});

function script(masks: readonly string[]): string {
  const command = (mask: string) =>
    JSON.stringify([
      user.give(program("two-folders")),
      join(folder, "allowed"),
      join(folder, "denied"),
      mask,
      `${COUNT}`,
    ]);
  return `
import { run } from "./dist/index.js";
const sessions = [${masks.map(command).join(", ")}].map((command) =>
  run({ command, view: "off", policy: ${JSON.stringify(join(folder, "policy.yaml"))} }));
for (const { exitCode } of await Promise.all(sessions)) if (exitCode !== 0) process.exitCode = exitCode ?? 1;
`;
}

function inContainer(refused: readonly string[], masks: readonly string[], as: "root" | "ordinary") {
  const file = join(user.folder, "views.mjs");
  writeFileSync(file, script(masks));
  const numbers = refused.map((name) => String(syscallByName(name)!.nr));
  const words = [...numbers, "--", process.execPath, file];
  return spawnSync(user.give(program("refuse")), words, {
    cwd: user.own,
    encoding: "utf8",
    timeout: 110_000,
    ...(isRoot && as === "ordinary" && { uid: NOBODY, gid: NOBODY }),
  });
}

describe.each(isRoot ? (["root", "ordinary"] as const) : (["ordinary"] as const))("as %s", (as) => {
  it.each([
    ["where each thread has its own folder and umask", []],
    ["where unshare is refused", ["unshare"]],
  ])("two sessions in one process keep apart: %s", { timeout: 120_000 }, (_, refused) => {
    const { status, stdout, stderr } = inContainer(refused, ["000", "077"], as);
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: `${COUNT} 0 0\n`.repeat(2), stderr: "" });
  });
});
