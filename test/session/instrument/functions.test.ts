import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { definePolicy, emulate, run as runProgram } from "../../../src/index.js";
import { HERMES, hermes } from "../../support/cli.js";
import { program } from "../../support/programs.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-functions-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let count = 0;
function policy(text: string, extension = "ts"): string {
  const file = join(folder, `policy-${count++}.${extension}`);
  writeFileSync(file, text);
  return file;
}

const typescript = (body: string) =>
  policy(`import { allow, ask, definePolicy, delay, deny, emulate, fault, kill, modify } from "hermes-runtime";
export default definePolicy({ name: "hooks", ${body} });`);

/** What a run prints, and what HERMES says. */
function run(file: string, command: readonly string[], more: readonly string[] = []) {
  const { stdout, stderr, status } = hermes(["run", "--policy", file, ...more, "--", ...command]);
  return { out: stdout, log: stderr, status };
}

const hooked = program("hooked", "-ldl");
const later = join(folder, "liblater.so");
writeFileSync(
  join(folder, "later.c"),
  'long loaded_later(long n) { __asm__ volatile("" ::: "memory"); return n * 2; }\n',
);
execFileSync("gcc", ["-shared", "-fPIC", "-O2", "-o", later, join(folder, "later.c")]);
const plain = execFileSync(hooked, [later], { encoding: "utf8" });

describe("a program whose every function is looked at", () => {
  it("does what it does without us: jumps, contexts, signals, traps of its own, forks, libraries that come and go", () => {
    const all = typescript(`
      on: { "app!*"(e) { void e.name; }, "liblater!*"() {} },
      returns: { "app!*"(e) { void e.result; }, "libc!malloc"() {}, "libc!free"() {}, "liblater!*"() {} }`);
    const { out, status } = run(all, [hooked, later]);
    expect(out).toBe(plain);
    expect(status).toBe(0);
  });
});

describe("a C++ program", () => {
  it("throws through functions that are looked at, and catches", () => {
    const throws = program("throws.cc");
    const file = typescript(`actions: ["allow"], on: { "app!*"() {}, "libstdc++!__cxa_*"() {} },
      returns: { "app!*"() {}, "libstdc++!__cxa_*"() {}, "libgcc_s!_Unwind_*"() {} }`);
    const { out, log, status } = run(file, [throws]);
    expect(out).toBe(execFileSync(throws, { encoding: "utf8" }));
    expect([status, log]).toEqual([0, expect.not.stringContaining("is not seen")]);
  });
});

describe("a policy that is loaded anew", () => {
  it("hooks a function of a program that runs, and lets it go again", async () => {
    const quiet = 'export default definePolicy({ name: "r", on: { "app!main"() {} } });';
    const loud = 'export default definePolicy({ name: "r", on: { "app!refused": () => emulate(1000) } });';
    const write = (file: string, body: string) => {
      writeFileSync(`${file}.new`, `import { definePolicy, emulate } from "hermes-runtime";\n${body}`);
      renameSync(`${file}.new`, file);
    };
    const file = policy("");
    write(file, quiet);
    const child = spawn(HERMES, ["run", "--quiet", "--policy", file, "--", hooked, "waits"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let seen = "";
    child.stdout.on("data", (text) => {
      seen += text;
      if (seen === "running\n") write(file, loud);
      if (seen === "running\nhooked\n") write(file, quiet);
    });
    const [status] = await once(child, "exit");
    expect([seen, status]).toEqual(["running\nhooked\nunhooked\n", 0]);
  });
});

describe("verdicts on functions", () => {
  it("change arguments, results and buffers, give texts, refuse with errno: each seen by the program", () => {
    const file = typescript(`
      on: {
        "app!answer"(e) { if (e.argument(0) === 1n && e.argument(1) === 2n) return modify({ args: { 0: 41 } }); },
        "app!nine"() { return modify({ args: { 8: 0 } }); },
        "app!greeting"(e) { return modify({ args: { 0: e.string(0) + " and all" } }); },
        "app!refused"() { return deny("no", "EPERM"); },
        "app!product"() { return emulate(7); },
        "app!reads_first"() { return fault({ delay: 20 }); },
      },
      returns: {
        "app!fill"() { return modify({ result: 3, args: { 0: "abc" } }); },
        "app!recursive"(e) { if (e.argument(0) === 10n) return modify({ result: 1234 }); },
      }`);
    const { out, status } = run(file, [hooked]);
    expect(status).toBe(0);
    expect(out).toContain("answer 43\n");
    expect(out).toContain("nine 108\n");
    expect(out).toContain("greeting world and all\n");
    expect(out).toContain("fill 3 abc\n");
    expect(out).toContain("refused -1 Operation not permitted\n");
    expect(out).toContain("product 7\n");
    expect(out).toContain("reads first 77\n");
    expect(out).toContain("recursive 1234\n");
  });

  it("refuse what cannot be done, and say so", () => {
    const file = typescript(`on: { "app!refused"() { return modify({ args: { nothing: 1 } }); } }`);
    const { out, log } = run(file, [hooked]);
    expect(out).toContain("refused -1 Permission denied\n");
    expect(log).toContain('has no argument "nothing"');
  });

  it("end the program where they say so", () => {
    const { status } = run(typescript(`on: { "app!refused"() { return kill("enough"); } }`), [hooked]);
    expect(status).toBe(137);
  });
});

describe("sixteen threads", () => {
  it("miss no call of what is looked at", () => {
    const each = Number(process.env.HERMES_HOOK_CALLS ?? 800);
    const file = typescript(`
      actions: ["allow"],
      on: { "app!answer"() { calls.answer++; }, "libc!malloc"() { calls.malloc++; }, "libc!free"() { calls.free++; } },
      returns: { "app!main"() { console.log(JSON.stringify(calls)); } }`);
    writeFileSync(file, `const calls = { answer: 0, malloc: 0, free: 0 };\n${readFileSync(file, "utf8")}`);
    const { out, log, status } = run(file, [hooked, "threads", String(each), "16"]);
    expect([out, status]).toEqual(["wrong 0\n", 0]);
    const calls = JSON.parse(/\{.*\}/.exec(log)![0]);
    expect(calls.answer).toBe(each * 16);
    expect(calls.malloc).toBeGreaterThanOrEqual(each * 16);
    expect(calls.free).toBeGreaterThanOrEqual(each * 16);
  });
});

describe("however a program was linked", () => {
  const all = `on: { "app!answer"(e) { if (e.argument(1) === 2n) return modify({ args: { 1: 7 } }); }, "libc!puts"() {} }`;
  it.each([
    ["at a fixed place", ["-no-pie"]],
    ["statically", ["-static"]],
    ["without stubs, bound at once", ["-fno-plt", "-Wl,-z,now"]],
  ])("%s, its functions are found", (_, flags) => {
    const { out, status } = run(typescript(all), [program("hooked", ...flags)]);
    expect(out).toContain("answer 8\n");
    expect(status).toBe(0);
  });

  it("stripped and static, by the bytes of the function", () => {
    const whole = program("hooked", "-static");
    const stripped = join(folder, "stripped");
    execFileSync("strip", ["-o", stripped, whole]);
    const symbol = execFileSync("nm", [whole], { encoding: "utf8" }).match(/^([0-9a-f]+) T answer$/m)![1];
    const dump = execFileSync(
      "objdump",
      ["-d", "--insn-width=16", `--start-address=0x${symbol}`, `--stop-address=0x${symbol}+32`, whole].map(
        (word) => (word.endsWith("+32") ? `--stop-address=${Number.parseInt(symbol!, 16) + 16}` : word),
      ),
      { encoding: "utf8" },
    );
    const bytes = [...dump.matchAll(/^\s+[0-9a-f]+:\t((?:[0-9a-f]{2} )+)/gm)]
      .map((m) => m[1]!.trim())
      .join(" ");
    const file = typescript(
      `on: { "app!/${bytes.split(" ").slice(0, 12).join(" ")}/"(e) { if (e.argument(1) === 2n) return emulate(99); } }`,
    );
    expect(run(file, [stripped]).out).toContain("answer 99\n");
  });
});

describe("programs of Debian", () => {
  it("python3: getenv is changed, getaddrinfo redirected, and TLS seen in plain text", () => {
    const script = join(folder, "tls.py");
    execFileSync(
      "openssl",
      [
        ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"],
        ...["-keyout", join(folder, "key.pem"), "-out", join(folder, "cert.pem")],
      ],
      { stdio: "ignore" },
    );
    writeFileSync(
      script,
      `import ctypes, socket, ssl, threading
c = ctypes.CDLL(None); c.getenv.restype = ctypes.c_char_p
print(c.getenv(b"HERMES_TEST").decode())
server = socket.create_server(("127.0.0.1", 0))
def serve():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("${folder}/cert.pem", "${folder}/key.pem")
    with context.wrap_socket(server.accept()[0], server_side=True) as s: print(s.recv(100).decode())
thread = threading.Thread(target=serve); thread.start()
port = server.getsockname()[1]
place = socket.getaddrinfo("example.invalid", port)[0][4]
context = ssl.create_default_context(); context.check_hostname = False; context.verify_mode = ssl.CERT_NONE
with context.wrap_socket(socket.create_connection(place)) as s: s.sendall(b"a secret")
thread.join()
`,
    );
    const file = typescript(`on: {
      "libc!getenv"(e) { if (e.string(0) === "HERMES_TEST") return emulate("from the policy"); },
      "libc!getaddrinfo"(e) { if (e.string(0) === "example.invalid") return modify({ args: { 0: "127.0.0.1" } }); },
      "libssl!SSL_write*"(e) { console.log("plain:", e.memory.read(e.argument(1), Number(e.argument(2))).toString()); },
    }`);
    const { out, log, status } = run(file, ["/usr/bin/python3", script]);
    expect([out, status]).toEqual(["from the policy\na secret\n", 0]);
    expect(log).toContain("plain: a secret");
  });

  it("curl, git and node go on as they do without us", () => {
    const file = typescript(
      `actions: ["allow"], on: { "libc!getenv"() {}, "libc!open*"() {} }, returns: { "libc!getenv"() {}, "libcurl*!curl_easy_*"() {} }`,
    );
    expect(run(file, ["curl", "-s", `file://${join(folder, "later.c")}`]).out).toContain("loaded_later");
    expect(run(file, ["git", "--version"]).out).toMatch(/^git version/);
    expect(run(file, [process.execPath, "-e", "console.log(6 * 7)"]).out).toBe("42\n");
  });
});

describe("in every language", () => {
  it("Lua", () => {
    const file = policy(
      `hermes.on("app!greeting", function(e) return hermes.modify_arg(1, e.texts[1] .. "!") end)
hermes.on("return:app!recursive", function(e) if e.args[1] == 10 then return hermes.modify_result(e.result + 1) end end)
hermes.on("app!refused", function(e) return hermes.deny("no", "EPERM") end)`,
      "lua",
    );
    const { out } = run(file, [hooked]);
    expect(out).toContain("greeting world!\n");
    expect(out).toContain("recursive 11\n");
    expect(out).toContain("refused -1 Operation not permitted\n");
  });

  it("YAML: the first rule that matches decides", () => {
    const file = policy(
      `name: functions
rules:
  - { id: fine, allow: call, call: "app!answer", where: { 0: "> 5" } }
  - { id: one, modify: call, call: "app!answer", where: { 0: 1, 1: 2 }, args: { 1: 10 } }
  - { id: text, emulate: call, call: "app!greeting", where: { 0: wor* }, result: somebody }
  - { id: no, deny: call, call: ["app!refused", "libc!system"], errno: ENOENT, reason: Not here. }
  - { id: more, modify: return, call: "app!recursive", result: 5 }
`,
      "yaml",
    );
    const { out, log } = run(file, [hooked]);
    expect(out).toContain("answer 11\n");
    expect(out).toContain("greeting somebody\n");
    expect(out).toContain("refused -1 No such file or directory\n");
    expect(out).toContain("recursive 5\n");
    expect(log).toContain("functions/no");
  });

  it("is told to come from a file when it was made in the host's own program", async () => {
    const made = definePolicy({ name: "made-here", on: { "libc!getenv": () => emulate(0) } });
    await expect(runProgram({ command: ["true"], policy: made })).rejects.toThrow(/put it into a file/);
  });
});
