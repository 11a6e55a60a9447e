import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { HERMES } from "../../support/cli.js";
import { Workplace } from "./workplace.js";

let place: Workplace;
beforeAll(async () => {
  place = new Workplace();
  await place.open();
});
afterAll(() => place.close());
beforeEach(() => {
  for (const name of ["p.yaml", "p.learned.json"]) rmSync(join(place.folder, name), { force: true });
});

const policy = () => join(place.folder, "p.yaml");
const text = () => readFileSync(policy(), "utf8");
const learn = (command: string, options: readonly string[] = []) =>
  place.hermes(["learn", "-o", policy(), ...options, "--", "bash", "-c", place.fill(command)], place.first);
const rules = () =>
  parse(text()).rules as {
    id: string;
    allow?: string;
    path?: string[];
    argv?: string[];
    address?: string | string[];
  }[];

describe("hermes learn", () => {
  it("writes where each rule comes from, and how sure it is", async () => {
    place.file("data.csv", "1\n");
    const { status, output } = await learn("cat data.csv /etc/hostname > /dev/null; date > /dev/null");
    expect([status, output]).toEqual([0, expect.stringMatching(/p\.yaml: \d+ rules from 1 run/)]);
    expect(text()).toMatch(/^# Learned by hermes .* from 1 run:\n# {3}\d{4}-.*bash -c cat data\.csv/);
    expect(text()).toMatch(
      /# 1× by bash, 1 run, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d; confidence medium\n {2}- id: run-cat\n/,
    );
    expect(text()).toMatch(/"\$\{workspace\}\/\*\.csv"/);
    expect(text()).toContain("/etc/hostname");
  });

  it("adds the next run to what it knows, and is surer of what it saw again", async () => {
    await learn("cat /etc/hostname");
    await learn("cat /etc/hostname /etc/debian_version");
    expect(text()).toContain("from 2 runs");
    expect(text()).toMatch(/# 2× by bash, 2 runs, .* to .*; confidence high\n {2}- id: run-cat\n/);
    expect(text()).toContain("/etc/hostname");
    const { denied } = await place.hermes(
      ["run", "--json", "-p", policy(), "--", "bash", "-c", "cat /etc/debian_version"],
      place.second,
    );
    expect(denied).toBe(0);
  });

  it("does not write over what a person wrote", async () => {
    writeFileSync(policy(), "name: mine\nrules: [{ id: x, deny: ptrace }]\n");
    const refused = await learn("true");
    expect([refused.status, refused.output]).toEqual([2, expect.stringContaining("was not learned")]);
    expect(text()).toContain("name: mine");
    await learn("true", ["--force"]);
    writeFileSync(policy(), `${text()}# my own remark\n`);
    const changed = await learn("true");
    expect([changed.status, changed.output]).toEqual([
      2,
      expect.stringContaining("was changed since it was learned"),
    ]);
  });

  it("exits as the program does; what cannot be run teaches nothing", async () => {
    expect((await learn("exit 7")).status).toBe(7);
    const missing = await place.hermes(
      ["learn", "-o", join(place.folder, "q.yaml"), "--", "no-such-program"],
      place.first,
    );
    expect(missing.status).toBe(127);
    expect(existsSync(join(place.folder, "q.yaml"))).toBe(false);
    expect((await place.hermes(["learn", "-o", policy()], place.first)).status).toBe(2);
  });

  it("says which secrets it had to allow, one by one", async () => {
    const { output } = await learn("cat SECRET > /dev/null");
    expect(output).toContain("the policy allows a secret, because the program used it: ~/.ssh/id_ed25519");
    expect(rules().find(({ id }) => id === "secrets-used")).toMatchObject({
      allow: "read",
      path: "~/.ssh/id_ed25519",
    });
  });

  it("keeps code that is handed to shells, and peers with their ports", async () => {
    await learn("sh -c 'echo one'; curl -s http://KNOWN/ > /dev/null");
    const shell = rules().find(({ argv }) => argv?.[1] === "-c");
    expect(shell?.argv).toEqual(["*", "-c", "echo one"]);
    const peer = rules().find(({ address }) => [address].flat().includes(`127.0.0.1:${place.known}`));
    expect(peer).toMatchObject({ allow: "connect", process: expect.stringMatching(/curl$/) });
    const other = await place.hermes(
      ["run", "--json", "-p", policy(), "--", "bash", "-c", "sh -c 'echo two'"],
      place.first,
    );
    expect(other.denied).toBeGreaterThan(0);
    expect(other.output).not.toMatch(/^two$/m);
  });

  it("quotes hostile names, so that they are names and nothing else", async () => {
    const name = 'a"b: [x]\n  - id: evil, *{$}';
    mkdirSync(join(place.folder, "odd"), { recursive: true });
    writeFileSync(join(place.folder, "odd", name), "x");
    const command = [
      "python3",
      "-c",
      "import os, sys; d = sys.argv[1]; [open(os.path.join(d, n)) for n in os.listdir(d)]",
      join(place.folder, "odd"),
    ];
    await place.hermes(["learn", "-q", "-o", policy(), "--", ...command], place.first);
    expect(rules().some(({ id }) => id.includes("evil"))).toBe(false);
    const again = await place.hermes(["run", "--json", "-p", policy(), "--", ...command], place.first);
    expect(again).toMatchObject({ status: 0, denied: 0 });
  });

  it("learns from traces, to stdout, and as seccomp profile and Landlock ruleset", async () => {
    const trace = join(place.folder, "t.jsonl");
    await place.hermes(
      ["run", "-q", "-t", trace, "--", "curl", "-s", "-o", "/dev/null", place.fill("http://KNOWN/")],
      place.first,
    );
    const form = async (...options: string[]) =>
      (await place.hermes(["learn", "--from", trace, ...options], place.first)).output;
    expect(await form()).toMatch(/name: learned\n/);
    const oci = JSON.parse(await form("--format", "oci"));
    expect(oci).toMatchObject({ defaultAction: "SCMP_ACT_ERRNO", architectures: ["SCMP_ARCH_X86_64"] });
    expect(oci.syscalls[0].names).toEqual(expect.arrayContaining(["connect", "socket", "openat"]));
    expect(oci.syscalls[0].names).not.toContain("ptrace");
    const landlock = JSON.parse(await form("--format", "landlock"));
    expect(landlock.netPort).toContainEqual({ allowedAccess: ["connect_tcp"], port: [place.known] });
    const curl = landlock.pathBeneath.find((r: { parent: string[] }) => r.parent[0]!.endsWith("/curl"));
    expect(curl.allowedAccess).toEqual(["execute", "read_file"]);
    expect((await place.hermes(["learn", "--format", "apparmor", "--from", trace], place.first)).status).toBe(
      2,
    );
  });
});

describe("hermes learn --repair", () => {
  const trace = () => join(place.folder, "r.jsonl");
  const refuse = async (command: string) => {
    await learn("cat /etc/hostname > /dev/null", ["-q"]);
    return place.hermes(
      ["run", "-q", "-p", policy(), "-t", trace(), "--", "bash", "-c", place.fill(command)],
      place.first,
    );
  };
  const enforced = (command: string) =>
    place.hermes(["run", "--json", "-p", policy(), "--", "bash", "-c", place.fill(command)], place.first);

  it("proposes the smallest additions, and adds them with --yes: but no secrets", async () => {
    const command = "cat /etc/debian_version SECRET; mkdir new; curl -s http://KNOWN/";
    await refuse(command);
    const before = text();
    const shown = await place.hermes(["learn", "--repair", policy(), "--json", trace()], place.first);
    expect(shown.status).toBe(1);
    expect(text()).toBe(before);
    const proposed = JSON.parse(shown.output).proposals as {
      allow: string[];
      text: string;
      secret: boolean;
    }[];
    expect(proposed.map((p) => [p.allow.join(), p.secret])).toEqual(
      expect.arrayContaining([
        ["read", false],
        ["read", true],
        ["exec", false],
      ]),
    );
    const added = await place.hermes(["learn", "--repair", policy(), trace(), "--yes"], place.first);
    expect([added.status, added.output]).toEqual([1, expect.stringContaining("not added (a secret)")]);
    expect(text().replace(/ {2}# Added[\s\S]*?(?= {2}# \d+×[^\n]*\n {2}- id: run-bash\n)/, "")).toBe(before);
    const { denied } = await enforced("cat /etc/debian_version");
    expect(denied).toBe(0);
    expect((await enforced("cat SECRET")).output).not.toContain("TOP-SECRET");
  });

  it("comes to an end when it is repeated", async () => {
    const command = "mkdir -p new/folder; curl -s http://KNOWN/ > /dev/null; rmdir new/folder new";
    await refuse(command);
    let left = 1;
    for (let i = 0; i < 6 && left > 0; i++) {
      await place.hermes(["learn", "--repair", policy(), "--yes", trace()], place.first);
      await place.hermes(
        ["run", "-q", "-p", policy(), "-t", trace(), "--", "bash", "-c", place.fill(command)],
        place.first,
      );
      const { output } = await place.hermes(["learn", "--repair", policy(), "--json", trace()], place.first);
      left = JSON.parse(output).proposals.length;
    }
    expect(left).toBe(0);
    expect((await enforced(command)).denied).toBe(0);
    expect((await enforced("curl -s http://ELSEWHERE/")).denied).toBeGreaterThan(0);
  });

  it("asks on a terminal, one by one", async () => {
    await refuse("cat /etc/debian_version /etc/issue");
    const command = `${HERMES} learn --repair ${policy()} ${trace()}`;
    const { stdout } = spawnSync("script", ["-qec", command, "/dev/null"], {
      input: "n\ny\n",
      encoding: "utf8",
      cwd: place.first,
    });
    expect(stdout).toContain("Add it? (1 of 2)");
    expect(text()).not.toContain("/etc/debian_version");
    expect(text()).toContain("path: /etc/issue");
  });

  it("adds nothing where no person can be asked, and says what is wrong with what it is given", async () => {
    await refuse("cat /etc/debian_version");
    const before = text();
    const { status, stdout, stderr } = spawnSync(
      "setsid",
      ["-w", HERMES, "learn", "--repair", policy(), trace()],
      { encoding: "utf8", cwd: place.first },
    );
    expect([status, stdout, stderr]).toEqual([
      1,
      expect.stringContaining("/etc/debian_version"),
      expect.stringContaining("there is no terminal to ask on"),
    ]);
    expect(text()).toBe(before);
    expect((await place.hermes(["learn", "--repair", policy()], place.first)).status).toBe(2);
    writeFileSync(policy(), "name: p\nrules: [{ id: x, deny: read, path: /etc/debian_version }]\n");
    await place.hermes(
      ["run", "-q", "-p", policy(), "-t", trace(), "--", "cat", "/etc/debian_version"],
      place.first,
    );
    const flow = await place.hermes(["learn", "--repair", policy(), "--yes", trace()], place.first);
    expect([flow.status, flow.output]).toEqual([125, expect.stringContaining("by hand")]);
  });
});
