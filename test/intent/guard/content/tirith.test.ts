// kernel test: the layer starts a scanner, which is a shell script here
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { contentLayer } from "../../../../src/intent/guard/content/layer.js";
import { securitySection } from "../../../../src/intent/guard/content/section.js";
import { Guard } from "../../../../src/intent/guard/guard.js";

let folder: string;
let binary: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-tirith-"));
  binary = join(folder, "tirith");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A scanner that speaks tirith's protocol: objects to text with "evil", warns about "odd". */
const SCANNER = `#!/bin/sh
echo "$1" >> "$(dirname "$0")/calls"
if [ "$1" = check ]; then for last; do :; done; text=$last; else text=$(cat); fi
case "$text" in
  *evil*) echo '{"findings":[{"rule_id":"bad_host","severity":"HIGH","title":"An evil host"}]}'; exit 1;;
  *odd*) echo '{"findings":[]}'; exit 2;;
  *crash*) exit 70;;
  *slow*) exec sleep 600;;
esac
exit 0
`;

function install(text = SCANNER): void {
  writeFileSync(binary, text, { mode: 0o755 });
}

const judge = (input: string, settings: object = {}, kind: "text" | "command" = "text") =>
  new Guard([contentLayer], {
    home: folder,
    config: { security: securitySection.parse({ tirith_path: binary, ...settings }) },
  }).judge({ kind, input });
const calls = () => readFileSync(join(folder, "calls"), "utf8").trim().split("\n");

describe("seed 004, layer 6: the tirith binary", () => {
  it("is asked, and its findings are added to the guard's", async () => {
    install();
    expect(await judge("an evil thing")).toMatchObject({
      action: "deny",
      findings: [{ layer: "content", rule: "tirith-bad-host", reason: "An evil host" }],
    });
    expect((await judge("an odd thing")).action).toBe("ask");
    expect((await judge("fine")).action).toBe("allow");
    expect(calls()).toEqual(["paste", "paste", "paste"]);
  });

  it("gets commands as commands", async () => {
    install();
    expect((await judge("echo evil", {}, "command")).action).toBe("deny");
    expect(calls()).toEqual(["check"]);
  });

  it("security.tirith_enabled: false disables it; the default is true", async () => {
    install();
    expect((await judge("evil", { tirith_enabled: false })).action).toBe("allow");
    expect(securitySection.parse({})).toMatchObject({
      tirith_enabled: true,
      tirith_path: "tirith",
      tirith_timeout: 5,
      tirith_fail_open: true,
    });
  });

  it("security.tirith_path names it; without it, the built-in checks decide", async () => {
    expect((await judge("evil")).action).toBe("allow");
    expect((await judge("pass\u200bword")).action).toBe("deny");
  });

  it("security.tirith_fail_open: false refuses when it is missing, crashes or is slow", async () => {
    const closed = { tirith_fail_open: false };
    expect((await judge("fine", closed)).findings[0]).toMatchObject({
      rule: "tirith-unavailable",
      action: "deny",
    });
    install();
    expect((await judge("crash", closed)).action).toBe("deny");
  });

  it("security.tirith_timeout ends it", async () => {
    install();
    const late = await judge("slow", { tirith_timeout: 0.3, tirith_fail_open: false });
    expect(late.findings[0]!.reason).toContain("no answer within 0.3 s");
  });

  it("is never run when its checksum is not the pinned one", async () => {
    install();
    const pinned = createHash("sha256").update(SCANNER).digest("hex");
    expect((await judge("evil", { tirith_sha256: pinned })).action).toBe("deny");
    install(`${SCANNER}# changed\n`);
    const other = await judge("evil", { tirith_sha256: pinned, tirith_fail_open: false });
    expect(other.findings[0]!.reason).toContain("not the pinned one");
    expect(calls()).toHaveLength(1);
  });

  it("is not asked for 24 hours after a failure, unless the binary changes", async () => {
    install();
    await judge("crash");
    expect((await judge("evil")).action).toBe("allow");
    expect(calls()).toHaveLength(1);
    const marker = join(folder, ".local/state/hermes/tirith-failed.json");
    const failure = JSON.parse(readFileSync(marker, "utf8"));
    writeFileSync(marker, JSON.stringify({ ...failure, at: Date.now() - 24 * 3600 * 1000 - 1 }));
    expect((await judge("evil")).action).toBe("deny");
    await judge("crash");
    utimesSync(binary, 1, 1);
    expect((await judge("evil")).action).toBe("deny");
  });
});
