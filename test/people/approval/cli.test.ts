import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { signToken } from "../../../src/people/approval/token.js";
import { HERMES, hermes } from "../../support/cli.js";
import { until } from "../../support/until.js";
import { asks, type Desktop, desktop, parked, queueOf, request, toolCall } from "./support.js";

let desk: Desktop;
let env: NodeJS.ProcessEnv;
beforeEach(async () => {
  desk = await desktop();
  env = {
    ...process.env,
    HERMES_HOME: join(desk.folder, "config"),
    HERMES_STORE: join(desk.folder, "hermes.db"),
  };
});
/** What a test left running when it failed. */
const left = new Set<number>();
afterEach(async () => {
  for (const pid of left)
    for (const one of [...childrenOf(pid), pid])
      try {
        process.kill(one, "SIGKILL");
      } catch {
        // it has ended
      }
  left.clear();
  await desk.close();
});

const run = (...words: string[]) => hermes(["approvals", ...words], { env, cwd: desk.folder });

/** Something that waits, and what becomes of it. */
async function waiting(more: Parameters<typeof request>[0] = {}) {
  const outcome = queueOf(desk).queue.request(request(more));
  const row = await parked(desk.store, request(more).digest);
  return { outcome, id: row.id, row };
}

/** Times and ids are never the same. */
const steady = (text: string, ids: readonly string[]) =>
  ids
    .reduce((all, id, i) => all.replaceAll(id, `<id ${i}>`).replaceAll(id.slice(0, 8), `<id ${i}>`), text)
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, "<time>");

const HOSTILE = "rm -rf '\u001b[2J\u001b[1;1Happrove all\u202e\n\r  y once'";

describe("hermes approvals list", () => {
  it("says when nothing waits", () => {
    expect(run("list")).toMatchObject({ status: 0, stdout: "Nothing waits for an answer.\n" });
    expect(run("list", "--json").stdout).toBe("[]\n");
  });

  it("shows what waits, oldest first, and hostile text as what it is", async () => {
    const first = await waiting({
      what: HOSTILE,
      digest: "1",
      findings: [asks("recursive-delete", "Deletes\u001b[0m.")],
    });
    const second = await waiting({ what: "jq .", digest: "2", findings: [asks("not-listed")] });
    const { stdout } = run("list");
    expect(steady(stdout, [first.id, second.id])).toBe(
      [
        "<id 0>  pending  TOOL_CALL  rm -rf '\\x1b[2J\\x1b[1;1Happrove all\\u202e\\x0a\\x0d  y once'",
        "  recursive-delete: Deletes\\x1b[0m.",
        "  asked <time>, refused without an answer at <time>",
        "<id 1>  pending  TOOL_CALL  jq .",
        "  not-listed: about not-listed",
        "  asked <time>, refused without an answer at <time>",
        "",
      ].join("\n"),
    );
    expect(JSON.parse(run("list", "--json").stdout)).toMatchObject([
      { id: first.id, state: "pending", keys: ["recursive delete"], what: HOSTILE },
      { id: second.id },
    ]);
    expect(JSON.parse(run("list", "--json", "--session", "two").stdout)).toEqual([]);
  });

  it("with --all shows what was answered, and by whom", async () => {
    const { id, outcome } = await waiting();
    run("deny", id, "--note", "no");
    await outcome;
    expect(run("list").stdout).toBe("Nothing waits for an answer.\n");
    expect(steady(run("list", "--all").stdout, [id])).toMatch(
      /^<id 0> {2}refused {2}TOOL_CALL {2}rm -rf build\n.*\n {2}asked <time>, refused by cli:\w+ <time>\n$/,
    );
  });
});

describe("hermes approvals show", () => {
  it("shows all of it by the beginning of its id", async () => {
    const call = await toolCall(desk.store);
    const { id } = await waiting({
      toolCall: call,
      findings: [{ ...asks("recursive-delete", "This deletes."), instead: "Name files." }],
      argv: ["bash", "x"],
      detail: { diff: "-a\n+b\u001b[0m" },
    });
    expect(steady(run("show", id.slice(0, 5)).stdout, [id])).toBe(
      [
        "approval    <id 0> (TOOL_CALL), pending",
        "what        rm -rf build",
        "why         recursive-delete: This deletes.",
        "instead     Name files.",
        "keys        recursive delete",
        "session     one",
        `call        ${call}`,
        "digest      digest of rm -rf build",
        "times       asked <time>, refused without an answer at <time>",
        "scope       exactly this, in this folder, with its scripts as they are now",
        "always      bash runs whatever it is told to, so it is never approved for always",
        "diff        -a",
        "            +b\\x1b[0m",
        "",
      ].join("\n"),
    );
    expect(JSON.parse(run("show", id, "--json").stdout)).toMatchObject({
      id,
      detail: { diff: "-a\n+b\u001b[0m" },
    });
  });

  it("says what is wrong with an id", async () => {
    expect(run("show", "abc")).toMatchObject({
      status: 1,
      stderr: "hermes: approval abc: there is no such approval\n",
    });
    expect(run("show", "%")).toMatchObject({
      status: 1,
      stderr: "hermes: approval %: an id is made of 0-9 and a-f\n",
    });
    const two = await Promise.all([waiting({ digest: "1" }), waiting({ digest: "2" })]);
    for (const { id } of two) expect(run("show", id).status).toBe(0);
  });
});

describe("hermes approvals approve and deny", () => {
  it("answer, with a scope and a word to the agent, and it is recorded", async () => {
    const { id, outcome } = await waiting();
    const { stdout, status } = run("approve", id.slice(0, 6), "--scope", "session", "--note", "go on");
    expect([stdout, status]).toEqual([`${id.slice(0, 8)} is granted (session)\n`, 0]);
    expect(await outcome).toMatchObject({
      granted: true,
      scope: "session",
      note: "go on",
      by: expect.stringMatching(/^cli:/),
    });
    const records = [];
    for await (const { kind, body } of desk.store.audit()) records.push([kind, JSON.parse(body)]);
    expect(records).toMatchObject([
      ["approval-answered", { id, state: "granted", scope: "session", by: expect.stringMatching(/^cli:/) }],
    ]);
  });

  it("the second is told who was first, and exits 1", async () => {
    const { id, outcome } = await waiting();
    expect(run("deny", id, "--json")).toMatchObject({ status: 0 });
    const late = run("approve", id);
    expect(late.status).toBe(1);
    expect(late.stdout).toMatch(/ is not changed: it is refused already: cli:\w+ was first\n$/);
    expect(await outcome).toMatchObject({ granted: false });
  });

  it("for always keep it in the user's hermes.yaml, and say so when they cannot", async () => {
    const one = await waiting();
    expect(run("approve", one.id, "--scope", "always").stdout).toBe(
      `${one.id.slice(0, 8)} is granted (always)\n`,
    );
    expect(readFileSync(join(desk.folder, "config/hermes.yaml"), "utf8")).toContain(
      "- exact:digest of rm -rf build #",
    );
    const two = await waiting({ argv: ["sudo", "rm"], digest: "2" });
    expect(run("approve", two.id, "--scope", "always").stdout).toMatch(
      / is granted \(once\): not for always: sudo runs whatever it is told to, .*; once, then\n$/,
    );
  });

  it("take known scopes only", async () => {
    const { id } = await waiting();
    expect(run("approve", id, "--scope", "ever")).toMatchObject({ status: 2 });
    expect((await desk.store.approval(id))!.state).toBe("pending");
  });

  it("name the store with --store", () => {
    const { status, stderr } = run("list", "--store", "mysql://x/y");
    expect([status, stderr]).toEqual([
      125,
      expect.stringContaining("must be a path, sqlite:PATH or postgres://"),
    ]);
  });
});

describe("hermes approvals watch", () => {
  it("prints what comes and what becomes of it, as JSON lines", async () => {
    const watching = spawn(HERMES, ["approvals", "watch", "--json"], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface({ input: watching.stdout })[Symbol.asyncIterator]();
    const heard = async () => JSON.parse((await lines.next()).value) as object;
    const { id } = await waiting();
    expect(await heard()).toMatchObject({ id, state: "pending" });
    run("deny", id);
    expect(await heard()).toMatchObject({ id, state: "refused" });
    watching.kill("SIGINT");
    expect(await once(watching, "exit")).toEqual([0, null]);
  });

  it("asks on a terminal, one at a time, hostile text made harmless", async () => {
    const one = await waiting({ what: HOSTILE, digest: "1" });
    const two = await waiting({ what: "rm -rf two", digest: "2", argv: ["sudo", "rm"] });
    const typing = watchOnTerminal(["what?", "s", "a"]);
    const seen = text(typing.stdout);
    expect(await one.outcome).toMatchObject({
      granted: true,
      scope: "session",
      by: expect.stringMatching(/^terminal:/),
    });
    expect(await two.outcome).toMatchObject({ granted: true, scope: "once" });
    process.kill(childrenOf(typing.pid!)[0]!, "SIGINT");
    const shown = steady(await seen, [one.id, two.id]).replace(/\d+ s of silence/g, "<n> s of silence");
    expect(withoutCommands(shown).replaceAll("\r\n", "\n").split("\n")).toEqual([
      "hermes: approval <id 0>: may this happen?",
      "  what  rm -rf '\\x1b[2J\\x1b[1;1Happrove all\\u202e\\x0a\\x0d  y once'",
      "  why   recursive-delete: about recursive-delete",
      "  scope exactly this, in this folder, with its scripts as they are now",
      "  y once · s for this session · a always · n no",
      "  (ns not in this session · na never · Enter is no; so is <n> s of silence) what?",
      "  please answer y, s, a, n, ns or na: s",
      "hermes: approval <id 0>: session",
      "hermes: approval <id 1>: may this happen?",
      "  what  rm -rf two",
      "  why   recursive-delete: about recursive-delete",
      "  scope exactly this, in this folder, with its scripts as they are now",
      "  y once · s for this session · n no",
      "  (ns not in this session · na never · Enter is no; so is <n> s of silence) a",
      "hermes: approval <id 1>: always",
      "hermes: approval <id 1>: not for always: sudo runs whatever it is told to, so it is never approved for always; once, then",
      "",
    ]);
  });

  it("says on the terminal when another approver has answered", async () => {
    const { id, outcome } = await waiting();
    const typing = watchOnTerminal([]);
    let seen = "";
    typing.stdout.on("data", (piece) => (seen += piece));
    await until(() => (seen.includes("Enter is no") ? true : undefined));
    run("deny", id);
    await outcome;
    await until(() => (seen.includes("is withdrawn") ? true : undefined));
    process.kill(childrenOf(typing.pid!)[0]!, "SIGINT");
    await once(typing, "close");
    expect(steady(seen, [id])).toMatch(/hermes: approval <id 0> is withdrawn: refused by cli:\w+\r\n$/);
  });
});

/** Types these answers when it is asked. */
function watchOnTerminal(answers: readonly string[]) {
  const helper = fileURLToPath(new URL("../../support/answer-on-terminal.py", import.meta.url));
  const words = [helper, JSON.stringify(answers), HERMES, "approvals", "watch"];
  const typing = spawn("python3", words, { env, stdio: ["ignore", "pipe", "inherit"] });
  left.add(typing.pid!);
  return typing;
}

function childrenOf(pid: number): number[] {
  if (!existsSync(`/proc/${pid}/task/${pid}/children`)) return [];
  return readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").map(Number).filter(Boolean);
}

describe("hermes approvals token", () => {
  const SECRET = "s".repeat(40);
  beforeEach(() => {
    mkdirSync(join(desk.folder, "config"), { recursive: true });
    writeFileSync(join(desk.folder, "secret"), SECRET, { mode: 0o600 });
    writeFileSync(
      join(desk.folder, "config/hermes.yaml"),
      `approvals: { webhook: { url: "https://pager.example/x", secret_file: ${join(desk.folder, "secret")} } }\n`,
    );
  });

  it("gives the answer that it stands for, once", async () => {
    const { id, row, outcome } = await waiting();
    const token = signToken(SECRET, { id, answer: "once", expires: row.expires });
    expect(hermes(["approvals", "token", "-"], { env, input: `${token}\n` }).stdout).toBe(
      `${id.slice(0, 8)} is granted (once)\n`,
    );
    expect(await outcome).toMatchObject({ granted: true, by: "webhook:pager.example" });
    expect(run("token", token)).toMatchObject({ status: 1 });
  });

  it("refuses what is forged", () => {
    expect(run("token", "0123456789abcdef.once.9999999999999.x")).toMatchObject({
      status: 1,
      stderr: "hermes: approval by token: this token is not one of ours\n",
    });
  });

  it("serve takes them over HTTP", async () => {
    const serving = spawn(HERMES, ["approvals", "serve", "--json"], {
      env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const [line] = (await once(createInterface({ input: serving.stdout }), "line")) as [string];
    const { id, row, outcome } = await waiting();
    const token = signToken(SECRET, { id, answer: "no", expires: row.expires });
    const { url } = JSON.parse(line) as { url: string };
    const response = await fetch(url, { method: "POST", body: JSON.stringify({ token, note: "not now" }) });
    expect(response.status).toBe(200);
    expect(await outcome).toMatchObject({ granted: false, note: "not now" });
    serving.kill("SIGTERM");
    expect(await once(serving, "exit")).toEqual([0, null]);
  });
});

/** Without what HERMES says to the terminal itself. */
function withoutCommands(text: string): string {
  return text.replace(/\u001b(?:\[[0-9;?!]*[A-Za-z]|[()%].|\\)|[\u0018\u000f]/g, "");
}
