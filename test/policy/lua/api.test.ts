import { describe, expect, it } from "vitest";
import { syscallByName, syscallsOfClass } from "../../../src/abi/index.js";
import { HermesError } from "../../../src/nouns/errors.js";
import { callStack, frameOf } from "../../../src/nouns/inside.js";
import { loadPolicy } from "../../../src/policy/load.js";
import { LuaError } from "../../../src/policy/lua/error.js";
import { camelName } from "../../../src/policy/lua/names.js";
import { PolicyStack } from "../../../src/policy/stack.js";
import { answer, event, lua, returned, shown } from "./events.js";

const nr = (name: string) => syscallByName(name)!.nr;
const bytes = (text: string) => Uint8Array.from(Buffer.from(text, "latin1"));

describe("on_syscall, as the first document prints it", () => {
  const firewall = () => loadPolicy("policies/firewall.lua");

  it("blocks Connect with EACCES and allows the rest", async () => {
    const policy = await firewall();
    expect(policy.decide(event("connect"))).toEqual({ action: "deny", errno: "EACCES" });
    expect(policy.decide(event("openat"))).toEqual({ action: "allow" });
  });

  it("is told names the way the document spells them", () => {
    const names = ["connect", "open", "openat", "execve", "sendto", "read", "write", "openat2", "execveat"];
    expect(names.map((name) => camelName(syscallByName(name)!))).toEqual([
      "Connect",
      "Open",
      "OpenAt",
      "Execve",
      "SendTo",
      "Read",
      "Write",
      "OpenAt2",
      "ExecveAt",
    ]);
    const policy = lua('function on_syscall(name) print(name, name:lower()) return "allow" end');
    policy.decide(event("openat"));
    expect(policy.lines).toEqual(["test: OpenAt\topenat"]);
  });

  it("may answer in any case, and with a word for every verdict that needs no more", () => {
    const word = (text: string) =>
      lua(`function on_syscall() return "${text}" end`).decide(event("open"))?.action;
    expect(["ALLOW", "Allow", "BLOCK", "block", "Deny", "kill", "ask"].map(word)).toEqual([
      "allow",
      "allow",
      "deny",
      "deny",
      "deny",
      "kill",
      "ask",
    ]);
  });

  it("reads arguments by number, by name, and what they come to", () => {
    const policy = lua(`function on_syscall(name, args)
      if name == "OpenAt" then print(args[1], args[2], args[3], args.filename, args.flags, args.path, #args, args[9], args.nothing) end
      if name == "Connect" then print(args.fd, args.address, args.host, args.port) end
    end`);
    policy.decide(
      event("openat", {
        args: { dfd: -100, filename: "../x", flags: 577, mode: 0o644 },
        path: "/tmp/x",
        requested: "../x",
      }),
    );
    policy.decide(
      event("connect", { args: { fd: 3 }, address: { family: "ipv4", host: "10.0.0.1", port: 80 } }),
    );
    expect(policy.lines).toEqual([
      "test: -100\t../x\t577\t../x\t577\t/tmp/x\t4\tnil\tnil",
      "test: 3\t10.0.0.1:80\t10.0.0.1\t80",
    ]);
  });

  it("walks over its arguments with pairs", () => {
    const policy = lua(
      "function on_syscall(_, args) local n = {} for k, v in pairs(args) do n[#n+1] = k .. '=' .. tostring(v) end table.sort(n) print(table.concat(n, ' ')) end",
    );
    policy.decide(event("socket", { args: { family: 2, type: 1, protocol: 6 } }));
    expect(policy.lines).toEqual(["test: family=2 protocol=6 type=1"]);
  });

  it("sees every call that names something outside the process, and read and write, unless it subscribes", () => {
    const { calls } = lua("function on_syscall() end").subscription;
    for (const name of [
      "open",
      "openat",
      "openat2",
      "creat",
      "read",
      "write",
      "execve",
      "execveat",
      "connect",
      "sendto",
      "sendmsg",
      "sendmmsg",
      "bind",
      "unlink",
      "rename",
      "kill",
      "clone",
      "ptrace",
    ])
      expect(calls.has(nr(name)), name).toBe(true);
    for (const name of ["mmap", "futex", "close", "recvfrom", "poll"])
      expect(calls.has(nr(name)), name).toBe(false);
  });

  it("sees what it subscribes to, and nothing else", () => {
    const { calls } = lua('subscribe = { "connect", "%rename" } function on_syscall() end').subscription;
    expect([...calls.keys()].sort()).toEqual(
      [nr("connect"), ...syscallsOfClass("rename").map((call) => call.nr)].sort(),
    );
    expect(() => lua('subscribe = { "conect" } function on_syscall() end')).toThrow(
      'did you mean "connect"?',
    );
  });

  it("blocks the open of a file by the first document's word, whichever call opens it", () => {
    const policy = lua(
      'function on_syscall(name, args) if name == "Open" and args.path == "/etc/passwd" then return "BLOCK" end return "ALLOW" end',
    );
    const action = (call: string, path: string) => policy.decide(event(call, { path }))?.action;
    for (const call of ["open", "openat", "openat2", "creat"]) {
      expect(action(call, "/etc/passwd"), call).toBe("deny");
      expect(action(call, "/etc/hosts"), call).toBe("allow");
    }
  });

  it("reads the arguments of a word as its own call has them", () => {
    const policy = lua(
      'function on_syscall(name, args) if name == "Open" then print(args[1], args[2], args.flags, args.dfd, #args) end end',
    );
    const args = { dfd: -100, filename: "x", flags: 577 };
    policy.decide(event("openat", { args, registers: [-100n, 0n, 577n] }));
    policy.decide(event("creat", { args: { pathname: "y" } }));
    expect(policy.lines).toEqual(["test: x\t577\t577\t-100\t3", "test: y\t577\t577\tnil\t3"]);
  });

  it("means every call by a word: data by Read and Write, programs by Execve, peers by Connect and SendTo", () => {
    const denies = (word: string, call: string, fields = {}) =>
      lua(`function on_syscall(name) if name == "${word}" then return "BLOCK" end end`).decide(
        event(call, fields),
      )?.action === "deny";
    const address = { family: "ipv4", host: "10.0.0.1", port: 80 };
    expect(denies("Read", "pread64")).toBe(true);
    expect(denies("Write", "writev")).toBe(true);
    expect(denies("Execve", "execveat")).toBe(true);
    expect(denies("SendTo", "sendmmsg", { address })).toBe(true);
    expect(denies("SendTo", "sendmmsg")).toBe(false);
    expect(denies("SendTo", "sendto")).toBe(true);
    expect(denies("Connect", "sendto", { address })).toBe(true);
    expect(denies("Connect", "sendto")).toBe(false);
    expect(denies("Connect", "openat")).toBe(false);
  });

  it("stops an added call only with the arguments that give it the effect", () => {
    const { calls } = lua(
      'function on_syscall(name) return name == "Connect" and "BLOCK" or "ALLOW" end',
    ).subscription;
    expect(calls.get(nr("setsockopt"))?.when?.length).toBeGreaterThan(0);
    expect(calls.get(nr("socket"))?.when).toBeUndefined();
    expect(lua("function on_syscall() end").subscription.calls.has(nr("setsockopt"))).toBe(false);
  });

  it("is asked under every name that the script knows, and the strictest answer holds", () => {
    const text = (known: string) =>
      `function on_syscall(name) print(name) if name == "OpenAt" then return "ALLOW" end ${known} end`;
    const both = lua(text('if name == "Open" then return "BLOCK" end'));
    expect(both.decide(event("openat"))?.action).toBe("deny");
    expect(both.lines).toEqual(["test: Open", "test: OpenAt"]);
    const one = lua(text('return "BLOCK"'));
    expect(one.decide(event("openat"))?.action).toBe("allow");
    expect(one.decide(event("open"))?.action).toBe("deny");
  });

  it("is told names as the script spells them", () => {
    const denies = (comparison: string, call: string) =>
      lua(`function on_syscall(name) if ${comparison} then return "BLOCK" end end`).decide(event(call))
        ?.action;
    expect(denies('name == "open"', "openat")).toBe("deny");
    expect(denies('"connect" == name', "connect")).toBe("deny");
    expect(denies('name:lower() == "open"', "openat")).toBe("deny");
    const table =
      'local no = { Open = 1, ["sendto"] = 1 } function on_syscall(n) if no[n] then return "BLOCK" end end';
    expect(lua(table).decide(event("openat"))?.action).toBe("deny");
    expect(lua(table).decide(event("sendto"))?.action).toBe("deny");
  });

  it.each([
    [
      'if name == "Connet" then return "BLOCK" end',
      'no call is named "Connet", so this never holds: did you mean "Connect"?',
    ],
    ['if name ~= "Opne" then return "BLOCK" end', 'did you mean "Open"?'],
    ['if name == "Mmap" then return "BLOCK" end', 'on_syscall is never asked about "Mmap"'],
    ['if name:lower() == "Open" then return "BLOCK" end', 'write "open"'],
    ["return T[name]", 'no call is named "Conect"'],
  ])("refuses a name that never comes, with the line and the nearest name: %s", (body, message) => {
    const text = `-- "Nonsense" in a comment\nlocal T = { Conect = "BLOCK" }\nfunction on_syscall(name, args)\n${body}\nend`;
    expect(() => lua(text)).toThrow(message);
    expect(() => lua(text)).toThrow(/test\.lua:[24]/);
  });

  it("warns of calls that the C library seldom makes", () => {
    const handled = (names: string) => lua(`hermes.on(${names}, function() end)`).lint();
    expect(handled('"open"')).toEqual([expect.stringContaining("openat")]);
    expect(handled('"%open"')).toEqual([]);
  });

  it("is served by the cheap door as long as it never mentions hermes", () => {
    const actions = (text: string) => lua(text).subscription.calls.get(nr("connect"))!.actions;
    expect(actions('function on_syscall() return "BLOCK" end').has("modify")).toBe(false);
    expect(actions("function on_syscall() hermes.deny() end").has("modify")).toBe(true);
  });

  it("denies when hermes.deny is called and nothing is returned, or even ALLOW", () => {
    const policy = lua(
      'function on_syscall(name) hermes.deny("no", "ENOENT") if name == "Open" then return "ALLOW" end end',
    );
    expect(policy.decide(event("connect"))).toEqual({ action: "deny", reason: "no", errno: "ENOENT" });
    expect(policy.decide(event("open"))).toEqual({ action: "deny", reason: "no", errno: "ENOENT" });
  });

  it("changes an argument when hermes.modify_arg is called and nothing is returned", () => {
    const policy = lua("function on_syscall() hermes.modify_arg(3, 0) end");
    expect(policy.decide(event("openat"))).toEqual({ action: "modify", change: { args: { flags: 0n } } });
  });
});

describe("a handler", () => {
  it("is asked about the calls, classes or everything that it was registered for", () => {
    const policy = lua(`
      hermes.on("OpenAt", function() print("one") end)
      hermes.on({ "open", "openat" }, function() print("two") end)
      hermes.on("%open", function() print("class") end)
      hermes.on("*", function() print("all") end)`);
    policy.decide(event("openat"));
    expect(policy.lines.map((line) => line.slice(6))).toEqual(["one", "two", "class", "all"]);
    policy.decide(event("getppid"));
    expect(policy.lines.at(-1)).toBe("test: all");
  });

  it("has nothing to say when it answers nothing", () => {
    expect(answer("")).toBeUndefined();
    expect(answer("return nil")).toBeUndefined();
    expect(lua('hermes.on("open", function() end)').decide(event("close"))).toBeUndefined();
  });

  it.each<[string, unknown, string?]>([
    ["hermes.allow()", { action: "allow" }],
    ["hermes.deny()", { action: "deny", errno: "EACCES" }],
    ['hermes.deny("no", "ENOENT")', { action: "deny", reason: "no", errno: "ENOENT" }],
    ['hermes.deny("no", 2)', { action: "deny", reason: "no", errno: 2 }],
    ['hermes.kill("bad")', { action: "kill", reason: "bad" }],
    ['hermes.ask("may it?")', { action: "ask", reason: "may it?" }],
    ['hermes.redirect("/b", "why")', { action: "modify", change: { to: "/b" }, reason: "why" }],
    [
      'hermes.redirect({ host = "::1", port = 8 })',
      { action: "modify", change: { to: { family: "ipv6", host: "::1", port: 8 } } },
    ],
    [
      'hermes.redirect({ path = "/s" })',
      { action: "modify", change: { to: { family: "unix", path: "/s" } } },
    ],
    ['hermes.modify_arg("flags", -1)', { action: "modify", change: { args: { flags: -1n } } }, "openat"],
    [
      'hermes.modify_arg(2, "/c\\xff")',
      { action: "modify", change: { args: { filename: bytes("/c\xff") } } },
      "openat",
    ],
    ['hermes.modify_data("\\0\\xff")', { action: "modify", change: { data: bytes("\0\xff") } }],
    ["hermes.modify_result(5)", { action: "modify", change: { result: 5n } }],
    ["hermes.emulate(7)", { action: "emulate", emulation: { result: 7n } }],
    ['hermes.emulate(3, "abc")', { action: "emulate", emulation: { result: 3n, data: bytes("abc") } }],
    [
      'hermes.emulate(0, { buf = "x" })',
      { action: "emulate", emulation: { result: 0n, outputs: { buf: bytes("x") } } },
      "read",
    ],
    ['hermes.virtual_file("text")', { action: "emulate", emulation: { result: 0, content: bytes("text") } }],
    ['hermes.fault{ errno = "EIO" }', { action: "fault", fault: { errno: "EIO" } }],
    [
      'hermes.fault{ delay = 5, signal = "SIGUSR1", short = 3 }',
      { action: "fault", fault: { delay: 5, signal: "SIGUSR1", short: 3 } },
    ],
    ["hermes.delay(250)", { action: "fault", fault: { delay: 250 } }],
  ])("answers %s, returned or only called", (expression, verdict, call = "getppid") => {
    expect(answer(`return ${expression}`, {}, call)).toEqual(verdict);
    expect(answer(expression, {}, call)).toEqual(verdict);
  });

  it("gives the strictest of several answers, and puts changes together", () => {
    expect(answer('hermes.deny("a") hermes.kill("b") hermes.allow()')).toEqual({
      action: "kill",
      reason: "b",
    });
    expect(answer('hermes.modify_arg("flags", 1) hermes.modify_arg("mode", 2)', {}, "openat")).toEqual({
      action: "modify",
      change: { args: { flags: 1n, mode: 2n } },
    });
    expect(answer('hermes.fault{ errno = "EIO" } hermes.delay(5)')).toEqual({
      action: "fault",
      fault: { errno: "EIO", delay: 5 },
    });
  });

  it("fails when its answers contradict each other", () => {
    expect(() => answer('hermes.redirect("/a") hermes.emulate(1)')).toThrow("both change getppid");
  });

  it.each([
    ["return 1", "it answered a number"],
    ["return true", "it answered a boolean"],
    ["return {}", "it answered a table"],
    ['return "perhaps"', 'it answered "perhaps"'],
    ['hermes.deny("x", "ENOSUCH")', 'unknown errno "ENOSUCH"'],
    ['hermes.fault{ signal = "SIGNO" }', 'unknown signal "SIGNO"'],
    ["hermes.fault{ dealy = 1 }", 'not "dealy"'],
    ["hermes.fault{}", "has no effect"],
    ["hermes.modify_arg(7, 1)", "has no argument"],
    ['hermes.modify_arg("flgs", 1)', 'has no argument "flgs"'],
    ["hermes.modify_arg(true, 1)", "hermes.modify_arg takes an argument by number or name, not a boolean"],
    ["hermes.modify_arg(1, 1.5)", "takes a whole number or a string as the new value, not 1.5"],
    ["hermes.modify_arg(1)", "takes a whole number or a string as the new value, not nil"],
    [
      'hermes.emulate(0, { [true] = "x" })',
      "hermes.emulate takes an argument by number or name, not a boolean",
    ],
    ["hermes.modify_result(1.5)", "hermes.modify_result takes a whole number, not 1.5"],
    ["hermes.redirect(5)", "takes a path"],
    ['hermes.redirect(("x"):rep(20000))', "too long"],
    ["hermes.deny({})", "a reason is text"],
    ['hermes.redirect({ host = "example.org", port = 1 })', "is not an address"],
    ["hermes.virtual_file(nil)", "takes a string"],
    ['hermes.on("open", function() end)', "while the policy loads"],
  ])("that says %s has made a mistake, and a mistake must not allow", (body, message) => {
    expect(() => answer(body)).toThrow(message);
  });

  it("may be told what happened, afterwards", () => {
    const text = (form: string) =>
      `${form} print(e.kind, e.result, e.errno, e.elapsed) return hermes.modify_result(-2) end)`;
    for (const form of ['hermes.on_return("read", function(e)', 'hermes.on("return:read", function(e)']) {
      const policy = lua(text(form));
      expect(policy.subscription.calls.get(0)).toMatchObject({ entry: false, returns: true });
      expect(policy.decide(event("read"))).toBeUndefined();
      expect(policy.decideReturn(returned("read", -5n, { errno: "EIO" }))).toEqual({
        action: "modify",
        change: { result: -2n },
      });
      expect(policy.lines).toEqual(["test: return\t-5\tEIO\t0.5"]);
    }
  });
});

describe("an event's fields", () => {
  const fd = {
    number: 3,
    target: "socket:[5]",
    kind: "socket",
    local: { family: "ipv4", host: "127.0.0.1", port: 9 },
    peer: undefined,
  };

  it.each<[string, string, Record<string, unknown>?]>([
    ["e.name", "openat"],
    ["e.kind", "syscall"],
    ["e.tid, e.nr", "101\t257"],
    ["e.time", "1700000000.25"],
    ["hermes.time()", "1700000000.25"],
    ["e.path, e.requested", "/etc/x\tx", { path: "/etc/x", requested: "x" }],
    ["e.path", "nil"],
    [
      "#e.paths, e.paths[2].path, e.paths[2].argument",
      "2\t/b\tnewname",
      { paths: [{ path: "/a" }, { path: "/b", argument: "newname" }] },
    ],
    [
      "e.fd.number, e.fd.target, e.fd.kind, e.fd.local_address.port, e.fd.peer",
      "3\tsocket:[5]\tsocket\t9\tnil",
      { fd },
    ],
    ["e.fd", "nil"],
    [
      "e.address.host, e.address.port, e.address.family, e.address.text",
      "::1\t80\tipv6\t[::1]:80",
      { address: { family: "ipv6", host: "::1", port: 80 } },
    ],
    ["e.address.path, e.address.family", "/run/x\tunix", { address: { family: "unix", path: "/run/x" } }],
    [
      "#e.addresses, e.addresses[1].host",
      "1\t10.0.0.1",
      { address: { family: "ipv4", host: "10.0.0.1", port: 1 } },
    ],
    ["#e.argv, e.argv[1], e.argv[2]", "2\tgit\tpush", { argv: ["git", "push"] }],
    ["e.env[1]", "A=1", { env: ["A=1"] }],
    [
      "#e.flags, e.flags[2], e.flags.O_CREAT, e.flags.O_EXCL",
      "2\tO_CREAT\ttrue\tnil",
      { flags: ["O_WRONLY", "O_CREAT"] },
    ],
    ["#e.data, e.data:byte(1, -1)", "3\t0\t255\t10", { data: Buffer.from([0, 255, 10]) }],
    [
      "e.process.pid, e.process.exe, e.process.argv[2], e.process.cwd, e.process.uid, e.process.gid",
      "100\t/usr/bin/app\t-x\t/home\t1000\t1001",
    ],
    ["e.process.parent, e.process.parent_pid", "nil\t1"],
    ["e.maps()[1].path, e:maps()[1].from", "/usr/bin/app\t4096"],
    [
      "e:memory(16, 2), e.memory(16, 2)",
      "ab\tab",
      {
        memory: (a: bigint, n: number) => Buffer.from("abcdef").subarray(Number(a) - 16, Number(a) - 16 + n),
      },
    ],
    ["e:memory(16, 2)", "nil"],
    [
      "e.memory.read(16, 2), e.memory:read(16, 2), e.memory.text(1), #e.memory.scan('x', { region = '[heap]' })",
      "ab\tab\ttext\t2",
      {
        memory: Object.assign(() => Buffer.from("ab"), {
          text: () => "text",
          scan: (_: Uint8Array, { region }: { region?: string }) => (region === "[heap]" ? [1n, 2n] : []),
        }),
      },
    ],
    [
      "e.stack()[1].text, e:stack()[2].module, e.stack()[2].symbol, #e.stack(), e.stack().reason",
      "libc!read+0x10\tapp\tmain\t2\tstart",
      { stack: () => callStack([frameOf("libc!read+0x10"), frameOf("app!main")], "start") },
    ],
    ["e.args.mode, e.args[4], #e.args", "420\t420\t4", { args: { mode: 420 } }],
  ])("%s", (expression, text, fields = {}) => {
    expect(shown(expression, "openat", fields)).toBe(text);
  });

  it("that do not exist are mistakes, not nil", () => {
    expect(() => answer("return e.pth")).toThrow('an event has no field "pth": did you mean "path"?');
    expect(() => answer("return e.process.exee")).toThrow(
      'a process has no field "exee": did you mean "exe"?',
    );
    expect(() => answer("return e.fd.numbr", { fd })).toThrow('a descriptor has no field "numbr"');
    expect(answer("return e.args.nothing")).toBeUndefined();
  });

  it("are read only when they are looked at", () => {
    const looked: string[] = [];
    const fields = Object.fromEntries(
      ["path", "fd", "address", "argv", "env", "flags", "data", "process", "requested", "args"].map(
        (name) => [name, { enumerable: true, get: () => void looked.push(name) }],
      ),
    );
    const lazy = Object.defineProperties(event("openat"), fields);
    lua('hermes.on("openat", function(e) return e.path and hermes.deny() end)').decide(lazy);
    expect(looked).toEqual(["path"]);
  });
});

describe("what a policy declares", () => {
  it("narrows the doors: by handler, or for all handlers", () => {
    const actions = (text: string) => [...lua(text).subscription.calls.get(nr("open"))!.actions].sort();
    expect(actions('hermes.on("open", { actions = { "deny" } }, function() end)')).toEqual(["allow", "deny"]);
    expect(actions('hermes.actions = { "deny", "ask" } hermes.on("open", function() end)')).toEqual([
      "allow",
      "ask",
      "deny",
    ]);
    expect(actions('hermes.on("open", function() end)')).toContain("modify");
    expect(() => lua('hermes.on("open", { actions = { "denny" } }, function() end)')).toThrow(
      'did you mean "deny"?',
    );
  });

  it("is held against it: an undeclared answer is denied", () => {
    const policy = lua('hermes.on("open", { actions = { "deny" } }, function() return hermes.kill() end)');
    const problems: string[] = [];
    const decision = new PolicyStack([policy], (error) => problems.push(error.message)).decide(event("open"));
    expect(decision).toMatchObject({ action: "deny", rule: "policy-error" });
    expect(problems[0]).toContain("not among the actions");
  });

  it("becomes rules of the kernel's filter", () => {
    const policy = lua(`
      hermes.rule{ id = "no-inet", deny = "socket", where = { family = { "AF_INET", "AF_INET6" } }, errno = "EAFNOSUPPORT", reason = "r" }
      hermes.rule{ id = "wx", kill = "mprotect", where = { prot = { all = "PROT_WRITE|PROT_EXEC" } } }`);
    expect(policy.subscription.constants).toEqual([
      {
        id: "no-inet",
        nr: nr("socket"),
        tests: [{ arg: 0, width: 32, op: "in", value: [2n, 10n] }],
        action: "deny",
        errno: 97,
        reason: "r",
      },
      {
        id: "wx",
        nr: nr("mprotect"),
        tests: [expect.objectContaining({ op: "masked", mask: 6n })],
        action: "kill",
        errno: 13,
      },
    ]);
  });

  it("may be its name", () => {
    expect(lua('hermes.name = "guard" hermes.on("open", function() end)').name).toBe("guard");
    expect(lua('hermes.on("open", function() end)').name).toBe("test");
  });
});

describe("an error", () => {
  const failing = (text: string): HermesError => {
    try {
      lua(text);
    } catch (error) {
      return error as HermesError;
    }
    throw new Error("it loaded");
  };

  it.each([
    ["x = = 1", "POLICY_SYNTAX", "policy test.lua:1: unexpected symbol near '='"],
    ["\n\nif x then", "POLICY_SYNTAX", "policy test.lua:3: 'end' expected"],
    ["\nerror('boo')", "POLICY_INVALID", "policy test.lua:2: boo"],
    ["\nlocal t = nil\nt.x = 1", "POLICY_INVALID", "policy test.lua:3: attempt to index a nil value"],
    [
      "\n\nhermes.on('opennat', function() end)",
      "POLICY_INVALID",
      'policy test.lua:3: unknown system call "opennat": did you mean "openat"?',
    ],
    [
      "hermes.on('%fiel', function() end)",
      "POLICY_INVALID",
      'test.lua:1: unknown class "%fiel": did you mean "file"?',
    ],
    ["hermes.on('open')", "POLICY_INVALID", "test.lua:1: hermes.on needs a function"],
    ["hermes.on(5, print)", "POLICY_INVALID", "test.lua:1: hermes.on takes the name"],
    [
      "\nhermes.rule{ id = 'x', deny = 'socket', where = { famly = 2 } }",
      "POLICY_INVALID",
      'test.lua:2: rule x: socket has no argument "famly": did you mean "family"?',
    ],
    ["hermes.deny()", "POLICY_INVALID", "test.lua:1: hermes.deny answers an event: call it inside a handler"],
    ["local x = 1", "POLICY_INVALID", "it decides nothing"],
    ["on_syscall = 5", "POLICY_INVALID", "on_syscall must be a function"],
  ])("while loading %j has a code, a file and a line", (text, code, message) => {
    const error = failing(text);
    expect(error).toBeInstanceOf(HermesError);
    expect(error.code).toBe(code);
    expect(error.message).toContain(message);
  });

  it("while deciding has its line and a traceback, and denies the event", () => {
    const policy = lua(
      'local function inner(e)\n  return e.path.x.y\nend\nhermes.on("open", function(e)\n  local r = inner(e)\nend)',
    );
    let thrown: LuaError | undefined;
    try {
      policy.decide(event("open"));
    } catch (error) {
      thrown = error as LuaError;
    }
    expect(thrown).toBeInstanceOf(LuaError);
    expect(policy.locate(thrown!)).toBe("/policies/test.lua:2");
    expect(thrown!.stack).toMatch(/at \/policies\/test.lua:2: in .*inner[\s\S]*at \/policies\/test.lua:5/);
    expect(String(thrown!.cause)).toContain("stack traceback");
    const problems: string[] = [];
    const decision = new PolicyStack([policy], (error) => problems.push(error.message)).decide(event("open"));
    expect(decision.action).toBe("deny");
    expect(problems[0]).toContain("failed on open at /policies/test.lua:2: attempt to index a nil value");
  });

  it("may be any value", () => {
    expect(() => answer("error({ code = 1 })")).toThrow(/table/);
    expect(() => answer("error(setmetatable({}, { __tostring = function() return 'mine' end }))")).toThrow(
      "mine",
    );
    expect(() => answer("error()")).toThrow(/nil/);
    expect(() => answer("error('x\\xff', 0)")).toThrow("x\udcff");
  });

  it("can be caught by the script itself", () => {
    expect(
      answer("local ok, why = pcall(hermes.deny, 'x', 'ENOSUCH') return hermes.deny(why)")?.reason,
    ).toContain("ENOSUCH");
  });
});

describe("hermes.state", () => {
  const text = `local s = hermes.state
s.count = (s.count or 0)
hermes.on("open", function() s.count = s.count + 1 return hermes.deny(tostring(s.count)) end)`;

  it("is carried over to the policy that takes its place", () => {
    const first = lua(text);
    first.decide(event("open"));
    first.decide(event("open"));
    const second = lua(text, { previous: first });
    expect(second.decide(event("open"))?.reason).toBe("3");
  });

  it("keeps nested tables, integers, floats, booleans and any bytes apart", () => {
    const policy =
      lua(`hermes.state = { list = { 10, 20 }, deep = { x = { y = true } }, big = math.maxinteger, half = 0.5, whole = 2.0, bytes = "a\\xff\\0", [1] = "one" }
hermes.on("open", function() local s = hermes.state print(s.list[2], s.deep.x.y, s.big, s.half, s.whole, s.bytes == "a\\xff\\0", s[1]) end)`);
    policy.decide(event("open"));
    const state = structuredClone(policy.exportState());
    const other = lua(
      `hermes.on("open", function() local s = hermes.state print(s.list[2], s.deep.x.y, s.big, s.half, s.whole, s.bytes == "a\\xff\\0", s[1]) end)`,
    );
    other.importState(state);
    other.decide(event("open"));
    expect(other.lines).toEqual(policy.lines);
    expect(other.lines[0]).toBe("test: 20\ttrue\t9223372036854775807\t0.5\t2.0\ttrue\tone");
  });

  it("says what cannot be kept", () => {
    const state = (value: string) => () =>
      lua(`hermes.state.x = ${value} hermes.on("open", function() end)`).exportState();
    expect(state("function() end")).toThrow("hermes.state[x] is a function");
    expect(state("hermes.state")).toThrow("holds itself");
  });
});

describe("print and hermes.log", () => {
  it("write to the log with the policy's name, and never more than a line can hold", () => {
    const policy = lua(
      'print("a", 1, nil, true) hermes.log("b", 2.5) print(("x"):rep(1e5)) hermes.on("open", function() end)',
    );
    expect(policy.lines.slice(0, 2)).toEqual(["test: a\t1\tnil\ttrue", "test: b\t2.5"]);
    expect(policy.lines[2]!.length).toBeLessThan(4200);
  });
});
