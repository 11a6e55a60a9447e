import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import {
  type Answer,
  ask,
  definePolicy,
  deny,
  emulate,
  fault,
  type Policy,
  type Question,
  redirect,
  start,
  type Verdict,
} from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { HERMES } from "../support/cli.js";

let folder: string;
let secret: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-ask-"));
  secret = join(folder, "secret");
  writeFileSync(secret, "told");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const asking = definePolicy({
  name: "asking",
  actions: ["ask"],
  on: { openat: (e) => (e.path === secret ? ask("A person decides.") : undefined) },
});

interface Asked {
  readonly questions: Question[];
  readonly withdrawn: string[];
}

/** Runs a script; `reply` answers each question, or leaves it open. */
async function run(
  script: string,
  reply: (question: Question) => Answer | undefined,
  patience = 60_000,
  others: readonly Policy[] = [],
) {
  const seen: Asked = { questions: [], withdrawn: [] };
  const output = join(folder, "output");
  const session = await start(
    {
      command: ["sh", "-c", `exec > ${output}; ${script}`],
      policy: [asking, ...others],
      ask: { patience },
    },
    {
      question: (question, answer) => {
        seen.questions.push(question);
        const given = reply(question);
        if (given) setTimeout(() => answer(given), 20);
      },
      withdrawn: (_, why) => void seen.withdrawn.push(why),
    },
  );
  const result = await session.result;
  return { ...seen, result, output: readFileSync(output, "utf8") };
}

describe("a verdict to ask", () => {
  it("holds the call until an approver answers, and says who, what and why", async () => {
    const { questions, output } = await run(`cat ${secret}`, () => "once");
    expect(output).toBe("told");
    expect(questions).toMatchObject([
      { call: "openat", policy: "asking", reason: "A person decides.", subject: { path: secret } },
    ]);
    expect(questions[0]!.what).toBe(`openat ${secret} (O_RDONLY)`);
    expect(questions[0]!.who.map(({ argv }) => argv[0])).toEqual(["cat", "sh"]);
  });

  it("is a refusal when the answer is no", async () => {
    const { output, result } = await run(`cat ${secret} 2>&1; cat ${secret} 2>&1`, () => "no");
    expect(output.match(/Permission denied/g)).toHaveLength(2);
    expect(result.summary.byAction.deny).toBe(2);
  });

  it("asks again after once, and not after session", async () => {
    const once = await run(`cat ${secret}; cat ${secret}`, () => "once");
    expect([once.questions.length, once.output]).toEqual([2, "toldtold"]);
    const session = await run(`cat ${secret}; cat ${secret}; cat ${secret}`, () => "session");
    expect([session.questions.length, session.output]).toEqual([1, "toldtoldtold"]);
  });

  describe("of one policy, where another one changes the call", () => {
    const other = (action: Verdict["action"], verdict: () => Verdict) =>
      definePolicy({
        name: "other",
        actions: [action],
        on: { openat: (e) => (e.path === secret ? verdict() : undefined) },
      });
    const approved = (policy: Policy) => run(`cat ${secret} 2>&1`, () => "once", 60_000, [policy]);

    it("an approval does not lead past a redirect", async () => {
      const decoy = join(folder, "decoy");
      writeFileSync(decoy, "made up");
      const { output, questions } = await approved(other("modify", () => redirect(decoy)));
      expect({ output, questions: questions.length }).toEqual({ output: "made up", questions: 1 });
    });

    it("nor past an emulation", async () => {
      const { output } = await approved(other("emulate", () => emulate(-2)));
      expect(output).toMatch(/No such file/);
    });

    it("nor past a fault", async () => {
      const { output } = await approved(other("fault", () => fault({ errno: "EIO" })));
      expect(output).toMatch(/Input\/output error/);
    });

    it("a refusal refuses, and no one is asked", async () => {
      const { output, questions } = await approved(other("deny", () => deny("No.", "EPERM")));
      expect(output).toMatch(/not permitted/);
      expect(questions).toEqual([]);
    });

    it("nor is anyone asked about a call that would become one to ask about", async () => {
      const asksAll = definePolicy({
        name: "asks-all",
        actions: ["ask"],
        on: {
          openat: (e) => (e.path?.startsWith(folder) && !e.path.endsWith("output") ? ask("All.") : undefined),
        },
      });
      const decoy = join(folder, "decoy");
      const policies = [asksAll, other("modify", () => redirect(decoy))];
      const { output, questions } = await run(`cat ${secret} 2>&1`, () => "once", 60_000, policies);
      expect(output).toMatch(/denied/);
      expect(questions).toEqual([]);
    });
  });

  it("is a refusal when no approver answers in time", async () => {
    const { output, withdrawn } = await run(`cat ${secret} 2>&1`, () => undefined, 200);
    expect(output).toContain("Permission denied");
    expect(withdrawn).toHaveLength(1);
  });

  it("is withdrawn when the caller is killed", async () => {
    const { withdrawn, output } = await run(`timeout -s KILL 0.3 cat ${secret}; echo over`, () => undefined);
    expect(output).toContain("over");
    expect(withdrawn).toHaveLength(1);
  });

  it("lets other processes run on meanwhile", async () => {
    const go = join(folder, "go");
    const { output } = await run(
      `cat ${secret} & until [ -e ${go} ]; do sleep 0.02; done; echo on; echo > ${go}2; wait`,
      () => {
        writeFileSync(go, "");
        return "once";
      },
    );
    expect(output).toContain("on\n");
    expect(output).toContain("told");
    expect(existsSync(`${go}2`)).toBe(true);
  });

  it("that was refused is not asked again by the same process", async () => {
    const { questions, output } = await run(
      `python3 -c 'for i in range(3):
  try: open("${secret}")
  except PermissionError: print("no")'`,
      () => "no",
    );
    expect([questions.length, output]).toEqual([1, "no\nno\nno\n"]);
  });

  it("is refused after too many questions", async () => {
    const { questions, output } = await run(
      `for i in $(seq 60); do cat ${secret} >/dev/null 2>&1 || echo no; done`,
      () => "once",
    );
    expect(questions.length).toBeLessThanOrEqual(40);
    expect(output.split("\n").filter((line) => line === "no").length).toBe(60 - questions.length);
  });

  it.each([["no"], ["terminal"]])(
    "is a refusal at once with --ask %s and no terminal, and the summary says what to do",
    (where) => {
      const words = ["-w", HERMES, "run", "--ask", where, "-p", yaml(), "--", "cat", secret];
      const { stderr } = spawnSync("setsid", words, { encoding: "utf8", input: "", timeout: 60_000 });
      expect(stderr).toMatch(/cat: .*Permission denied/);
      expect(stderr).toContain(
        "needs approval, and no approver is connected (use --ask terminal or --ask queue): A person decides.",
      );
    },
  );
});

function yaml(): string {
  const file = join(folder, "p.yaml");
  const rules = [
    `{ id: file, ask: read, path: ${secret}, reason: A person decides. }`,
    "{ id: who, ask: exec, argv: [id], reason: A person decides. }",
  ];
  writeFileSync(file, `name: asking\nrules:\n  - ${rules.join("\n  - ")}\n`);
  return file;
}

const DRIVER = fileURLToPath(new URL("../support/answer-on-terminal.py", import.meta.url));
function onTerminal(answers: readonly string[], ...args: string[]): string {
  return spawnSync(
    "/usr/bin/python3",
    [DRIVER, JSON.stringify(answers), HERMES, "run", "-p", yaml(), ...args],
    {
      env: { ...process.env, HERMES_HOME: join(folder, "home") },
      encoding: "utf8",
      timeout: 100_000,
    },
  ).stdout;
}

describe("on a terminal", () => {
  it("a person is asked, and Enter is no", () => {
    const said = onTerminal(
      ["y", "", "nonsense", "s"],
      "--",
      "sh",
      "-c",
      `cat ${secret}; cat ${secret}; cat ${secret}`,
    );
    expect(said).toContain(`what  openat ${secret} (O_RDONLY)`);
    expect(said).toContain("why   asking/file: A person decides.");
    expect(said).toContain("please answer");
    expect(said.match(/told/g)).toHaveLength(2);
    expect(said.match(/Permission denied/g)).toHaveLength(1);
  });

  it("an answer for always holds for this question alone, also next time", () => {
    const first = onTerminal(["a"], "--", "sh", "-c", "id; true");
    expect(first).toContain("uid=");
    const again = onTerminal(["n"], "--", "sh", "-c", "id; id -u; true");
    expect(again).toContain("uid=");
    expect(again).toContain("what  run id -u");
    expect(again).toContain("Permission denied");
  });

  it("rules that an earlier version kept in a file (--approvals) answer in advance", () => {
    const approvals = join(folder, "approved.yaml");
    const rule =
      '{ id: approved-1, allow: exec, path: /usr/bin/id, argv_matches: "^\\\\S+$", reason: Kept. }';
    writeFileSync(approvals, `name: approved\nrules:\n  - ${rule}\n`);
    rmSync(join(folder, "home"), { recursive: true, force: true });
    const again = onTerminal(["n"], "--approvals", approvals, "--", "sh", "-c", "id; id -u; true");
    expect(again).toContain("uid=");
    expect(again).toContain("what  run id -u");
    expect(again).toContain("Permission denied");
  });

  it("what an argument says cannot move the cursor", () => {
    const said = onTerminal(["n"], "--", "sh", "-c", "id \"$(printf 'x\\033[2Jy')\"; true");
    expect(said).toContain("run id 'x\\x1b[2Jy'");
  });
});
