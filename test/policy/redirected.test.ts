import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { allow, type CallEvent, definePolicy, deny, modify, type Policy, redirect } from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PolicyStack } from "../../src/policy/stack.js";
import { hermes as installed } from "../support/cli.js";

/** What one policy changes a call into, the others judge. */

let folder: string;
let server: Server;
let port: number;
const path = (name: string) => join(folder, name);
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hermes-redirected-"));
  for (const name of ["asked", "secret", "open"]) writeFileSync(path(name), `the ${name}\n`);
  symlinkSync("secret", path("link"));
  server = createServer((socket) => socket.end("reached\n")).listen(0, "127.0.0.1");
  await new Promise((listening) => server.once("listening", listening));
  port = (server.address() as { port: number }).port;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const write = (name: string, text: string) => {
  writeFileSync(path(name), text);
  return path(name);
};
const redirecting = (to: string) =>
  write(
    "a.yaml",
    `name: a\nrules:\n  - { id: to, redirect: read, path: ${path("asked")}, to: ${path(to)} }\n`,
  );
const denying = (action = "deny") =>
  write(
    "b.yaml",
    `name: b\nrules:\n  - { id: no, ${action}: read, path: ${path("secret")}, reason: Secret. }\n`,
  );

function reading(to: string, args: readonly string[] = []) {
  return hermes(["run", "-p", redirecting(to), "-p", denying(), ...args, "--", "cat", path("asked")]);
}

function hermes(args: readonly string[]) {
  return installed(args);
}

describe("a redirect", () => {
  it("leads where the other policies let it lead", () => {
    expect(reading("open").stdout).toBe("the open\n");
  });

  it.each(["secret", "link"])("does not lead to what another policy denies (%s)", (to) => {
    const { stdout, stderr, status } = reading(to);
    expect([stdout, status]).toEqual(["", 1]);
    expect(stderr).toContain(`b/no: Secret. (policy a changes it to ${path("secret")})`);
  });

  it("does not lead to what another policy would ask about", () => {
    const { stdout, stderr } = hermes([
      "run",
      "-p",
      redirecting("secret"),
      "-p",
      denying("ask"),
      "--",
      "cat",
      path("asked"),
    ]);
    expect(stdout).toBe("");
    expect(stderr).toContain("policy b wants to ask what it becomes");
  });

  it("does not lead to HERMES's own files", () => {
    const policy = write(
      "own.yaml",
      `name: own\nrules:\n  - { id: to, redirect: write, path: ${path("asked")}, to: ${path("own.yaml")} }\n`,
    );
    const before = readFileSync(policy, "utf8");
    hermes(["run", "-q", "-p", policy, "--", "sh", "-c", `echo x > ${path("asked")}`]);
    expect(readFileSync(policy, "utf8")).toBe(before);
  });

  it("is explained and simulated as it is decided", () => {
    const policies = [redirecting("secret"), denying()];
    const event = JSON.stringify({ read: path("asked") });
    const { stdout } = hermes(["policy", "explain", ...policies, "--event", event]);
    expect(stdout).toContain(
      `so: deny, EACCES, by rule no, Secret. (policy a changes it to ${path("secret")})`,
    );
    const trace = path("t.jsonl");
    hermes(["run", "-q", "-t", trace, "-e", "openat", "--", "cat", path("asked")]);
    const simulated = hermes(["simulate", ...policies.flatMap((file) => ["-p", file]), trace]);
    expect(simulated.stdout).toContain(`(policy a changes it to ${path("secret")})`);
  });

  it("of an address is judged by where it leads", () => {
    const to = write(
      "to.yaml",
      `name: a\nrules:\n  - { id: to, redirect: connect, address: "192.0.2.1:9", to: "127.0.0.1:${port}" }\n`,
    );
    const no = write("no.yaml", `name: b\nrules:\n  - { id: local, deny: connect, address: loopback }\n`);
    const script = "exec 3<>/dev/tcp/192.0.2.1/9; cat <&3";
    const run = (...policies: string[]) =>
      hermes(["run", ...policies.flatMap((file) => ["-p", file]), "--", "bash", "-c", script]);
    const judged = run(to, no);
    expect(judged.stdout).toBe("");
    expect(judged.stderr).toContain(`(policy a changes it to 127.0.0.1:${port})`);
  });
});

/** An open as it was recorded, without a kernel. */
function openEvent(flags: bigint): CallEvent {
  const args = { filename: path("asked"), flags: Number(flags), mode: 0 };
  return {
    kind: "syscall",
    name: "open",
    nr: 2,
    args,
    argument: (i: number) => [0n, flags, 0n][i] ?? 0n,
    path: path("asked"),
    requested: path("asked"),
    paths: [{ argument: "filename", requested: path("asked"), path: path("asked") }],
    addresses: [],
    flags: ["O_RDONLY"],
    process: { cwd: folder },
  } as unknown as CallEvent;
}

describe("a changed argument", () => {
  const one = (name: string, on: (e: CallEvent) => ReturnType<typeof deny> | undefined, actions: string[]) =>
    definePolicy({ name, actions: actions as ["deny"], on: { open: on as never } }) as Policy;
  const noWriting = one("b", (e) => (e.flags.includes("O_WRONLY") ? deny("No writing.") : undefined), [
    "deny",
  ]);

  it("is seen by the other policies as what it becomes", () => {
    const a = one("a", () => modify({ args: { flags: 1 } }), ["modify"]);
    const decision = new PolicyStack([a, noWriting]).decide(openEvent(0n));
    expect(decision).toMatchObject({ action: "deny", policy: "b" });
    expect(new PolicyStack([noWriting, a]).decide(openEvent(0n))).toMatchObject({
      action: "deny",
      policy: "b",
    });
  });

  it("that is a path is seen as that path, with its dots", () => {
    const a = one("a", () => redirect(`${folder}/x/../secret`), ["modify"]);
    const b = one("b", (e) => (e.path === path("secret") ? deny("Secret.") : allow()), ["deny"]);
    expect(new PolicyStack([a, b]).decide(openEvent(0n))).toMatchObject({ action: "deny", policy: "b" });
  });
});
