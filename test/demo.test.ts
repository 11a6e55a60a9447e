import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./support/root.js";

describe("npm start", () => {
  const { status, stdout } = spawnSync("node", ["demo/run.mjs"], { cwd: root, encoding: "utf8" });
  const row = (what: string) => stdout.split("\n").find((line) => line.trim().startsWith(what)) ?? "";

  it("ends well and shows an opaque program alone and under a policy, side by side", () => {
    expect(status).toBe(0);
    expect(row("read its own license")).toMatch(/License 42, valid +allowed +License 42, valid/);
    expect(row("read /etc/passwd")).toMatch(/root:x:0.* emulated +nobody/);
    expect(row("read a secret token")).toMatch(/s3cr3t-t0k3n +blocked +✗ Permission denied/);
    expect(row("write outside its folder")).toMatch(/written +redirected +written/);
    expect(row("reach 127.9.9.9")).toMatch(/hello from 127\.9\.9\.9 +blocked +✗/);
    expect(row("send a UDP beacon")).toMatch(/sent +made to fail +✗ No route to host/);
    expect(row("start a shell")).toMatch(/a shell ran +blocked +✗/);
    expect(stdout).toMatch(/outside\/ is unchanged/);
  });

  it("leaves a trace where it says", () => {
    const file = /trace: (\S+)/.exec(stdout)![1]!;
    const lines = readFileSync(join(root, file), "utf8").trim().split("\n");
    expect(JSON.parse(lines[0]!)).toMatchObject({ hermes: "trace", version: 1 });
    expect(JSON.parse(lines.at(-1)!)).toMatchObject({ kind: "end", exitCode: 0 });
  });
});
