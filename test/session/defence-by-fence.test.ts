import { spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { run, type SessionResult } from "hermes-runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { HERMES } from "../support/cli.js";
import { until } from "../support/until.js";

/** Where the fence holds HERMES's own files, or there is nothing to defend, no call of the program stops for it. */

let folder: string;
let workspace: string;
beforeEach(() => {
  // Not in a temporary folder: a strict fence gives the program its own.
  folder = mkdtempSync(join(homedir(), ".hermes-defence-"));
  workspace = join(folder, "workspace");
  mkdirSync(workspace);
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const POLICY = "name: own\nrules: [{ id: no-mail, deny: connect, address: '*:25', reason: No. }]\n";
const OPENS = ["open", "openat", "openat2", "creat"];

function policyIn(where: string): string {
  const file = join(where, "own.yaml");
  writeFileSync(file, POLICY);
  return file;
}

const sh = (script: string) => ["/bin/sh", "-c", script];
const opens = ({ summary }: SessionResult) =>
  OPENS.reduce((sum, name) => sum + (summary.byCall[name] ?? 0), 0);

describe("a run that has nothing to get around", () => {
  it("does not stop where files are made, as any user", async () => {
    const result = await run({ command: sh("for i in 1 2 3; do echo > $i; done"), cwd: workspace });
    expect(result.exitCode).toBe(0);
    expect(opens(result)).toBe(0);
  });

  it("still defends the trace that HERMES writes", async () => {
    const trace = join(workspace, "trace.jsonl");
    const command = sh(`echo forged >> ${trace} || echo refused > result`);
    await run({ command, cwd: workspace, trace: { file: trace } });
    expect(existsSync(join(workspace, "result"))).toBe(true);
    expect(readFileSync(trace, "utf8")).not.toMatch(/^forged$/m);
  });
});

describe("behind a strict fence", () => {
  const strict = (policy: string, script: string) =>
    run({ command: sh(script), cwd: workspace, policy, fence: "strict" });

  it("a policy outside the writable folders is held by the kernel, and nothing stops for it", async () => {
    const policy = policyIn(folder);
    const result = await strict(
      policy,
      `echo x > made; for change in "echo x > ${policy}" "mv ${policy} moved" "rm -f ${policy}" "chmod 777 ${policy}" "mv ${folder} away"; do eval "$change" 2> /dev/null && echo "$change" >> done; done; true`,
    );
    expect(existsSync(join(workspace, "done"))).toBe(false); // each of them fails, and the program learns it
    expect(result.exitCode).toBe(0);
    expect(opens(result)).toBe(0);
    expect(readFileSync(policy, "utf8")).toBe(POLICY);
    expect(statSync(policy).mode & 0o777).toBe(0o644);
    expect(existsSync(join(workspace, "made"))).toBe(true);
  });

  it("a policy in the workspace is defended by stops", async () => {
    const policy = policyIn(workspace);
    const result = await strict(policy, `echo x > ${policy}; mv ${policy} made; rm -f ${policy}; true`);
    expect(opens(result)).toBeGreaterThan(0);
    expect(readFileSync(policy, "utf8")).toBe(POLICY);
  });

  it("a project's hermes.yaml cannot be changed or removed; one that only adds refusals may be made", async () => {
    const policy = policyIn(folder);
    const project = join(workspace, "hermes.yaml");
    await strict(policy, "echo 'profile: strict' > hermes.yaml");
    expect(readFileSync(project, "utf8")).toBe("profile: strict\n");
    await strict(policy, "echo > hermes.yaml; mv hermes.yaml other; rm -f hermes.yaml; true");
    expect(readFileSync(project, "utf8")).toBe("profile: strict\n");
  });

  /** Changes something while a program runs, and returns what HERMES said. */
  async function whileRunning(policy: string, change: () => void, expected: string): Promise<string> {
    const flags = ["run", "--fence", "strict", "-p", policy, "--"];
    const script = "echo 'profile: strict' > hermes.yaml; echo > begun; until [ -e go ]; do sleep 0.05; done";
    const child = spawn(HERMES, [...flags, ...sh(script)], { cwd: workspace });
    let said = "";
    child.stderr.on("data", (bytes) => {
      said += bytes;
    });
    try {
      await until(() => existsSync(join(workspace, "begun")));
      change();
      await until(() => said.includes(expected));
    } finally {
      writeFileSync(join(workspace, "go"), "");
      await until(() => child.exitCode !== null || child.signalCode !== null);
    }
    expect(child.exitCode).toBe(0);
    return said;
  }

  it("a policy can be reloaded, also after the program made a hermes.yaml", async () => {
    const policy = policyIn(folder);
    const change = () => writeFileSync(policy, POLICY.replace("no-mail", "other"));
    expect(await whileRunning(policy, change, "policies reloaded")).not.toContain("stay");
  });

  it("a policy that now leads into the workspace is not loaded from there", async () => {
    const policy = policyIn(folder);
    const change = () => {
      const inside = join(workspace, "other.yaml");
      writeFileSync(inside, POLICY.replace("no-mail", "other"));
      symlinkSync(inside, `${policy}.new`);
      renameSync(`${policy}.new`, policy);
    };
    const said = await whileRunning(policy, change, "the policies in force stay");
    expect(said).not.toContain("policies reloaded");
  });
});
