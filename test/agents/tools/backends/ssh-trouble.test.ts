import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encode } from "../../../../src/agents/tools/remote/frame.js";
import { SshBackend, sshArguments } from "../../../../src/agents/tools/ssh/backend.js";
import { until } from "../../../support/until.js";
import { begin, finish, Workspace } from "./place.js";
import { Sshd } from "./sshd.js";

const workspace = new Workspace();
const folder = mkdtempSync(join(tmpdir(), "hermes-there-"));
let sshd: Sshd;
beforeAll(async () => {
  sshd = await Sshd.start();
});
afterAll(() => {
  sshd.remove();
  workspace.remove();
  rmSync(folder, { recursive: true });
});

const sh = (script: string) => ["sh", "-c", script];
const refused = (section: object) =>
  expect(new SshBackend(sshd.section(section)).start(workspace.order(["true"]), {})).rejects;

describe("nothing runs on another machine", () => {
  it("whose key is not known", async () => {
    const file = join(folder, "nobody");
    writeFileSync(file, "");
    await refused({ known_hosts: file }).toMatchObject({
      code: "LINK",
      message: expect.stringMatching(/Host key verification failed/),
    });
  });

  it("whose key is another than the known one", async () => {
    execFileSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", join(folder, "other")]);
    const key = execFileSync("cut", ["-d", " ", "-f", "1,2", join(folder, "other.pub")], {
      encoding: "utf8",
    });
    writeFileSync(join(folder, "other_hosts"), `[127.0.0.1]:${sshd.port} ${key}`);
    await refused({ known_hosts: join(folder, "other_hosts") }).toThrow(/Host key verification failed/);
  });

  it("that does not take our key", async () => {
    await refused({ identity: sshd.stranger }).toThrow(/127\.0\.0\.1.*Permission denied \(publickey\)/);
  });

  it("that does not answer", async () => {
    await refused({ port: 1 }).toThrow(/Connection refused/);
  });

  it("that has no HERMES", async () => {
    await refused({ hermes: "/no/such/hermes" }).toThrow(/\/no\/such\/hermes is not installed there/);
  });

  it("that has another version of it", async () => {
    const hello = encode({ type: "hello", protocol: 1, version: "0.0.1" });
    const other = join(folder, "other-hermes");
    writeFileSync(join(folder, "hello"), hello);
    writeFileSync(other, `#!/bin/sh\ncat ${folder}/hello; exec sleep 100\n`, { mode: 0o755 });
    await refused({ hermes: other }).toThrow(/it has HERMES 0\.0\.1, but this is .*: install the same/);
  });

  it("that says something else first", async () => {
    const chatty = join(folder, "chatty");
    writeFileSync(chatty, `#!/bin/sh\necho Welcome to this machine, have fun; exec sleep 100\n`, {
      mode: 0o755,
    });
    await refused({ hermes: chatty }).toThrow(/is not the HERMES protocol: "Welcome to/);
  });

  it("where the workspace is not", async () => {
    await refused({ workspace: "/no/such/folder" }).toThrow(
      /the folder \/no\/such\/folder does not exist there/,
    );
  });
});

describe("a run on another machine", () => {
  it("ends there when the connection is cut, and fails here", async () => {
    const backend = new SshBackend(sshd.section());
    const run = await begin(backend, workspace.order(sh("echo ready; sleep 100")));
    await until(() => run.printed().includes("ready"));
    for (const pid of sshd.connections()) process.kill(pid, "SIGKILL");
    await expect(run.finished).rejects.toMatchObject({ code: "LINK", exitCode: 125 });
    await until(() => workspace.processes().length === 0);
  });

  it("ends there when its caller is gone", async () => {
    const backend = new SshBackend(sshd.section());
    const run = await begin(backend, workspace.order(sh("echo ready; sleep 100")));
    await until(() => run.printed().includes("ready"));
    const client = execFileSync("pgrep", ["-P", String(process.pid), "-x", "ssh"], { encoding: "utf8" });
    process.kill(Number(client), "SIGKILL");
    await expect(run.finished).rejects.toThrow(/ssh was ended by SIGKILL/);
    await until(() => workspace.processes().length === 0);
  });

  it("ends when HERMES over there is killed, and fails here", async () => {
    const backend = new SshBackend(sshd.section());
    const run = await begin(backend, workspace.order(sh("echo ready; sleep 100")));
    await until(() => run.printed().includes("ready"));
    const far = execFileSync("pgrep", ["-f", "main.cjs remote"], { encoding: "utf8" }).trim().split("\n");
    const parents = sshd.connections();
    for (const pid of far.map(Number)) if (isBelow(pid, parents)) process.kill(pid, "SIGKILL");
    await expect(run.finished).rejects.toMatchObject({ code: "LINK" });
    await until(() => workspace.processes().length === 0);
  });

  it("has credential files in a folder of its own, which it cannot change, and which is gone afterwards", async () => {
    const path = join(folder, "token.json");
    writeFileSync(path, "declared");
    const credentialFiles = [{ relative: "google/token.json", path, readOnly: true as const }];
    const script = `cat "$HERMES_HOME/google/token.json"; stat -c ' %a' "$TOKEN"; (echo x > "$TOKEN") 2>/dev/null || echo held; echo "$HERMES_HOME"`;
    const env = { ...workspace.env, TOKEN: path };
    const order = workspace.order(sh(script), { credentialFiles, env });
    const { stdout } = await finish(new SshBackend(sshd.section()), order);
    const [contents, written, where] = stdout.toString().trim().split("\n");
    expect([contents, written]).toEqual(["declared 400", "held"]);
    expect(where).toContain(join(sshd.home, ".hermes/hermes-scratch-"));
    expect(readdirSync(join(sshd.home, ".hermes"))).toEqual([]);
  });

  it("finds the workspace where it lies over there", async () => {
    const there = join(folder, "there");
    mkdirSync(join(there, "inner"), { recursive: true });
    writeFileSync(join(there, "inner", "file"), "over there");
    const order = workspace.order(sh("pwd; cat file; echo made > made"), {
      cwd: join(workspace.path, "inner"),
    });
    const { stdout } = await finish(new SshBackend(sshd.section({ workspace: there })), order);
    expect(stdout.toString()).toBe(`${there}/inner\nover there`);
    expect(existsSync(join(there, "inner", "made"))).toBe(true);
  });

  it("cannot have a socket of this machine", async () => {
    const { deed, ...order } = workspace.order(["true"]);
    const backend = new SshBackend(sshd.section());
    await expect(
      backend.start({ ...order, deed: { ...deed, connect: ["/run/x.sock"] } }, {}),
    ).rejects.toThrow(/socket/);
  });
});

describe("ssh", () => {
  it("prompts for nothing, trusts no unknown host, forwards nothing and reads no configuration", () => {
    const words = sshArguments({ host: "build.example", hermes: "hermes" });
    for (const option of [
      "BatchMode=yes",
      "StrictHostKeyChecking=yes",
      "ForwardAgent=no",
      "ForwardX11=no",
      "ClearAllForwardings=yes",
      "IdentityAgent=none",
      `UserKnownHostsFile=${homedir()}/.ssh/known_hosts`,
    ])
      expect(words).toContain(`-o${option}`);
    expect(words.slice(0, 2)).toEqual(["-F", "none"]);
    expect(words.slice(-3)).toEqual(["--", "build.example", "exec hermes remote"]);
  });

  it.each([
    { host: "-oProxyCommand=x" },
    { host: "a b" },
    { host: "a", user: "-x" },
    { host: "a", hermes: "hermes; rm x" },
    { host: "a", hermes: "$(x)" },
  ])("is given no words that it or a shell could misread: %o", (ssh) => {
    expect(() => sshd.section(ssh)).toThrow(/is not a|is a path/);
  });
});

function isBelow(pid: number, parents: readonly number[]): boolean {
  for (let at = pid; at > 1; ) {
    if (parents.includes(at)) return true;
    const parent = execFileSync("ps", ["-o", "ppid=", "-p", String(at)], { encoding: "utf8" });
    at = Number(parent);
  }
  return false;
}
