import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "hermes-runtime";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { LuaPolicy } from "../../../src/policy/lua/load.js";
import { type Call, commandOf, makeCalls } from "../../support/calls.js";
import { hermes } from "../../support/cli.js";
import { root } from "../../support/root.js";

const CWD = -100;
let folder: string;
let server: Server;
let port: number;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hermes-lua-"));
  writeFileSync(join(folder, "a"), "from a");
  writeFileSync(join(folder, "b"), "from b");
  server = createServer((socket) => socket.on("error", () => {}).end("hello"));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  port = (server.address() as { port: number }).port;
});

afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Raw calls of a real program, decided by a script in which FOLDER and PORT are filled in. */
async function decided(text: string, calls: readonly Call[]) {
  const source = text.replaceAll("FOLDER", folder).replace(/\bPORT\b/g, String(port));
  const policy = new LuaPolicy("test.lua", join(folder, "test.lua"), Buffer.from(source), { log: () => {} });
  return makeCalls(calls, policy);
}

const readA: () => Call[] = () => [
  ["openat", CWD, `s:${folder}/a`, 0],
  ["read", "r:0", "o:6", 6],
];
const address = (at: number) =>
  `x:${Buffer.from([2, 0, at >> 8, at & 255, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]).toString("hex")}`;

describe("a real program under a Lua policy", () => {
  it("does what is allowed", async () => {
    const { outcomes } = await decided('hermes.on("*", function() return hermes.allow() end)', readA());
    expect(outcomes[1]!.outs[0]!.toString()).toBe("from a");
  });

  it("is refused what is denied, with the errno that was asked for", async () => {
    const text =
      'hermes.on("openat", { actions = { "deny" } }, function(e) if e.path == "FOLDER/a" then return hermes.deny("no", "ENOENT") end end)';
    const { outcomes, session } = await decided(text, readA());
    expect(outcomes[0]!.errno).toBe("ENOENT");
    expect(session.protections.doors).toEqual(["notify"]);
  });

  it("gets another file than it asked for", async () => {
    const { outcomes } = await decided(
      'hermes.on("openat", function(e) if e.path == "FOLDER/a" then return hermes.redirect("FOLDER/b") end end)',
      readA(),
    );
    expect(outcomes[1]!.outs[0]!.toString()).toBe("from b");
  });

  it("has children, which a handler can see and follow", async () => {
    const lines: string[] = [];
    const text = `hermes.on("kill", function(e)
  local children = e.process.children
  print(#children, children[1] and children[1].argv[1], children[1] and children[1].parent_pid == e.process.pid)
end)`;
    const log = (_: string, line: string) => void lines.push(line);
    const policy = new LuaPolicy("test.lua", join(folder, "test.lua"), Buffer.from(text), { log });
    const { exitCode } = await run({
      command: ["sh", "-c", "sleep 60 & kill -9 $!; wait; kill -0 $$"],
      policy,
    });
    expect(exitCode).toBe(0);
    expect(lines).toEqual([expect.stringMatching(/^1\t(sleep|sh)\ttrue$/), "0\tnil\tnil"]);
  });

  it("gets a file that no disk holds", async () => {
    const { outcomes } = await decided(
      'hermes.on("openat", function(e) if e.path == "FOLDER/a" then return hermes.virtual_file("made\\0up") end end)',
      readA(),
    );
    expect(outcomes[1]!.outs[0]!.toString("latin1")).toBe("made\0u");
  });

  it("is answered in the kernel's place", async () => {
    const { outcomes } = await decided(
      'hermes.on("getppid", function() return hermes.emulate(4242) end) hermes.on("getrandom", function() return hermes.emulate(4, "\\1\\2\\3\\4") end)',
      [["getppid"], ["getrandom", "o:4", 4, 0]],
    );
    expect(outcomes[0]!.result).toBe(4242);
    expect([...outcomes[1]!.outs[0]!]).toEqual([1, 2, 3, 4]);
  });

  it("meets faults: errors, short reads, delays", async () => {
    const text = `local n = 0
hermes.on("read", function(e)
  if e.fd.target ~= "FOLDER/a" then return end
  n = n + 1
  if n == 1 then return hermes.fault{ errno = "EIO" } end
  if n == 2 then return hermes.fault{ short = 2 } end
end)
hermes.on("getppid", function() return hermes.delay(80) end)`;
    const start = performance.now();
    const { outcomes } = await decided(text, [
      ["openat", CWD, `s:${folder}/a`, 0],
      ["read", "r:0", "o:6", 6],
      ["read", "r:0", "o:6", 6],
      ["getppid"],
    ]);
    expect(outcomes[1]!.errno).toBe("EIO");
    expect(outcomes[2]!.result).toBe(2);
    expect(performance.now() - start).toBeGreaterThan(80);
  });

  it("has its arguments changed: numbers, and what pointers point at", async () => {
    const text = `hermes.on("read", function(e) hermes.modify_arg("count", 3) end)
hermes.on("openat", function(e) if e.args.filename == "FOLDER/a" then hermes.modify_arg(2, "FOLDER/b") end end)`;
    const { outcomes } = await decided(text, readA());
    expect(outcomes[1]!.result).toBe(3);
    expect(outcomes[1]!.outs[0]!.toString()).toBe("fro\0\0\0");
  });

  it("writes other data than it meant to", async () => {
    const text =
      'hermes.on("write", function(e) if e.fd.target == "FOLDER/out" then return hermes.modify_data((e.data:gsub("secret", "******"))) end end)';
    await decided(text, [
      ["openat", CWD, `s:${folder}/out`, 0o101, 0o600],
      ["write", "r:0", `x:${Buffer.from("a secret\n").toString("hex")}`, 9],
    ]);
    expect(readFileSync(join(folder, "out"), "utf8")).toBe("a ******\n");
  });

  it("sees other results than there were", async () => {
    const text = `hermes.on_return("read", function(e) if e.result == 6 and e.data == "from a" then return hermes.modify_data("FROM A") end end)
hermes.on("return:getppid", function(e) return hermes.modify_result(e.result * 0 + 7) end)
hermes.on_return("openat", function(e) if e.errno == "ENOENT" then return hermes.modify_result(-1) end end)`;
    const { outcomes } = await decided(text, [
      ...readA(),
      ["getppid"],
      ["openat", CWD, `s:${folder}/none`, 0],
    ]);
    expect(outcomes[1]!.outs[0]!.toString()).toBe("FROM A");
    expect(outcomes[2]!.result).toBe(7);
    expect(outcomes[3]!.errno).toBe("EPERM");
  });

  it("connects elsewhere", async () => {
    const text =
      'hermes.on("connect", function(e) if e.address.port == 1 then return hermes.redirect{ host = "127.0.0.1", port = PORT } end end)';
    const { outcomes } = await decided(text, [
      ["socket", 2, 1, 0],
      ["connect", "r:0", address(1), 16],
    ]);
    expect(outcomes[1]!.result).toBe(0);
  });

  it("is refused in the kernel's filter what a rule says, without a stop", async () => {
    const text =
      'hermes.rule{ id = "no-inet", deny = "socket", where = { family = "AF_INET" }, errno = "EAFNOSUPPORT" }';
    const { outcomes, session } = await decided(text, [
      ["socket", 2, 1, 0],
      ["socket", 1, 1, 0],
    ]);
    expect(outcomes[0]!.errno).toBe("EAFNOSUPPORT");
    expect(outcomes[1]!.errno).toBeUndefined();
    expect(session.protections.constantRules).toBe(1);
  });

  it("passes names that are not UTF-8 unharmed", async () => {
    const name = Buffer.concat([Buffer.from(`${folder}/`), Buffer.from([0x61, 0xff, 0xfe, 0x62])]);
    writeFileSync(name, "odd");
    const text =
      'hermes.on("openat", function(e) if e.path == "FOLDER/a" then return hermes.redirect("FOLDER/a\\xff\\xfeb") end end)';
    const { outcomes } = await decided(text, readA());
    expect(outcomes[1]!.outs[0]!.subarray(0, 3).toString()).toBe("odd");
  });

  it("is refused what a failing policy was asked about, and told of once", async () => {
    const text = '\nhermes.on("getppid", function() while true do end end)';
    const { outcomes, session } = await decided(text, [["getppid"], ["getppid"]]);
    expect(outcomes.map((outcome) => outcome.errno)).toEqual(["EACCES", "EACCES"]);
    expect(session.problems).toHaveLength(1);
    expect(session.problems[0]).toContain(`${folder}/test.lua:2: it ran too long`);
  });
});

describe("hermes run with the policies that come along", () => {
  const connect = (at: number) =>
    commandOf([
      ["socket", 2, 1, 0],
      ["connect", "r:0", address(at), 16],
    ]);

  it("blocks connections as the first document shows: --policy firewall.lua --target", () => {
    const [target, ...args] = connect(port);
    const { stdout, stderr, status } = hermes(
      ["run", "--policy", "policies/firewall.lua", "--target", target!, "--", ...args],
      { cwd: root },
    );
    expect(status).toBe(0);
    expect(stdout.split("\n")[1]).toBe("-1 13");
    expect(stderr).toContain("firewall: Blocked connection attempt to restricted subnet.");
    expect(stderr).toContain("deny    connect");
    expect(stderr).toMatch(/active: notify (and trace doors|door)/);
  });

  it("lets a program reach this machine, but no private network and no metadata service", () => {
    const to = (a: number, b: number, c: number, d: number, at = 80) =>
      `x:${Buffer.from([2, 0, at >> 8, at & 255, a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0]).toString("hex")}`;
    const mapped = `x:${Buffer.from([10, 0, 0, 80, 0, 0, 0, 0, ...Array(10).fill(0), 255, 255, 10, 0, 0, 1, 0, 0, 0, 0]).toString("hex")}`;
    const calls: Call[] = [
      ["socket", 2, 1, 0],
      ["connect", "r:0", to(127, 0, 0, 1, port), 16],
      ["socket", 2, 2, 0],
      ["connect", "r:2", to(10, 1, 2, 3), 16],
      ["connect", "r:2", to(169, 254, 169, 254), 16],
      ["connect", "r:2", to(172, 31, 0, 1), 16],
      ["connect", "r:2", to(192, 0, 2, 1), 16],
      ["sendto", "r:2", "x:00", 1, 0, to(192, 168, 1, 1), 16],
      ["socket", 10, 2, 0],
      ["connect", "r:8", mapped, 28],
    ];
    const { stdout } = hermes(["run", "-q", "-p", "policies/network-policy.lua", "--", ...commandOf(calls)], {
      cwd: root,
    });
    const lines = stdout.split("\n");
    expect([1, 3, 4, 5, 6, 7, 9].map((i) => lines[i]!.split(" ")[1])).toEqual([
      "0",
      "13",
      "13",
      "13",
      "101",
      "13",
      "13",
    ]);
  });

  it("virtualizes files and connections", () => {
    const policy = join(folder, "virtualize.lua");
    mkdirSync(join(folder, "app"), { recursive: true });
    writeFileSync(join(folder, "app/conf"), "redirected");
    const text = readFileSync(join(root, "policies/virtualize.lua"), "utf8")
      .replace("/tmp/hermes-app", join(folder, "app"))
      .replace("127.0.0.1:15432", `127.0.0.1:${port}`);
    writeFileSync(policy, text);
    const { stdout, stderr } = hermes([
      "run",
      "-p",
      policy,
      "--",
      "bash",
      "-c",
      "cat /etc/app/conf /etc/hermes-virtual; mv /etc/app/conf /etc/app/other && ls /etc/app",
    ]);
    expect(stdout).toBe("redirectedThis file is made by policies/virtualize.lua.\nother\n");
    expect(stderr).toContain("virtualize");
    expect(readFileSync(join(folder, "app/other"), "utf8")).toBe("redirected");
    expect(hermes(["run", "-q", "-p", policy, "--", ...connect(5432)]).stdout.split("\n")[1]).toBe("0 0");
  });

  it("blocks an open by the first document's word, though the C library calls openat", () => {
    const file = join(folder, "passwd.lua");
    writeFileSync(
      file,
      'function on_syscall(name, args)\n  if name == "Open" and args.path == "/etc/passwd" then return "BLOCK" end\n  return "ALLOW"\nend\n',
    );
    const { status, stdout, stderr } = hermes(["run", "--policy", file, "--", "head", "-1", "/etc/passwd"]);
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toContain("Permission denied");
    writeFileSync(file, 'function on_syscall(name)\n  if name == "Connet" then return "BLOCK" end\nend\n');
    for (const command of [
      ["policy", "check", "--strict", file],
      ["run", "--policy", file, "--", "true"],
    ]) {
      const wrong = hermes(command);
      expect(wrong.status).toBe(125);
      expect(wrong.stderr).toMatch(/passwd\.lua:2: no call is named "Connet".* did you mean "Connect"/);
    }
  });

  it("does not start with a policy that is wrong, and says where", () => {
    writeFileSync(join(folder, "bad.lua"), 'hermes.on("open", function()\n  return hermes.\nend)');
    writeFileSync(join(folder, "unknown.lua"), 'hermes.on("conect", function() end)');
    const bad = hermes(["run", "-p", join(folder, "bad.lua"), "--", "true"]);
    expect([bad.status, bad.stderr]).toEqual([
      125,
      expect.stringContaining("bad.lua:3: <name> expected near 'end'"),
    ]);
    const unknown = hermes(["run", "-p", join(folder, "unknown.lua"), "--", "true"]);
    expect([unknown.status, unknown.stderr]).toEqual([
      125,
      expect.stringContaining('did you mean "connect"?'),
    ]);
  });

  it("stacks with other policies: the strictest holds", () => {
    writeFileSync(
      join(folder, "deny.lua"),
      'hermes.on("getppid", { actions = { "deny" } }, function() return hermes.deny("d", "EPERM") end)',
    );
    writeFileSync(
      join(folder, "emulate.lua"),
      'hermes.on("getppid", function() return hermes.emulate(9) end)',
    );
    const { stdout } = hermes([
      "run",
      "-q",
      "-p",
      join(folder, "emulate.lua"),
      "-p",
      join(folder, "deny.lua"),
      "--",
      ...commandOf([["getppid"]]),
    ]);
    expect(stdout.trim()).toBe("-1 1");
  });
});
