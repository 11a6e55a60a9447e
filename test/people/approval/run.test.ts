import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { ApprovalItem } from "../../../src/people/approval/approval-item.js";
import type { LastingAnswer } from "../../../src/people/approval/lasting.js";
import { HERMES, hermes } from "../../support/cli.js";
import { root } from "../../support/root.js";
import { until } from "../../support/until.js";

/** Questions of `hermes run` go to the queue: terminal and command line answer the same ones, and keep the same answers. */

let home: string;
let folder: string;
let secret: string;
let env: NodeJS.ProcessEnv;
const started = new Set<ChildProcess>();

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), "hermes-run-home-"));
  folder = mkdtempSync(join(tmpdir(), "hermes-run-"));
  secret = join(folder, "secret");
  writeFileSync(secret, "told\n");
  const rules = [
    `{ id: file, ask: [read, write], path: ${secret}, reason: A person decides. }`,
    '{ id: who, ask: exec, argv: [id, "**"], reason: Who asks? }',
  ];
  writeFileSync(join(folder, "p.yaml"), `name: asking\nrules:\n  - ${rules.join("\n  - ")}\n`);
  env = { ...process.env, HERMES_HOME: home, TERM: "dumb" };
  delete env.HERMES_STORE;
});
afterEach(async () => {
  for (const child of started) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "exit");
  }
  started.clear();
  for (const place of [home, folder]) rmSync(place, { recursive: true, force: true });
});

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** `hermes run` without a terminal: in a session of its own. */
function run(
  options: readonly string[],
  ...command: string[]
): { child: ChildProcess; ended: Promise<Ended> } {
  return begin(["run", "-p", "p.yaml", ...options, "--", ...command]);
}

function begin(words: readonly string[], more: NodeJS.ProcessEnv = {}) {
  const child = spawn(HERMES, words, {
    cwd: folder,
    env: { ...env, ...more },
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
  });
  started.add(child);
  const ended = Promise.all([once(child, "close"), text(child.stdout), text(child.stderr)]).then(
    ([[status], stdout, stderr]): Ended => ({ status: status as number | null, stdout, stderr }),
  );
  return { child, ended };
}

/** `hermes run` on a terminal whose user types these answers; `seen` grows while it runs. */
function onTerminal(answers: readonly string[], ...command: string[]) {
  const driver = fileURLToPath(new URL("../../support/answer-on-terminal.py", import.meta.url));
  const words = [driver, JSON.stringify(answers), HERMES, "run", "-p", "p.yaml", "--", ...command];
  const child = spawn("python3", words, { cwd: folder, env, stdio: ["ignore", "pipe", "inherit"] });
  started.add(child);
  let seen = "";
  child.stdout.on("data", (piece) => {
    seen += piece;
  });
  return { seen: () => seen, ended: once(child, "close").then(() => seen) };
}

const approvals = (...words: string[]) => hermes(["approvals", ...words], { env, cwd: folder });
const listed = (...words: string[]) =>
  JSON.parse(approvals("list", "--json", ...words).stdout) as ApprovalItem[];
const waiting = () => until(() => (existsSync(join(home, "hermes.db")) ? listed()[0] : undefined));
const always = () => JSON.parse(approvals("always", "--json").stdout) as LastingAnswer[];

describe("a question of hermes run", () => {
  it("without a terminal waits in the queue, and hermes approvals answers it", async () => {
    const { ended } = run([], "cat", secret);
    const item = await waiting();
    expect(item).toMatchObject({
      kind: "DEED",
      what: `openat ${secret} (O_RDONLY)`,
      findings: [{ rule: "asking/file", reason: "A person decides." }],
      detail: { policy: "asking", rule: "file", path: secret },
    });
    expect(approvals("approve", item.id)).toMatchObject({ status: 0 });
    const { stdout, stderr } = await ended;
    expect(stdout).toBe("told\n");
    expect(stderr).toContain(`waits for an answer: hermes approvals approve ${item.id.slice(0, 8)}`);
    expect(stderr).toMatch(/asking\/file: approved by cli:\w+ \(once\)/);
    const audit = hermes(["audit", "verify"], { env });
    expect(audit.status).toBe(0);
  });

  it("is refused with the approver's words", async () => {
    const { ended } = run(["--ask", "queue"], "cat", secret);
    approvals("deny", (await waiting()).id, "--note", "not today");
    const { stdout, stderr } = await ended;
    expect(stdout).toBe("");
    expect(stderr).toMatch(/refused by cli:\w+: not today: A person decides\./);
  });

  it("on a terminal is answered there, and is in the queue meanwhile", async () => {
    const { seen, ended } = onTerminal([], "cat", secret);
    await until(() => (seen().includes("Enter is no") ? true : undefined));
    const { id } = await waiting();
    expect(seen()).toContain(`hermes: approval ${id.slice(0, 8)}: may this happen?`);
    expect(approvals("approve", id).status).toBe(0);
    const shown = await ended;
    expect(shown).toMatch(/is withdrawn: granted by cli:\w+/);
    expect(shown).toContain("told");
    const typed = await onTerminal(["y"], "cat", secret).ended;
    expect(typed).toContain("told");
    expect(listed("--all").at(-1)).toMatchObject({
      state: "granted",
      answeredBy: expect.stringMatching(/^terminal:/),
    });
  });

  it("takes the first of two answers, and tells the other approver", async () => {
    const { ended } = run([], "cat", secret);
    const { id } = await waiting();
    const both = ["approve", "deny"].map((word) => begin(["approvals", word, id]).ended);
    const [yes, no] = (await Promise.all(both)) as [Ended, Ended];
    expect([yes.status, no.status].toSorted()).toEqual([0, 1]);
    expect((yes.status === 0 ? no : yes).stdout).toMatch(
      / is not changed: it is \w+ already: cli:\w+ was first/,
    );
    expect((await ended).stdout).toBe(yes.status === 0 ? "told\n" : "");
  });

  it("with --ask no is a refusal at once, in run, trace and exec", async () => {
    expect((await run(["--ask", "no"], "cat", secret).ended).stderr).toContain("no approver is connected");
    const traced = begin(["trace", "--ask", "no", "-p", "p.yaml", "--", "cat", secret]);
    expect((await traced.ended).stderr).toContain("Permission denied");
    const executed = await begin(["exec", "--ask", "no", "rm -rf data"]).ended;
    expect(executed).toMatchObject({ status: 126, stderr: expect.stringContaining("--ask no refuses") });
    expect(listed()).toEqual([]);
  });

  it("of hermes attach is asked in the same queue", async () => {
    const loop = `while [ ! -e ${folder}/over ]; do cat ${secret}; sleep 0.05; done`;
    const program = spawn("sh", ["-c", loop], { stdio: "ignore" });
    started.add(program);
    const { ended } = begin(["attach", "-q", "-p", "p.yaml", String(program.pid)]);
    const { id, session } = await waiting();
    expect(session).not.toBe("");
    approvals("approve", id, "--scope", "session");
    writeFileSync(join(folder, "over"), "");
    await once(program, "exit");
    expect((await ended).status).toBe(0);
  });
});

describe("a signal to the program's own group, which HERMES is in", () => {
  it.each(["approve", "deny"])("is sent after the answer, and not to HERMES: %s", async (word) => {
    const got = join(folder, "got");
    writeFileSync(
      join(folder, "p.yaml"),
      "name: signals\nrules: [{ id: all, ask: signal, reason: May it? }]\n",
    );
    const { ended } = run(["--json"], "sh", "-c", `trap 'echo got > ${got}' USR1; kill -USR1 0; echo on`);
    const { id } = await waiting();
    expect(existsSync(got)).toBe(false);
    approvals(word, id);
    const { stdout, stderr } = await ended;
    expect(stdout).toBe("on\n");
    expect(existsSync(got)).toBe(word === "approve");
    expect(JSON.parse(stderr.trim().split("\n").at(-1)!).exitCode).toBe(0);
  });

  it("that would kill HERMES too is sent to the others only", async () => {
    writeFileSync(
      join(folder, "p.yaml"),
      "name: signals\nrules: [{ id: all, ask: signal, reason: May it? }]\n",
    );
    const { ended } = run(["--json"], "sh", "-c", "kill -KILL 0");
    approvals("approve", (await waiting()).id);
    const { status, stderr } = await ended;
    expect(status).toBe(137);
    expect(JSON.parse(stderr.trim().split("\n").at(-1)!).signal).toBe("SIGKILL");
  });
});

describe("an answer for always", () => {
  it("given on the terminal holds for the next run of the same rule, as wide as was shown, until it is revoked", async () => {
    expect(await onTerminal(["a"], "cat", secret).ended).toContain("told");
    const [kept] = always();
    expect(kept).toMatchObject({
      grants: true,
      what: `openat ${secret} (O_RDONLY)`,
      policy: "asking",
      rule: "asking/file",
      path: secret,
      by: expect.stringMatching(/^terminal:/),
    });
    expect(await run([], "cat", secret).ended).toMatchObject({ stdout: "told\n" });
    // To write is another question.
    const writing = run([], "sh", "-c", `echo x > ${secret}`);
    const { id, what } = await waiting();
    expect(what).toContain("O_WRONLY");
    approvals("deny", id);
    await writing.ended;
    // Another policy that has a rule of that name asks for itself.
    writeFileSync(
      join(folder, "p.yaml"),
      readFileSync(join(folder, "p.yaml"), "utf8").replace("asking", "other"),
    );
    const other = run([], "cat", secret);
    approvals("deny", (await waiting()).id);
    expect((await other.ended).stdout).toBe("");
    writeFileSync(
      join(folder, "p.yaml"),
      readFileSync(join(folder, "p.yaml"), "utf8").replace("other", "asking"),
    );

    const digest = kept!.key.slice("exact:".length);
    expect(approvals("revoke", digest.slice(0, 12))).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("revoked: "),
    });
    expect(always()).toEqual([]);
    expect(approvals("revoke", digest)).toMatchObject({ status: 1 });
    const again = run([], "cat", secret);
    approvals("deny", (await waiting()).id);
    expect((await again.ended).stdout).toBe("");
  });

  it("to a program holds for its contents and its folder", async () => {
    const bin = join(folder, "bin");
    mkdirSync(bin);
    const id = join(bin, "id");
    const make = (word: string) => writeFileSync(id, `#!/bin/cat\n${word}\n`, { mode: 0o755 });
    make("one");
    const first = run([], id);
    approvals("approve", (await waiting()).id, "--scope", "always");
    expect((await first.ended).stdout).toContain("one");
    expect((await run([], id).ended).stdout).toContain("one");
    for (const change of [() => make("two"), () => make("one")]) {
      change();
      const elsewhere = readFileSync(id, "utf8").includes("one") ? ["-C", bin] : [];
      const asked = run(elsewhere, id);
      approvals("deny", (await waiting()).id);
      expect((await asked.ended).stdout).toBe("");
    }
  });

  it("that refuses is kept, listed and revoked the same way", async () => {
    const first = run([], "cat", secret);
    approvals("deny", (await waiting()).id, "--scope", "always");
    expect((await first.ended).stdout).toBe("");
    expect(always()).toMatchObject([{ grants: false, rule: "asking/file" }]);
    expect((await run([], "cat", secret).ended).stderr).toContain("An approver refused this for always.");
    approvals("revoke", always()[0]!.key);
    const again = run([], "cat", secret);
    approvals("approve", (await waiting()).id);
    expect((await again.ended).stdout).toBe("told\n");
  });

  it("for the session holds until the run ends, also when it refuses", async () => {
    const { ended } = run([], "sh", "-c", `cat ${secret}; cat ${secret}; cat ${secret}`);
    approvals("deny", (await waiting()).id, "--scope", "session");
    expect((await ended).stderr.match(/Permission denied/g)).toHaveLength(3);
    expect(listed("--all")).toHaveLength(1);
  });
});

describe("a question that is over", () => {
  it("approvals.timeout bounds it, and a late answer is told so", async () => {
    writeFileSync(join(home, "hermes.yaml"), "approvals: { timeout: 1 }\n");
    const { stderr } = await run(["--ask-timeout", "5m"], "cat", secret).ended;
    expect(stderr).toContain("no approver answered in time (answer with `hermes console`");
    const [item] = listed("--all");
    expect(item!.state).toBe("expired");
    expect(approvals("approve", item!.id)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("it is over: no approver answered in time"),
    });
  });

  it("--ask-timeout is shorter", async () => {
    const { stderr } = await run(["--ask-timeout", "1s"], "cat", secret).ended;
    expect(stderr).toContain("no approver answered in time");
  });

  it("is withdrawn when the program ends, and when HERMES is killed", async () => {
    const { child } = run([], "cat", secret);
    const { id } = await waiting();
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(listed()).toEqual([]);
    expect(approvals("approve", id)).toMatchObject({
      status: 1,
      stdout: expect.stringContaining("it is over: the program that asked has ended"),
    });
    const go = join(folder, "go");
    const script = `cat ${secret} & until [ -e ${go} ]; do sleep 0.02; done; kill -9 $!; wait; echo over`;
    const { ended } = run([], "sh", "-c", script);
    const second = await waiting();
    writeFileSync(go, "");
    expect((await ended).stdout).toBe("over\n");
    expect(listed("--all").find((one) => one.id === second.id)!.state).toBe("withdrawn");
  });
});

describe("without a store", () => {
  it("a question is refused, and the message says why", async () => {
    writeFileSync(
      join(folder, "damaged"),
      "this is no database, and it is long enough to be looked at".repeat(20),
    );
    for (const store of [join(folder, "damaged"), "/dev/full/hermes.db"]) {
      const words = ["run", "-p", "p.yaml", "--", "cat", secret];
      const { stdout, stderr } = await begin(words, { HERMES_STORE: store }).ended;
      expect(stdout).toBe("");
      expect(stderr).toContain("asking/file: approval request failed: ");
      expect(stderr).toContain(store);
    }
  });

  it("a broken hermes.yaml is named", async () => {
    writeFileSync(join(home, "hermes.yaml"), "approvals: { mode: maybe }\n");
    expect((await run([], "cat", secret).ended).stderr).toMatch(/approval request failed: .*hermes\.yaml/);
  });

  it("a run without questions runs, and makes none", async () => {
    const words = ["run", "-p", "p.yaml", "--", "true"];
    expect(await begin(words, { HERMES_STORE: "/dev/full/hermes.db" }).ended).toMatchObject({ status: 0 });
    expect(existsSync(join(home, "hermes.db"))).toBe(false);
  });

  it("the quick start of hermes run loads nothing of the queue and its store", () => {
    for (const file of ["run-line", "control", "control-thread"]) {
      const bundle = readFileSync(join(root, `dist/cli/${file}.cjs`), "utf8");
      expect(bundle, file).not.toMatch(
        /src\/(?:record\/store\/open|people\/approval\/queue|intent\/guard\/config\/load|record\/audit\/audit)\.ts/,
      );
    }
    expect(readFileSync(join(root, "dist/cli/run-line.cjs"), "utf8")).toContain(
      "src/people/approval/questions.ts",
    );
  });
});
