import { describe, expect, it } from "vitest";
import { type AllowEntry, allowancesOf } from "../../../src/intent/guard/config/allow.js";
import { unknownRule } from "../../../src/intent/guard/config/rule-names.js";
import { entryAgainst } from "../../../src/intent/guard/entry-against.js";
import { Guard } from "../../../src/intent/guard/guard.js";
import { LAYERS } from "../../../src/intent/guard/layers.js";
import type { Subject } from "../../../src/intent/guard/subject.js";
import { allowsCommand, allowsPath, commandExpression, literally } from "../../../src/nouns/allowance.js";

const HOME = "/home/ann";
const WORKSPACE = "/home/ann/app";

const guard = (...allow: AllowEntry[]) =>
  new Guard(LAYERS, { workspace: WORKSPACE, home: HOME, config: { allow } });
const command = (input: string): Subject => ({ kind: "command", input, fields: { cwd: WORKSPACE } });
const action = (subject: Subject, ...allow: AllowEntry[]) => guard(...allow).check(subject).action;

describe("a command that hermes.yaml allows", () => {
  const push: AllowEntry = { run: "git push origin *" };

  it.each([
    "git push origin main",
    "git push origin main 2>&1",
    "git status && git push origin main",
    "git 'push' \"origin\" main",
  ])("runs: %s", (input) => {
    expect(action(command(input))).toBe("deny");
    expect(action(command(input), push)).toBe("allow");
  });

  it.each([
    "git push",
    "git push origin main --force",
    "git push origin $BRANCH",
    "git push origin $(cat x)",
    "GIT_SSH_COMMAND=x git push origin main",
    "git push origin main > /etc/x",
    "git push origin main; git push -f",
    "git push origin main; rm -rf ~",
    "export PATH=/tmp:$PATH; git push origin main",
    "echo x | git push origin main",
  ])("does not take along: %s", (input) => {
    expect(action(command(input), push)).not.toBe("allow");
  });

  it("runs as the script of a shell too, which is how the supervisor sees it", () => {
    expect(action(command("bash -c 'git push origin main'"), push)).toBe("allow");
    expect(action(command("bash -c 'git push origin main; git push -f'"), push)).toBe("deny");
  });

  it("is allowed in its workspace alone, if it names one", () => {
    expect(action(command("git push origin main"), { ...push, in: "~/app" })).toBe("allow");
    expect(action(command("git push origin main"), { ...push, in: "~/other" })).toBe("deny");
  });

  it("is not the guard's to allow when the entry is for another policy", () => {
    expect(action(command("git push origin main"), { ...push, policy: "untrusted" })).toBe("deny");
  });

  it("stays refused where an action in hermes.yaml says so", () => {
    const strict = new Guard(LAYERS, {
      workspace: WORKSPACE,
      home: HOME,
      config: { allow: [push] },
      actions: { publish: "deny" },
    });
    expect(strict.check(command("git push origin main")).action).toBe("deny");
  });

  it("never lifts what concerns HERMES itself", () => {
    expect(action(command("hermes allow read /x"), { run: "hermes **" })).toBe("deny");
  });
});

describe("a file that hermes.yaml allows", () => {
  const read = (input: string): Subject => ({ kind: "path", input, fields: { access: "read" } });
  const write = (input: string): Subject => ({ kind: "path", input, fields: { access: "write" } });

  it("may be read by tools and commands, and not changed", () => {
    const env: AllowEntry = { read: "~/app/.env" };
    for (const subject of [
      read(".env"),
      command("cat .env"),
      command("python3 -c 'open(\".env\").read()'"),
    ]) {
      expect(action(subject), subject.input).toBe("deny");
      expect(action(subject, env), subject.input).toBe("allow");
    }
    expect(action(write(".env"), env)).toBe("ask");
    expect(action(read("other/.env"), env)).toBe("deny");
    expect(action(command("cat .env ~/.ssh/id_rsa"), env)).toBe("deny");
  });

  it("may be changed and read, with all below a folder", () => {
    const notes: AllowEntry = { write: "~/notes/**" };
    expect(action(write("/home/ann/notes/a/b"))).toBe("ask");
    expect(action(write("/home/ann/notes/a/b"), notes)).toBe("allow");
    expect(action(command("rm -rf ~/notes/a"), notes)).toBe("allow");
    expect(action(command("rm -rf ~/notes2"), notes)).toBe("ask");
  });

  it("makes other programs run code later only where the entry names it", () => {
    const hook = "/home/ann/notes/.git/hooks/pre-commit";
    expect(action(write(hook), { write: "~/notes/**" })).not.toBe("allow");
    expect(action(command(`echo x > ${hook}`), { write: "~/notes/**" })).not.toBe("allow");
    expect(action(write(hook), { write: hook })).toBe("allow");
  });

  it("is never a device, another process's secrets or a record of HERMES", () => {
    expect(action(read("/home/ann/.local/state/hermes/hermes.db.key"), { read: "~/.local/**" })).toBe("deny");
    expect(action(read("/proc/1/environ"), { read: "/proc/**" })).toBe("deny");
    expect(action(write("/dev/sda"), { write: "/dev/*" })).toBe("deny");
  });

  it("stays refused where hermes.yaml or a project refuses it", () => {
    const config = { allow: [{ read: "~/app/.env" }], files: { deny: ["/home/ann/app/.env"] } };
    expect(new Guard(LAYERS, { workspace: WORKSPACE, home: HOME, config }).check(read(".env")).action).toBe(
      "deny",
    );
    const project = { allow: [{ read: "~/app/.env" }] };
    const atLeast = { "env-file": "deny" } as const;
    expect(
      new Guard(LAYERS, { workspace: WORKSPACE, home: HOME, config: project, atLeast }).check(read(".env"))
        .action,
    ).toBe("deny");
  });
});

describe("the entry against a finding", () => {
  it.each([
    [command("git push origin main"), { run: ["git", "push", "origin", "main"] }],
    [command("cat .env"), { read: "/home/ann/app/.env" }],
    [command("echo x > /etc/motd"), { write: "/etc/motd" }],
    [{ kind: "path", input: ".env", fields: { access: "read" } }, { read: "/home/ann/app/.env" }],
    [{ kind: "url", input: "http://127.0.0.1:3000/x" }, { connect: "127.0.0.1:3000" }],
    [command("git push $(cat x)"), undefined],
    [command("hermes approvals approve 1"), undefined],
    [{ kind: "url", input: "http://metadata.google.internal/" }, undefined],
  ] as [Subject, AllowEntry | undefined][])("%j", (subject, entry) => {
    const { findings } = guard().check(subject);
    const deciding = findings.find((finding) => finding.action === "deny")!;
    expect(entryAgainst(deciding, subject)).toEqual(entry);
    // What it says lifts what it was made from.
    if (entry && !("connect" in entry)) expect(action(subject, entry)).toBe("allow");
  });
});

describe("patterns", () => {
  const [entry] = allowancesOf([{ read: "/srv/a\\*b/*.txt" }], WORKSPACE, HOME);

  it("take * and ? within a name, ** for folders, and a backslash", () => {
    expect(allowsPath(entry!, "read", "/srv/a*b/x.txt")).toBe(true);
    expect(allowsPath(entry!, "read", "/srv/axb/x.txt")).toBe(false);
    expect(allowsPath(entry!, "read", "/srv/a*b/c/x.txt")).toBe(false);
    expect(allowsPath(entry!, "write", "/srv/a*b/x.txt")).toBe(false);
  });

  it.each([
    ["git push **", "git push", true],
    ["git push **", "git push origin main", true],
    ["git push *", "git push", false],
    ["git push *", "git push a b", false],
    ["git push", "/usr/bin/git push", true],
    ["/usr/bin/git push", "git push", false],
    ["gi? push", "git push", true],
    ["a.b", "axb", false],
  ])("%s of %s: %s, as words and as the expression of the kernel's rules", (pattern, text, expected) => {
    const words = pattern.split(" ");
    const given = text.split(" ");
    const run = { does: "run", what: words, policies: [] } as const;
    expect(allowsCommand(run, given)).toBe(expected);
    // The supervisor names the file by its last name, or whole where the pattern does.
    if (pattern.startsWith("/")) return;
    const named = [given[0]!.replace(/.*\//, ""), ...given.slice(1)].join(" ");
    const source = commandExpression(words).replace(/\\x\{([0-9a-f]+)\}/g, "\\u{$1}");
    expect(new RegExp(source, "u").test(named)).toBe(expected);
  });

  it("a text as a pattern matches itself alone", () => {
    const text = "/srv/a*b?[c]{d}\\e";
    const [own] = allowancesOf([{ read: literally(text) }], WORKSPACE, HOME);
    expect(allowsPath(own!, "read", text)).toBe(true);
    expect(allowsPath(own!, "read", "/srv/aXb?[c]{d}\\e")).toBe(false);
  });
});

it("every rule that the tables of commands have is a known name", () => {
  for (const name of ["publish", "fork-bomb", "env-file", "loopback", "python-shell", "homograph"])
    expect(unknownRule(name)).toBeUndefined();
  expect(unknownRule("publsh")).toMatch(/did you mean `publish`/);
});
