import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { hermes } from "../../../support/cli.js";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-tirith-"));
  for (const name of ["home", "bin"]) mkdirSync(join(folder, name));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const TIRITH =
  '#!/bin/sh\n[ "$1" = check ] && case "$*" in *marked*) echo "{\\"findings\\":[]}"; exit 1 ;; esac\nexit 0\n';
const SHA256 = createHash("sha256").update(TIRITH).digest("hex");
const env = () => ({
  ...process.env,
  HERMES_HOME: join(folder, "home"),
  PATH: `${folder}/bin:${process.env.PATH}`,
});
const install = (...args: string[]) =>
  hermes(["tirith", "install", join(folder, "tirith"), ...args], { env: env() });
const target = () => join(folder, "home/bin/tirith");
const write = (name: string, text: string) => writeFileSync(join(folder, name), text, { mode: 0o755 });

describe("hermes tirith install", () => {
  it("takes in what has the checksum, and pins it: the guard asks it from then on", () => {
    write("tirith", TIRITH);
    write("home/hermes.yaml", "# mine\nprofile: standard\n");
    expect(install("--sha256", SHA256)).toMatchObject({
      status: 0,
      stdout: expect.stringContaining(target()),
    });
    const config = readFileSync(join(folder, "home/hermes.yaml"), "utf8");
    expect(config).toContain("# mine");
    expect(config).toContain(`tirith_sha256: ${SHA256}`);
    expect(readFileSync(target(), "utf8")).toBe(TIRITH);
    const judged = (command: string) =>
      hermes(["guard", "check", "--online", command], { env: { ...env(), HOME: folder } }).status;
    expect([judged("echo plain"), judged("echo marked")]).toEqual([0, 4]);
  });

  it("installs nothing that has another checksum, or a signature that does not fit", () => {
    write("tirith", TIRITH);
    const other = install("--sha256", "0".repeat(64));
    expect(other).toMatchObject({ status: 2, stderr: expect.stringContaining(`has the SHA-256 ${SHA256}`) });
    const signed = ["--sha256", SHA256, "--signature", "sig", "--key", "pub"];
    write("bin/cosign", '#!/bin/sh\n[ "$1" = version ] || { echo "$*" >&2; exit 1; }\n');
    const unfit = install(...signed);
    expect(unfit).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/does not fit.*verify-blob --key pub --signature sig/),
    });
    expect([existsSync(target()), existsSync(join(folder, "home/hermes.yaml"))]).toEqual([false, false]);
    write("bin/cosign", "#!/bin/sh\nexit 0\n");
    expect(install(...signed).status).toBe(0);
    expect(existsSync(target())).toBe(true);
  });

  it("downloads over https alone, and wants a checksum", () => {
    const from = (...args: string[]) => hermes(["tirith", "install", ...args], { env: env() });
    expect(from("http://example.org/tirith", "--sha256", SHA256)).toMatchObject({ status: 2 });
    expect(from("https://127.0.0.1/tirith", "--sha256", SHA256).status).not.toBe(0);
    expect(from(join(folder, "tirith"))).toMatchObject({ status: 2 });
  });
});
