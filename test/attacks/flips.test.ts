import { spawn } from "node:child_process";
import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { chmodSync, copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { root } from "../support/root.js";
import { until } from "../support/until.js";
import { compiled, ofArena } from "./attacks.js";

/**
 * Rules on words that another thread flips without a pause: what is decided on must be what happens. Attacks on what the
 * policies of the arena forbid lie with the others (flip-*.c).
 */

const ATTEMPTS = 1500;
const DOORS = ["auto", "trace"] as const;

let folder: string;
let flip: string;
let receiver: Socket;
const received: string[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hermes-flips-"));
  flip = compiled(join(root, "test/attacks/flips/flip.c"));
  for (const word of ["good1", "evil1"]) {
    copyFileSync(ofArena("tool", `-DSAYS="${word} ran"`), join(folder, word));
    chmodSync(join(folder, word), 0o755);
  }
  receiver = createSocket({ type: "udp4", recvBufferSize: 4 << 20 });
  receiver.on("message", (bytes) => received.push(String(bytes)));
  await new Promise<void>((done) => receiver.bind(0, "127.0.0.1", done));
});

afterAll(() => {
  receiver.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Under {
  readonly door: string;
  readonly policies: readonly string[];
}

/** What the program printed, alone or under these policies. The word good1 flips to evil1 and back. */
async function flipped([how, ...words]: readonly string[], under?: Under): Promise<string> {
  const command = [flip, how!, String(ATTEMPTS), "good1", "evil1", ...words];
  const policies = (under?.policies ?? []).flatMap((file) => ["--policy", file]);
  const hermes = [join(root, "dist/cli/main.cjs"), "run", "-q", "--fence", "none"];
  const [file, ...args] = under
    ? [process.execPath, ...hermes, "--door", under.door, ...policies, "--", ...command]
    : command;
  const child = spawn(file!, args, { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout.on("data", (bytes) => (output += bytes));
  const [status] = (await once(child, "close")) as [number | null];
  expect(status, "the program ran to its end").toBe(0);
  return output;
}

function policyFile(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

/** It works alone; through each door, only the good word gets through. */
async function holds(words: readonly string[], policy: string): Promise<void> {
  expect(await flipped(words)).toContain("evil1");
  for (const door of DOORS) {
    const output = await flipped(words, { door, policies: [policyFile("policy.yaml", policy)] });
    expect(output, door).toContain("good1");
    expect(output, door).not.toContain("evil1");
  }
}

describe("a word that flips while an execve is decided on", { timeout: 120_000 }, () => {
  const allowList = (rule: string) =>
    `name: list\ndefault: deny\nrules:\n  - { id: r1, allow: exec, path: "${flip}" }\n  - ${rule}\n  - { id: r2, allow: [read, write, connect, bind, signal] }\n`;

  it("does not get past a rule on words", () =>
    holds(
      ["execve", "/bin/echo", "good1", "A=b"],
      "name: words\nrules:\n  - { id: r3, deny: exec, argv: [echo, evil1], reason: no }\n",
    ));

  it("does not get past a rule on the environment", () =>
    holds(
      ["execve", "/usr/bin/env", "--", "WORD=good1"],
      'name: env\nrules:\n  - { id: r4, deny: exec, env: { WORD: "evil*" }, reason: no }\n',
    ));

  it("does not get past a list of the words that are allowed", () =>
    holds(
      ["execve", "/bin/echo", "good1", "A=b"],
      allowList("{ id: r5, allow: exec, argv: [echo, good1] }"),
    ));

  it("does not get past a list of the programs that are allowed", () =>
    holds(
      ["execve", join(folder, "good1"), "word", "A=b"],
      allowList(`{ id: r6, allow: exec, path: "${folder}/good1" }`),
    ));
});

describe("data that flips while a datagram is decided on", { timeout: 120_000 }, () => {
  const LANGUAGES = {
    lua: `for _, name in ipairs({ "sendto", "sendmsg", "sendmmsg" }) do
  hermes.on(name, function(e) if e.data and e.data:find("evil") then return hermes.deny("no") end end)
end`,
    ts: `import { definePolicy, deny } from "hermes-runtime";
const look = (e) => (e.data?.includes("evil") ? deny("no") : undefined);
export default definePolicy({ name: "data", on: { sendto: look, sendmsg: look, sendmmsg: look } });`,
  };
  const rule = 'name: where\nrules:\n  - { id: r7, deny: connect, address: "192.0.2.1", reason: no }\n';

  /** What one socket sends over loopback arrives in order, so this comes after all that the program sent. */
  async function allHaveArrived(): Promise<void> {
    const last = createSocket("udp4");
    await until(async () => {
      await new Promise((done) => last.send("the end", receiver.address().port, "127.0.0.1", done));
      return received.includes("the end");
    }, "our own last datagram");
    last.close();
  }

  for (const [language, text] of Object.entries(LANGUAGES))
    for (const call of ["sendto", "sendmsg", "sendmmsg"])
      it(`is what was decided on: ${call}, in ${language}`, async () => {
        const policies = [policyFile(`data.${language}`, text), policyFile("where.yaml", rule)];
        for (const door of DOORS) {
          received.length = 0;
          await flipped([call, String(receiver.address().port), "a good1 text"], { door, policies });
          await allHaveArrived();
          expect(received.some((said) => said.includes("good1"))).toBe(true);
          expect(received.filter((said) => said.includes("evil1"))).toEqual([]);
        }
      });
});

describe("a name that flips while it is decided on", { timeout: 120_000 }, () => {
  const rules = `name: names
rules:
  - { id: r8, deny: setxattr, where: { name: "*evil*" }, reason: no }
  - { id: r9, deny: symlink, where: { old: "*evil*" }, reason: no }
  - { id: r10, deny: write, path: "/nowhere/**", reason: no }
`;

  for (const [what, how, name] of [
    ["of an extended attribute", "setxattr", "user.good1"],
    ["that a link leads to", "symlink", "to-good1"],
  ] as const)
    it(`${what} is what was decided on`, async () => {
      const on = (file: string) => {
        if (how === "setxattr") writeFileSync(join(folder, file), "");
        return [how, file, name];
      };
      expect(await flipped(on("alone"))).toContain("BROKE");
      for (const door of DOORS)
        expect(
          await flipped(on(`through-${door}`), { door, policies: [policyFile("names.yaml", rules)] }),
        ).toBe("");
    });
});
