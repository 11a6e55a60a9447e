import { type SyscallName, syscallByName } from "../../../src/abi/index.js";
import type { CallEvent } from "../../../src/nouns/event.js";
import { madeUpEvent } from "../../../src/policy/yaml/example-event.js";
import type { Random } from "../../support/random.js";

const NAMES = ["a", "b", "ab", ".env", "x.pem", "y.pem"];
const PATTERN_PARTS = [...NAMES, "*", "**", "?", "*.pem", "[ab]", "{a,b}", "a*"];
const HOSTS = ["10.0.0.1", "10.0.1.1", "10.1.0.1", "192.168.0.1", "127.0.0.1", "0.0.0.0"];
const ADDRESSES = [
  "10.0.0.0/8",
  "10.0.0.0/16",
  "10.0.0.0/24",
  "10.0.0.1",
  "10.0.0.1:80",
  '"*:80"',
  "loopback",
  '"!10.0.0.1"',
  "unix",
  '"::1"',
  '"fd00::/8"',
];
const FILE_TARGETS = [
  "read",
  "write",
  "create",
  "delete",
  "rename",
  "stat",
  "openat",
  "open",
  "'%file'",
  "link",
  "list",
];
const ACTIONS = ["allow", "deny", "kill", "watch", "deny", "allow"];

function pathPattern(random: Random): string {
  const parts = Array.from({ length: 1 + random.below(4) }, () => random.pick(PATTERN_PARTS));
  const text = (random.next() < 0.3 ? "**/" : "/") + parts.join("/");
  return JSON.stringify((random.next() < 0.15 ? "!" : "") + text);
}

function randomRule(random: Random, id: number): string {
  const action = random.pick(ACTIONS);
  const kind = random.below(4);
  if (kind === 0)
    return `{ id: r${id}, ${action}: ${random.pick(["connect", "bind", "[connect, bind]", "network", "sendto"])}, address: [${random.some(ADDRESSES, 3).join(", ")}] }`;
  if (kind === 1)
    return `{ id: r${id}, ${action}: exec, argv: [${random.some(["git", "push", "'*'", "'**'", "a"], 3).join(", ")}] }`;
  const flags = random.next() < 0.1 ? ", process: { exe: ['/usr/bin/*'] }" : "";
  const path =
    random.next() < 0.1
      ? ""
      : `, path: [${Array.from({ length: 1 + random.below(3) }, () => pathPattern(random)).join(", ")}]`;
  return `{ id: r${id}, ${action}: ${random.pick(FILE_TARGETS)}${path}${flags} }`;
}

export function randomPolicy(random: Random, count: number): string {
  const fallback = random.pick(["allow", "deny", "ask"]);
  const rules = Array.from({ length: count }, (_, i) => `  - ${randomRule(random, i)}`);
  return `name: random\ndefault: ${fallback}\nrules:\n${rules.join("\n")}\n`;
}

function randomPath(random: Random): string {
  if (random.next() < 0.03) return "";
  return `/${Array.from({ length: random.below(5) }, () => random.pick(NAMES)).join("/")}`;
}

const CALLS: SyscallName[] = [
  "openat",
  "open",
  "openat2",
  "creat",
  "unlinkat",
  "renameat2",
  "linkat",
  "mkdir",
  "newfstatat",
  "fchmod",
  "getdents64",
  "connect",
  "bind",
  "sendto",
  "execve",
  "mount",
  "open_by_handle_at",
];

export function randomEvent(random: Random): CallEvent {
  const call = syscallByName(random.pick(CALLS));
  const socket = call.args.some(({ kind }) => kind === "sockaddr");
  const host = random.pick(HOSTS);
  const target = random.next() < 0.2 ? "pipe:[1]" : randomPath(random);
  return madeUpEvent({
    call,
    paths: [randomPath(random), randomPath(random)],
    targets: { fd: socket ? "socket:[1]" : target },
    flags: random.pick([0, 1, 2, 0x40, 0x241, 0x10000, 0x200000]),
    ...(socket && {
      address:
        random.next() < 0.2
          ? { family: "unix", path: "/a/b" }
          : { family: "ipv4", host, port: random.pick([80, 81]) },
    }),
    argv: random.some(["git", "push", "a", "b"], 3),
    env: [],
    process: { exe: random.pick(["/usr/bin/x", "/opt/x"]) },
  });
}
