import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LinkResolver } from "../../../src/policy/yaml/link-resolver.js";

/** One path at a time, as the kernel resolves it. */
function alone(path: string): string {
  try {
    return realpathSync.native(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(alone(parent), path.slice(parent === "/" ? 1 : parent.length + 1));
  }
}

describe("links of many paths", () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "hermes-links-"));
    mkdirSync(join(folder, "real/deep"), { recursive: true });
    mkdirSync(join(folder, "closed/in"), { recursive: true });
    writeFileSync(join(folder, "real/file"), "");
    symlinkSync("real", join(folder, "link"));
    symlinkSync("link/deep", join(folder, "chain"));
    symlinkSync("nowhere/else", join(folder, "broken"));
    symlinkSync("loop", join(folder, "loop"));
    symlinkSync("../real/file", join(folder, "real/deep/up"));
    chmodSync(join(folder, "closed"), 0o000);
  });

  afterAll(() => {
    chmodSync(join(folder, "closed"), 0o700);
    rmSync(folder, { recursive: true });
  });

  it("resolve as each of them does alone", () => {
    const names = [
      "",
      "real",
      "link",
      "chain",
      "broken",
      "loop",
      "closed",
      "none",
      "real/file",
      "real/deep/up",
    ];
    const below = [
      "",
      "/file",
      "/deep",
      "/deep/up",
      "/deep/up/x",
      "/in/x",
      "/none/x",
      "/..",
      "/./deep",
      "//file",
      "/",
    ];
    const paths = names.flatMap((name) => below.map((rest) => `${folder}/${name}${rest}`));
    const odd = ["/", "/..", "//", "/bin/sh", "/proc/self/exe", "/no/such", ".", "", "a/b", "/a\n/../b"];
    const resolver = new LinkResolver();
    for (const path of [...paths, ...odd, ...paths.toReversed()])
      expect([path, resolver.resolve(path)]).toEqual([path, alone(path)]);
  });
});
