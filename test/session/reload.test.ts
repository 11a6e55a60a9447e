import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { definePolicy } from "hermes-runtime";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { capture } from "../support/calls.js";
import { HERMES } from "../support/cli.js";
import { program } from "../support/programs.js";
import { root } from "../support/root.js";

let folder: string;
let children: ChildProcess[] = [];
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-reload-"));
});
afterEach(() => {
  for (const child of children) child.kill("SIGKILL");
  children = [];
  rmSync(folder, { recursive: true, force: true });
});

const text = (verdict: string, calls = "mkdir", name = "p") =>
  `import { allow, deny, kill } from "hermes-runtime";\nimport { definePolicy } from "hermes-runtime";\nexport default definePolicy({ name: "${name}", actions: ["deny"], on: { ${calls}: () => ${verdict} } });\n`;
const path = (name: string) => join(folder, name);
const write = (name: string, content: string) => {
  writeFileSync(path(name), content);
  return path(name);
};

/** A shell that tries to make the folder DIR each time the file GO appears, and tells how it went in SAID. */
const trying = `while :; do if [ -e go ]; then rm go; if mkdir dir 2>/dev/null; then rmdir dir; echo allowed; else echo refused; fi; fi; sleep 0.02; done`;

function start(
  args: string[],
  script = trying,
  go = "go",
): { said: () => string[]; errors: () => string; ask: () => Promise<string> } {
  let out = "";
  let err = "";
  const child = spawn(HERMES, ["run", ...args, "--", "sh", "-c", script], {
    cwd: folder,
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  child.stdout.on("data", (bytes) => {
    out += bytes;
  });
  child.stderr.on("data", (bytes) => {
    err += bytes;
  });
  const said = () => out.split("\n").filter(Boolean);
  const ask = async () => {
    const before = said().length;
    writeFileSync(path(go), "");
    await expect.poll(said).toHaveLength(before + 1);
    return said().at(-1)!;
  };
  return { said, errors: () => err, ask };
}

/** Asks until the answer is this one: a reload takes a moment. */
async function until(session: { ask: () => Promise<string> }, answer: string): Promise<void> {
  await expect.poll(session.ask).toBe(answer);
}

describe("a policy file that is edited while the program runs", () => {
  it("takes effect, however the editor saves it", async () => {
    const file = write("p.ts", text("undefined"));
    const session = start(["-p", file]);
    expect(await session.ask()).toBe("allowed");

    write("p.ts", text("deny()")); // in place
    await until(session, "refused");

    write("new.ts", text("undefined")); // written aside and renamed
    renameSync(path("new.ts"), file);
    await until(session, "allowed");

    renameSync(file, path("p.ts~")); // the backup dance
    write("p.ts", text("deny('again')"));
    await until(session, "refused");

    truncateSync(file, 0); // truncated, then written
    writeFileSync(file, text("undefined"), { flag: "r+" });
    await until(session, "allowed");
    expect(session.errors()).toMatch(/policies reloaded: p [0-9a-f]{12}/);
  });

  it("takes effect when a link to it is swapped, or a file that it imports changes", async () => {
    write("a.ts", text("undefined"));
    write("b.ts", `import { verdict } from "./verdict.ts";\n${text("verdict()")}`);
    write("verdict.ts", `import { deny } from "hermes-runtime"; export const verdict = () => deny();`);
    symlinkSync("a.ts", path("link.ts"));
    const session = start(["-p", path("link.ts")]);
    expect(await session.ask()).toBe("allowed");
    symlinkSync("b.ts", path("next.ts"));
    renameSync(path("next.ts"), path("link.ts"));
    await until(session, "refused");
    write("verdict.ts", "export const verdict = () => undefined;");
    await until(session, "allowed");
  });

  it("cannot be mended by the program, when a swapped link leads to a broken one", async () => {
    for (const name of ["v1", "v2"]) mkdirSync(path(name));
    write("v1/p.ts", text("deny()"));
    write("v2/p.ts", "export default definePolicy({ on: {");
    write("open.ts", text("undefined"));
    symlinkSync("v1", path("now"));
    const mending = trying.replace(
      "if mkdir dir",
      "[ -e mend ] && cp open.ts v2/p.ts 2>/dev/null; if mkdir dir",
    );
    const session = start(["-p", path("now/p.ts")], mending);
    expect(await session.ask()).toBe("refused");
    symlinkSync("v2", path("next"));
    renameSync(path("next"), path("now"));
    await expect.poll(session.errors).toMatch(/p\.ts:1:\d+: .*; the policies in force stay/);
    write("mend", "");
    expect(await session.ask()).toBe("refused");
    expect(readFileSync(path("v2/p.ts"), "utf8")).toBe("export default definePolicy({ on: {");
  });

  it("stays as it was when the new text is broken, and says why once", async () => {
    const file = write("p.ts", text("deny()"));
    const session = start(["-p", file]);
    expect(await session.ask()).toBe("refused");
    write("p.ts", "export default definePolicy({ on: {");
    await expect.poll(session.errors).toMatch(/p\.ts:1:\d+: .*; the policies in force stay/);
    expect(await session.ask()).toBe("refused");
    rmSync(file);
    await expect.poll(session.errors).toMatch(/cannot read it: ENOENT; the policies in force stay/);
    expect(await session.ask()).toBe("refused");
    write("p.ts", text("undefined"));
    await until(session, "allowed");
    expect(session.errors().match(/ENOENT/g)).toHaveLength(1);
  });

  it("is loaded anew on SIGHUP, which the program does not see", async () => {
    const file = write("p.ts", text("undefined"));
    const session = start(["-p", file]);
    expect(await session.ask()).toBe("allowed");
    children[0]!.kill("SIGHUP");
    expect(await session.ask()).toBe("allowed");
  });

  it("that wants calls which the filter does not stop is refused, unless the run was started with --live", async () => {
    const file = write("p.ts", text("undefined", "rmdir"));
    const session = start(["-p", file]);
    expect(await session.ask()).toBe("allowed");
    write("p.ts", text("deny()", "uname"));
    await expect
      .poll(session.errors)
      .toMatch(
        /needs to stop uname, .*start the run with --live, or with this policy; the policies in force stay/s,
      );
    expect(await session.ask()).toBe("allowed");
    children[0]!.kill("SIGKILL");

    write("p.ts", text("undefined", "rmdir"));
    const live = start(["-p", file, "--live"]);
    expect(await live.ask()).toBe("allowed");
    write("p.ts", text("deny()", "mkdir"));
    await until(live, "refused");
    write(
      "p.ts",
      `import { definePolicy } from "hermes-runtime"; export default definePolicy({ name: "c", rules: [{ id: "x", deny: "mkdir", where: { mode: 0o777 }, errno: "EPERM" }] });`,
    );
    await expect.poll(live.errors).toMatch(/policies reloaded: c /);
    expect(await live.ask()).toBe("refused");
  });

  it.each(["--live", "--live=%file,%open"])(
    "that denies reads later takes effect in a run with %s",
    async (live) => {
      const file = write(
        "p.yaml",
        "name: p\nrules: [{ id: none, deny: rmdir, path: /nowhere, reason: No. }]\n",
      );
      const target = write("target", "");
      const session = start(
        ["-p", file, live],
        trying.replace("mkdir dir", "cat target").replace("rmdir dir", ":"),
      );
      expect(await session.ask()).toBe("allowed");
      write("p.yaml", `name: p\nrules: [{ id: target, deny: read, path: "${target}", reason: Not now. }]\n`);
      await until(session, "refused");
    },
  );

  it("may be any that comes with HERMES and has no fence of its own, in a run with --live", async () => {
    const file = write(
      "p.yaml",
      "name: p\nrules: [{ id: none, deny: rmdir, path: /nowhere, reason: No. }]\n",
    );
    const session = start(["-p", file, "--live"], "echo started; exec sleep 100");
    await expect.poll(session.said).toEqual(["started"]);
    const shipped = join(root, "policies");
    const asksForFence = (name: string) => /^fence:/m.test(readFileSync(join(shipped, name), "utf8"));
    for (const name of readdirSync(shipped).filter(
      (entry) => entry.endsWith(".yaml") && !asksForFence(entry),
    )) {
      write("p.yaml", `name: live-${name}\nextends: ${name.replace(".yaml", "")}\n`);
      await expect.poll(session.errors).toContain(`policies reloaded: live-${name} `);
    }
  });

  const words = (said: string) =>
    `function on_syscall(name, args)\n  if args.path == "${path("target")}" then ${said} end\nend\n`;
  const showing = `while :; do if [ -e go ]; then rm go; cat target 2>/dev/null || echo refused; fi; sleep 0.02; done`;

  it("may change opens, though the first only had words for them", async () => {
    write("target", "as it is\n");
    write("other", "another\n");
    const file = write("p.lua", words('return "BLOCK"'));
    const session = start(["-p", file], showing);
    expect(await session.ask()).toBe("refused");
    write("p.lua", words(`hermes.redirect("${path("other")}")`));
    await until(session, "another");
    write("p.lua", words('hermes.virtual_file("made up\\n")'));
    await until(session, "made up");
    write("p.lua", words("hermes.fault{ delay = 1 }"));
    await until(session, "as it is");
    write("p.lua", words("hermes.fault{ errno = 5 }"));
    await until(session, "refused");
  });

  it("may redirect connections, though the first only had words for them", async () => {
    const server = createServer((socket) => socket.end("here"));
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    const text = (answer: string) =>
      `function on_syscall(name, args)\n  if args.port == 9 then ${answer} end\nend\n`;
    const file = write("p.lua", text('return "BLOCK"'));
    const tries = `import os, socket, time
while True:
    time.sleep(0.02)
    if not os.path.exists("go"): continue
    os.remove("go")
    try: print(socket.create_connection(("127.0.0.1", 9)).recv(9).decode(), flush=True)
    except OSError as error: print(error.errno, flush=True)`;
    write("tries.py", tries);
    const session = start(["-p", file], "exec python3 tries.py");
    expect(await session.ask()).toBe("13");
    write("p.lua", text(`hermes.redirect("127.0.0.1:${port}")`));
    await until(session, "here");
    server.close();
  });

  it.each([
    ["--live", "as"],
    ["--log=refused", "refused"],
  ])(
    "that changes reads needs --live, and otherwise says that these are refused: %s",
    async (flag, answer) => {
      write("target", "as it is");
      const file = write("p.lua", 'function on_syscall(name) return "ALLOW" end\n');
      const reads = `import os, time
while True:
    time.sleep(0.02)
    if not os.path.exists("go"): continue
    os.remove("go")
    try: print(os.read(os.open("target", os.O_RDONLY), 100).decode(), flush=True)
    except OSError: print("refused", flush=True)`;
      write("reads.py", reads);
      const session = start(["-p", file, flag], "exec python3 reads.py");
      expect(await session.ask()).toBe("as it is");
      const change = 'if e.fd.target and e.fd.target:find("target$") then hermes.modify_arg("count", 2) end';
      write("p.lua", `hermes.on("read", function(e) ${change} end)\n`);
      await until(session, answer);
      const isTold = /answers that change .*read.* refuse the call in this run/.test(session.errors());
      expect(isTold).toBe(answer === "refused");
    },
  );

  it("can be told to stay, with --no-reload", async () => {
    const file = write("p.ts", text("undefined"));
    const session = start(["-p", file, "--no-reload"]);
    expect(await session.ask()).toBe("allowed");
    // Another session sees the change; the first, which was told to stay, would have seen it by then.
    const other = start(
      ["-p", file],
      trying.replaceAll("go", "go-on").replaceAll("dir dir", "dir other"),
      "go-on",
    );
    expect(await other.ask()).toBe("allowed");
    write("p.ts", text("deny()"));
    await until(other, "refused");
    expect(await session.ask()).toBe("allowed");
  });
});

describe("reloading under load", () => {
  it("decides every call by a policy that was valid, while the file is rewritten 200 times, one in five broken", async () => {
    const file = write("p.ts", text("undefined", "openat"));
    const target = write("target", "x");
    const trace = path("t.jsonl");
    const run = capture([program("opener"), target, path("enough")], {
      policy: file,
      trace: { file: trace, events: ["openat"] },
    });
    const inForce = (name: string) =>
      expect
        .poll(() => existsSync(trace) && readFileSync(trace).includes(`"name":"${name}"`), {
          interval: 100,
        })
        .toBe(true);
    await inForce("p");
    for (let i = 1; i <= 200; i++) {
      const broken = i % 5 === 0;
      write(
        "draft.ts",
        broken ? "export default {" : text(i % 2 ? 'deny("", "EPERM")' : "undefined", "openat", `v${i}`),
      );
      renameSync(path("draft.ts"), file);
      if (i % 20 === 19) await inForce(`v${i}`);
      else await new Promise((next) => setTimeout(next, 10));
    }
    write("enough", "");
    const { output, session } = await run;
    const [allowed, refused] = output.split(" ").map(Number);
    expect(refused).toBeGreaterThan(0);
    const records = readFileSync(trace, "utf8")
      .split("\n")
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    const valid = new Set(
      records.flatMap((r) => (r.policies ?? []).map((p: { version: string }) => p.version)),
    );
    const opens = records.filter((r) => r.path === target);
    expect(opens).toHaveLength(allowed! + refused!);
    expect(opens.filter((r) => r.errno === "EPERM")).toHaveLength(refused!);
    expect(opens.filter((r) => !valid.has(r.version.split("+")[0]))).toEqual([]);
    // What was in force when a call was decided is what happened to it.
    for (const r of opens) expect(r.errno === "EPERM").toBe(r.action === "deny");
    expect(session.reloads).toBeGreaterThanOrEqual(10);
  });

  it("works for files beside policies of the host's own", async () => {
    const file = write("p.ts", text("undefined", "openat"));
    const target = write("target", "x");
    let seen = 0;
    const inline = definePolicy({ name: "inline", actions: ["deny"], on: { openat: () => void seen++ } });
    const run = capture([program("opener"), target, "20000"], { policy: [file, inline] });
    await expect.poll(() => seen).toBeGreaterThan(1000);
    write("p.ts", text('deny("now", "EPERM")', "openat"));
    const { output, session } = await run;
    const [allowed, refused] = output.split(" ").map(Number);
    expect(allowed! + refused!).toBe(20_000);
    expect(seen).toBeGreaterThanOrEqual(20_000);
    expect(session.reloads).toBe(refused! > 0 ? 1 : 0);
    expect(existsSync(file)).toBe(true);
  });
});
