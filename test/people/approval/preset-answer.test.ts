import { describe, expect, it } from "vitest";
import { type ApprovalsSection, approvalsSection } from "../../../src/intent/guard/config/approvals.js";
import { Guard } from "../../../src/intent/guard/guard.js";
import { LAYERS } from "../../../src/intent/guard/layers.js";
import { starMatches } from "../../../src/nouns/glob.js";
import { commandParts } from "../../../src/people/approval/command-parts.js";
import { whyRunsAnything } from "../../../src/people/approval/interpreters.js";
import { presetAnswer } from "../../../src/people/approval/preset-answer.js";
import { asks, request } from "./support.js";

const answer = (
  section: Partial<ApprovalsSection>,
  more: Parameters<typeof request>[0] = {},
  workspace = "/home/me/work",
) => presetAnswer(request(more), approvalsSection.parse(section), workspace).action;

describe("rules of hermes.yaml", () => {
  it.each<[string, Partial<ApprovalsSection>["rules"] & object, "allow" | "ask" | "deny"]>([
    ["allow by name", [{ allow: "recursive-delete" }], "allow"],
    ["allow by pattern", [{ allow: "recursive-*" }], "allow"],
    ["leave others alone", [{ allow: "git-*" }], "ask"],
    ["refuse", [{ deny: "recursive-*" }], "deny"],
    ["the strictest holds, in any order", [{ deny: "*" }, { allow: "*" }], "deny"],
    ["ask comes before allow", [{ allow: "*" }, { ask: "recursive-delete" }], "ask"],
    ["only for a command", [{ allow: "*", command: "rm -rf build" }], "allow"],
    ["only for commands like it", [{ allow: "*", command: "rm -rf b*" }], "allow"],
    ["not for another command", [{ allow: "*", command: "rm -rf dist" }], "ask"],
    ["only in a workspace", [{ allow: "*", workspace: "/home/me/*" }], "allow"],
    ["not in another workspace", [{ allow: "*", workspace: "/home/you/*" }], "ask"],
  ])("%s", (_, rules, expected) => expect(answer({ rules })).toBe(expected));

  it("ask is asked although the allow-list has it", () => {
    expect(answer({ rules: [{ ask: "recursive-*" }], allow: ["recursive delete"] })).toBe("ask");
    expect(answer({ rules: [{ ask: "recursive-*" }], allow: ["exact:digest of rm -rf build"] })).toBe("ask");
  });

  it("a command that is allowed allows nothing that is put behind it", () => {
    const rules = [{ allow: "*", command: "rm -rf build*" }];
    for (const what of [
      "rm -rf build; rm -rf src",
      "rm -rf build\nrm x",
      "rm -rf build `x`",
      "rm -rf build | tee x",
    ])
      expect(answer({ rules }, { what }), what).toBe("ask");
    const programs = [["rm", "-rf", "build"], ["rm"]];
    expect(answer({ rules }, { programs })).toBe("ask");
  });

  it("of a composed command the part counts that a finding is about", () => {
    const parts = [
      { what: "rm -rf build", digest: "1", findings: [asks("recursive-delete")] },
      { what: "ls", digest: "2", findings: [] },
    ];
    const rules = [{ allow: "*", command: "rm -rf build" }];
    expect(answer({ rules }, { what: "rm -rf build && ls", parts })).toBe("allow");
    const worse = [...parts, { what: "rm -rf src", digest: "3", findings: [asks("recursive-delete")] }];
    expect(answer({ rules }, { what: "rm -rf build && ls; rm -rf src", parts: worse })).toBe("ask");
  });

  it("what belongs to no part of a composed command is not allowed by a rule on one", () => {
    const parts = [
      { what: "rm -rf build", digest: "1", findings: [asks("recursive-delete")] },
      { what: "ls", digest: "2", findings: [] },
    ];
    const rules = [{ allow: "*", command: "rm -rf *" }];
    const what = "rm -rf build && ls";
    const more = (rule: string, reason?: string) => [asks("recursive-delete"), asks(rule, reason)];
    expect(answer({ rules }, { what, parts, findings: more("dynamic-code") })).toBe("ask");
    expect(answer({ rules }, { what, parts, findings: more("recursive-delete") })).toBe("ask");
    const piped = [{ ...parts[0]!, what: "rm -rf build | sh" }, parts[1]!];
    expect(answer({ rules }, { what, parts: piped })).toBe("ask");
  });

  it("of a deed its words count", () => {
    const rules = [{ allow: "*", command: "git push *" }];
    const deed = { kind: "DEED", what: "run git push origin main" } as const;
    expect(answer({ rules }, { ...deed, programs: [["git", "push", "origin", "main"]] })).toBe("allow");
    expect(answer({ rules }, { ...deed, programs: [] })).toBe("ask");
  });

  it("a refusal counts wherever its command stands", () => {
    const rules = [{ deny: "*", command: "rm -rf *" }];
    expect(answer({ rules }, { what: "ls && rm -rf x", programs: [["ls"], ["rm", "-rf", "x"]] })).toBe(
      "deny",
    );
  });

  it("take one action each, and nothing that waiting does not make safe", () => {
    const wrong = (section: object) => approvalsSection.safeParse(section).success;
    expect(wrong({ rules: [{ allow: "a", deny: "b" }] })).toBe(false);
    expect(wrong({ rules: [{ command: "ls" }] })).toBe(false);
    for (const one of [
      "secrets",
      "privilege",
      "publishes",
      "deletes",
      "destroys",
      "recursive-delete",
      "secret-sent",
    ])
      expect(wrong({ auto: [one] }), one).toBe(false);
    expect(wrong({ auto: ["listen", "network", "writes"] })).toBe(true);
  });
});

describe("parts of a composed command", () => {
  const guard = new Guard(LAYERS, { workspace: "/w", cwd: "/w" });
  const parts = (command: string) =>
    commandParts(command, guard.check({ kind: "command", input: command }).findings, (text) => `#${text}`);

  it("have their own text, digest and findings", () => {
    expect(parts("git reset --hard && rm -rf a | cat; ls")).toMatchObject([
      { what: "git reset --hard", digest: "#git reset --hard", findings: [{ rule: "git-destructive" }] },
      { what: "rm -rf a | cat", digest: "#rm -rf a | cat", findings: [{ rule: "recursive-delete" }] },
      { what: "ls", findings: [] },
    ]);
  });

  it.each([
    "rm -rf a",
    "rm -rf a | cat",
    "cd x && rm -rf a",
    "X=1; rm -rf $X",
    "f() { rm -rf a; }; f",
    "rm -rf a & ls",
    "(rm -rf a); ls",
    "cat <<E && ls\nx\nE",
    "$X a && ls",
    "ls && 'unclosed",
  ])("there are none in: %s", (command) => expect(parts(command)).toEqual([]));
});

describe("programs that are never approved for always", () => {
  it.each(
    [
      "sh bash dash zsh ksh fish busybox python3 /usr/bin/python3.12 perl ruby node nodejs deno bun php8.2 lua5.4 awk gawk mawk",
      "env sudo doas su xargs nohup nice timeout setsid ssh docker podman make gmake npx npm eval parallel watch strace ltrace",
      "gdb vim vi nvim emacs less ./node sed psql sqlite3 tclsh expect script screen tmux unshare chroot systemd-run socat",
    ].flatMap((line) => line.split(" ")),
  )("%s", (program) => expect(whyRunsAnything([program, "x"])).toContain("runs whatever it is told to"));

  it.each([
    "find . -exec rm {} ;",
    "fd x -x rm",
    "tar xf a --checkpoint-action=exec=sh",
    "tar -I sh -xf a",
    "git -c core.pager=sh log",
    "rsync -e sh a b:",
    "sort --compress-program=sh",
  ])("%s", (line) => expect(whyRunsAnything(line.split(" "))).toBeDefined());

  it.each([
    "rm -rf build",
    "git push origin main",
    "find . -name x",
    "tar xf a.tar",
    "kill 12",
    "cp a b",
    "./deploy.sh",
  ])("but %s can be", (line) => expect(whyRunsAnything(line.split(" "))).toBeUndefined());
});

describe("patterns", () => {
  it.each([
    ["*", "", true],
    ["a*", "abc", true],
    ["*c", "abc", true],
    ["a*c", "ac", true],
    ["a*b*c", "a-b-b-c", true],
    ["ab*ba", "aba", false],
    ["a", "ab", false],
    ["a*b", "ab ", false],
    ["[a]", "a", false],
  ])("%s on %j: %s", (pattern, text, expected) => expect(starMatches(pattern, text)).toBe(expected));
});
