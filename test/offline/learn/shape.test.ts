import { describe, expect, it } from "vitest";
import { hashFolders, patternOfName, patternsOfNames } from "../../../src/offline/analyze/shape.js";

describe("a name's shape", () => {
  /** [name, shape] */
  const NAMES: readonly (readonly [string, string])[] = [
    ["passwd", "passwd"],
    ["package-lock.json", "package-lock.json"],
    ["README.md", "README.md"],
    ["getElementById.js", "getElementById.js"],
    ["x86_64-linux-gnu", "x86_64-linux-gnu"],
    ["utf8", "utf8"],
    ["sha256sum", "sha256sum"],
    ["id_ed25519", "id_ed25519"],
    ["pack-a1b2c3d.idx", "pack-*.idx"],
    ["12345", "[0-9]*"],
    ["python3.11", "python[0-9]*"],
    ["libssl.so.3", "libssl.so.[0-9]*"],
    ["libpcre2-8.so.0.11.2", "libpcre2-8.so.[0-9]*"],
    ["node-v20.11.1", "node-v[0-9]*"],
    ["3.11.7", "[0-9]*"],
    ["f47ac10b-58cc-4372-a567-0e02b2c3d479", "*"],
    ["session-f47ac10b-58cc-4372-a567-0e02b2c3d479.log", "session-*.log"],
    ["2026-11-15T11_25_43_731Z-debug-0.log", "*-debug-0.log"],
    ["backup-20261115.tar.gz", "backup-*.tar.gz"],
    ["3f786850e387550fdab836ed7e6dc881de23001b", "*"],
    ["tmp.Xy7Zk2Qp9A", "tmp.*"],
    ["temp-4711.rdb", "temp-[0-9]*.rdb"],
    ["a*b[1]?.txt", "a\\*b\\[1\\]\\?.txt"],
  ];
  for (const [name, shape] of NAMES) it(`${name} → ${shape}`, () => expect(patternOfName(name)).toBe(shape));

  it("leaves open how a temporary file is called, and keeps how that begins and ends", () => {
    expect(patternOfName("ccabcdef.s", true)).toBe("cc*.s");
    expect(patternOfName("tmpabcdefgh", true)).toBe("tmp*");
    expect(patternOfName("tmp_obj_abcdef", true)).toBe("tmp_obj_*");
    expect(patternOfName("lock", true)).toBe("lock");
  });

  it("leaves open a temporary folder for what is in it, too", () => {
    const temporaries = new Set(["/cache/tmp/gYUUse"]);
    expect(patternsOfNames(["cache", "tmp", "gYUUse", "index.js"], { temporaries })).toEqual([
      "cache",
      "tmp",
      "*",
      "index.js",
    ]);
    expect(patternsOfNames(["cache", "gYUUse", "index.js"], { temporaries })).toEqual([
      "cache",
      "gYUUse",
      "index.js",
    ]);
  });

  it("sees folders that only split up hashes", () => {
    const hashes = hashFolders([
      "/r/objects/3f/786850e387550fdab836ed7e6dc881de23001b",
      "/c/sha512/61/f8/c506bbedb8255eed73d8df",
    ]);
    expect(patternsOfNames(["r", "objects", "ab"], { hashes })).toEqual(["r", "objects", "*"]);
    expect(patternsOfNames(["c", "sha512", "ab", "cd", "c506bbedb8255eed73d8de"], { hashes })).toEqual([
      "c",
      "sha512",
      "*",
      "*",
      "*",
    ]);
    expect(patternsOfNames(["r", "src", "ab"], { hashes })).toEqual(["r", "src", "ab"]);
  });
});
