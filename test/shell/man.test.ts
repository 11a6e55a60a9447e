import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { hermes } from "../support/cli.js";
import { root } from "../support/root.js";

describe("man hermes", () => {
  const page = hermes(["man"]).stdout;

  it("is a page that groff has nothing to say against", () => {
    for (const device of ["ascii", "utf8"]) {
      const { stderr, stdout } = spawnSync("groff", ["-man", `-T${device}`, "-ww"], {
        input: page,
        encoding: "utf8",
      });
      expect(stderr).toBe("");
      expect(stdout).toContain("HERMES(1)");
    }
  });

  it("shows every command with its options, as man shows it", () => {
    const { stdout } = spawnSync("man", ["-l", "-"], {
      input: page,
      encoding: "utf8",
      env: { PATH: process.env.PATH, MANWIDTH: "200", MAN_KEEP_FORMATTING: "", LC_ALL: "C.UTF-8" },
    });
    for (const text of ["hermes run", "--policy <file>", "hermes policy check", "hermes hook", "EXIT STATUS"])
      expect(stdout).toContain(text);
    expect(stdout).toContain("hermes install codex --user");
  });

  it("lies where npm installs it from", () =>
    expect(readFileSync(join(root, "dist/hermes.1"), "utf8")).toBe(page));
});
