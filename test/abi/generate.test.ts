import { execFileSync, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, it } from "vitest";
import { findHeaders, PACKAGE, SERIES } from "../../scripts/abi/headers.mjs";

const GENERATOR = fileURLToPath(new URL("../../scripts/abi/generate.mjs", import.meta.url));
const COMMITTED = fileURLToPath(new URL("../../src/abi", import.meta.url));

/** The pinned headers; on CI they are installed when absent, elsewhere the absence is said aloud. */
function headers(): string | undefined {
  if (!findHeaders() && process.env.CI === "true") {
    execFileSync("apt-get", ["update", "-qq"], { stdio: "inherit" });
    execFileSync("apt-get", ["install", "-y", "-qq", "--no-install-recommends", available()], {
      stdio: "inherit",
    });
    if (!findHeaders()) throw new Error(`${PACKAGE} is installed and its headers are not found`);
  }
  return findHeaders();
}

/** Mirrors drop old point releases; any of the series gives the same tables. */
function available(): string {
  const pattern = `^linux-headers-${SERIES.replace(".", "\\.")}\\.[0-9]+\\+deb[0-9]+-common$`;
  const found = execFileSync("apt-cache", ["search", "--names-only", pattern], { encoding: "utf8" });
  const names = found.split("\n").flatMap((line) => line.split(" ")[0] || []);
  return names.includes(PACKAGE) ? PACKAGE : (names.at(-1) ?? PACKAGE);
}

describe("the generator", () => {
  const out = mkdtempSync(join(tmpdir(), "abi-generated-"));
  afterAll(() => rmSync(out, { recursive: true }));

  it("gives the committed tables, byte for byte", { timeout: 300_000 }, ({ skip }) => {
    const path = headers();
    if (!path) {
      console.warn(
        `NOT CHECKED: the generated tables against their generator. Install ${PACKAGE} to check them.`,
      );
      skip();
      return;
    }
    execFileSync(process.execPath, [GENERATOR, "--headers", path, "--out", out], { stdio: "pipe" });
    const files = readdirSync(COMMITTED).filter((name) => name.endsWith(".generated.ts"));
    expect(readdirSync(out).sort()).toEqual(files.sort());
    for (const name of files) {
      expect(readFileSync(join(out, name), "utf8"), name).toBe(readFileSync(join(COMMITTED, name), "utf8"));
    }
  });

  it("says what is wrong when given a directory without headers", () => {
    const result = spawnSync(process.execPath, [GENERATOR, "--headers", out, "--out", out], {
      encoding: "utf8",
    });
    expect(result.status).toBe(1);
    expect(result.stderr).toContain("--headers");
    expect(result.stderr).toContain(PACKAGE);
    expect(result.stderr).not.toContain("    at ");
  });
});
