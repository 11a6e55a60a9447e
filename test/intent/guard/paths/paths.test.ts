import { lstatSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Guard } from "../../../../src/intent/guard/guard.js";
import { hostGuard } from "../../../../src/intent/guard/host.js";
import { validateWithinDir as exported } from "../../../../src/intent/guard/index.js";
import { type Files, NO_FILES } from "../../../../src/intent/guard/layer.js";
import { LAYERS } from "../../../../src/intent/guard/layers.js";
import { hasTraversalComponent } from "../../../../src/intent/guard/paths/components.js";
import { disguise } from "../../../../src/intent/guard/paths/disguise.js";
import { validateWithinDir } from "../../../../src/intent/guard/paths/within.js";

const guard = new Guard(LAYERS, { workspace: "/projects/app", home: "/home/ann" });
const rules = (input: string, access?: string) =>
  guard
    .check({ kind: "path", input, ...(access && { fields: { access } }) })
    .findings.map(({ rule }) => rule);

describe("has_traversal_component", () => {
  it.each(["..", "../x", "a/../b", "a/..", "a\\..\\b", "/..", ".. /x", "..;/x", "..;v=1/x"])(
    "sees it in %s",
    (path) => expect(hasTraversalComponent(path)).toBe(true),
  );
  it.each(["a..b", "..a", "a../b", "...", ".hidden", "a/.../b", "v1..v2", ""])(
    "does not see it in %s",
    (path) => expect(hasTraversalComponent(path)).toBe(false),
  );
});

describe("validate_within_dir", () => {
  let root: string;
  const real: Pick<Files, "realpath" | "lstat"> = {
    realpath: (path) => attempt(() => realpathSync.native(path)),
    lstat: (path) =>
      attempt(() => {
        const info = lstatSync(path);
        return {
          kind: info.isSymbolicLink() ? "link" : info.isDirectory() ? "folder" : "file",
          size: info.size,
        };
      }),
  };
  beforeAll(() => {
    root = mkdtempSync(join(tmpdir(), "hermes-paths-"));
    mkdirSync(join(root, "in/sub"), { recursive: true });
    mkdirSync(join(root, "out"));
    writeFileSync(join(root, "in/a.txt"), "");
    symlinkSync("../out", join(root, "in/leads-out"));
    symlinkSync("a.txt", join(root, "in/leads-in"));
    symlinkSync("nowhere", join(root, "in/dangling"));
    symlinkSync("loop", join(root, "in/loop"));
    symlinkSync("../in/sub", join(root, "out/back"));
    symlinkSync(join(root, "in"), join(root, "alias"));
    symlinkSync("../out/back", join(root, "in/round"));
  });
  afterAll(() => rmSync(root, { recursive: true, force: true }));

  it.each([
    ["a file", "a.txt", true],
    ["a file that does not exist yet", "new/deep/file", true],
    ["the folder itself", ".", true],
    ["up and down again", "sub/../a.txt", true],
    ["a link that stays inside", "leads-in", true],
    ["a link out and back in", "round/x", true],
    ["a link out of it", "leads-out", false],
    ["a new file behind a link out of it", "leads-out/new", false],
    ["up from where a link led", "leads-out/../x", false],
    ["a link to nowhere", "dangling", false],
    ["a link to itself", "loop", false],
    ["..", "..", false],
    ["../out", "../out", false],
    ["a NUL byte", "a.txt\0", false],
    ["a folder whose name starts like it", "../in-other", false],
  ])("%s", (_, path, inside) => {
    expect(validateWithinDir(path, join(root, "in"), real)).toBe(inside);
    // The same through another name of the folder.
    if (!path.startsWith("..")) expect(validateWithinDir(path, join(root, "alias"), real)).toBe(inside);
  });

  it("an absolute path counts as it is", () => {
    expect(validateWithinDir(join(root, "in/a.txt"), join(root, "in"), real)).toBe(true);
    expect(validateWithinDir(join(root, "out"), join(root, "in"), real)).toBe(false);
    expect(validateWithinDir("/etc/passwd", join(root, "in"), NO_FILES)).toBe(false);
  });

  it("takes a path and a folder, and looks at this machine, as the package exports it", () => {
    expect(exported(join(root, "in/a.txt"), join(root, "in"))).toBe(true);
    expect(exported(join(root, "out"), join(root, "in"))).toBe(false);
    expect(exported("../x", join(root, "in"))).toBe(false);
  });

  it("the guard of this machine sees links out of the workspace", () => {
    const here = hostGuard({ workspace: join(root, "in"), home: "/home/ann" });
    const action = (input: string, access: string) =>
      here.check({ kind: "path", input, fields: { access } }).action;
    expect(action("leads-out/x", "write")).toBe("deny");
    expect(action("leads-out/x", "read")).toBe("ask");
    expect(action("leads-in", "write")).toBe("allow");
  });

  it("a device is a device behind any number of links", () => {
    symlinkSync("/dev/zero", join(root, "in/zeros"));
    symlinkSync("zeros", join(root, "in/data.bin"));
    const here = hostGuard({ workspace: join(root, "in"), home: "/home/ann" });
    expect(here.check({ kind: "path", input: "data.bin" }).findings.map(({ rule }) => rule)).toContain(
      "device",
    );
  });
});

function attempt<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

describe("disguises", () => {
  it.each([
    ["a NUL byte", "a.php\0.png", "nul-byte"],
    ["an encoded NUL byte", "a.php%00.png", "nul-byte"],
    ["percent escapes", "%2e%2e%2fetc", "disguised-traversal"],
    ["double percent escapes", "%252e%252e%252fetc", "disguised-traversal"],
    ["overlong UTF-8 in two bytes", "..%c0%afetc", "disguised-traversal"],
    ["overlong UTF-8 in three bytes", "..%e0%80%afetc", "disguised-traversal"],
    ["%u escapes", "%u002e%u002e%u2215etc", "disguised-traversal"],
    ["full-width dots and slash", "．．／etc", "disguised-traversal"],
    ["the division slash", "..∕..∕etc", "disguised-traversal"],
    ["the fraction slash", "..⁄etc", "disguised-traversal"],
    ["the two dot leader", "‥/etc", "disguised-traversal"],
    ["one dot leaders", "․․/etc", "disguised-traversal"],
    ["zero-width characters", ".\u200b./etc", "disguised-traversal"],
    ["what remains when ../ is removed", "....//etc", "disguised-traversal"],
    ["escapes of programming languages", "\\x2e\\x2e\\x2fetc", "disguised-traversal"],
    ["character references", "&#46;&#46;&#47;etc", "disguised-traversal"],
    ["reordered text", "im\u202egnp.exe", "bidi-path"],
    ["a device namespace", "\\\\.\\PhysicalDrive0", "device-namespace"],
    ["an extended path", "\\\\?\\C:\\x", "device-namespace"],
    ["a UNC path", "\\\\server\\share\\x", "unc-path"],
    ["an alternate stream", "a.txt::$DATA", "alternate-stream"],
    ["a stream with a name", "a.txt:b.exe", "alternate-stream"],
    ["a device name", "sub/CON", "device-name"],
    ["a device name with an extension", "NUL.txt", "device-name"],
    ["a device name in a Windows path", "x\\aux.c", "device-name"],
    ["a short name", "PROGRA~1", "short-name"],
    ["the short name of .git", "git~1/config", "short-name"],
    ["a length beyond the limit of paths", "a/".repeat(3000), "path-too-long"],
  ])("%s", (_, path, rule) => expect(disguise(path)?.rule).toBe(rule));

  it.each([
    "aux.c",
    "日本／資料.txt",
    "100%.txt",
    "a:b",
    "👨‍👩‍👧.png",
    "نامه‌ها.txt",
    "src/a.ts:12",
    "x~1.txt",
    "...",
  ])("%s is an ordinary name", (path) => expect(disguise(path)).toBeUndefined());

  it("trailing dots and spaces, drives and case do not hide what is protected", () => {
    for (const path of [".env.", ".ENV", "id_rsa ", "C:\\Users\\x\\.ssh\\id_rsa", "file:///etc/shadow"])
      expect(guard.check({ kind: "path", input: path }).action, path).toBe("deny");
  });
});

describe("the workspace", () => {
  it("cannot be left with ..", () => {
    expect(rules("../x")).toEqual(["traversal"]);
    expect(rules("a/../../x")).toEqual(["traversal"]);
    expect(rules("/projects/app/../x")).toEqual(["traversal"]);
    expect(rules("a/../b")).toEqual([]);
  });

  it("is where writing needs no question", () => {
    expect(rules("src/new.ts", "write")).toEqual([]);
    expect(rules("/tmp/x", "write")).toEqual([]);
    expect(rules("/data/x", "write")).toEqual(["outside-workspace"]);
    expect(rules("/data/x", "read")).toEqual([]);
  });

  it("a given root is respected", () => {
    const inRoot = (input: string) =>
      guard.check({ kind: "path", input, fields: { root: "/skills/a" } }).action;
    expect(inRoot("SKILL.md")).toBe("allow");
    expect(inRoot("/skills/b/x")).toBe("deny");
    expect(inRoot("../b/x")).toBe("deny");
  });
});
