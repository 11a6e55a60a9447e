// `npm start`: an opaque, stripped program runs twice, first alone and then under a policy, side by side.
import { spawn, spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const colour = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code, text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
const OUTCOME = {
  allow: [32, "allowed"],
  deny: [31, "blocked"],
  modify: [33, "redirected"],
  emulate: [35, "emulated"],
  fault: [36, "made to fail"],
};

function build(folder) {
  const binary = join(folder, "opaque_client");
  const { status } = spawnSync("gcc", ["-O2", "-s", "-o", binary, join(root, "demo/opaque_client.c")], {
    stdio: "inherit",
  });
  if (status !== 0) throw new Error("the demo's program could not be built; it needs gcc");
  return binary;
}

function prepare(folder) {
  for (const name of ["work", "secrets", "outside", "quarantine"])
    mkdirSync(join(folder, name), { recursive: true });
  rmSync(join(folder, "outside/dropped"), { force: true });
  writeFileSync(join(folder, "work/license.txt"), "License 42, valid\n");
  writeFileSync(join(folder, "secrets/token"), "s3cr3t-t0k3n\n", { mode: 0o600 });
}

/** A TCP server on every loopback address, and a UDP server that counts datagrams. */
async function listen() {
  const tcp = createServer((socket) => socket.end(`hello from ${socket.localAddress}\n`));
  await new Promise((done) => tcp.listen(0, "0.0.0.0", done));
  const { port } = tcp.address();
  const udp = createSocket("udp4");
  await new Promise((done) => udp.bind(port, "127.0.0.1", done));
  const close = () => {
    tcp.close();
    udp.close();
  };
  return { port, close };
}

function collect(command, args, env) {
  return new Promise((done, fail) => {
    const child = spawn(command, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, ...env },
    });
    const output = { out: "", err: "" };
    child.stdout.on("data", (bytes) => (output.out += bytes));
    child.stderr.on("data", (bytes) => (output.err += bytes));
    child.on("error", fail);
    child.on("close", (code) => done({ ...output, code }));
  });
}

const attempts = (output) =>
  output
    .split("\n")
    .filter(Boolean)
    .map((line) => line.split("\t"));

/** Finds the decision on each attempt in the trace, by what the attempt touched. */
function decisions(trace) {
  const found = new Map();
  const marks = [
    [(r) => r.path?.endsWith("license.txt"), "read its own license"],
    [(r) => r.path === "/etc/passwd", "read /etc/passwd"],
    [(r) => r.path?.endsWith("/token"), "read a secret token"],
    [(r) => r.path?.endsWith("/dropped"), "write outside its folder"],
    [(r) => r.name === "uname", "learn the host's name"],
    [(r) => r.name === "connect" && r.args.addr.startsWith("127.0.0.1"), "reach 127.0.0.1 (update server)"],
    [(r) => r.name === "connect" && r.args.addr.startsWith("127.9"), "reach 127.9.9.9 (restricted subnet)"],
    [(r) => r.name === "sendto" && r.args.addr, "send a UDP beacon"],
    [(r) => r.name === "execve" && r.path?.match(/sh$/), "start a shell"],
  ];
  for (const line of readFileSync(trace, "utf8").split("\n").filter(Boolean)) {
    const record = JSON.parse(line);
    const mark = marks.find(([test]) => test(record));
    if (mark) found.set(mark[1], record);
  }
  return found;
}

function show(alone, mediated, decided) {
  const rows = alone.map(([what, ok, detail], i) => {
    const [, ok2, detail2] = mediated[i] ?? [];
    const record = decided.get(what);
    const [code, word] = OUTCOME[record?.action ?? "allow"];
    return [
      what,
      `${ok === "ok" ? "" : "✗ "}${detail}`,
      `${ok2 === "ok" ? "" : "✗ "}${detail2}`,
      record?.rule ?? "",
      code,
      word,
    ];
  });
  const cut = (text, width) => (text.length > width ? `${text.slice(0, width - 1)}…` : text.padEnd(width));
  console.log(
    paint(1, `  ${cut("the program tries to", 36)} ${cut("alone", 27)} ${cut("under HERMES", 33)} rule`),
  );
  for (const [what, before, after, rule, code, word] of rows)
    console.log(
      `  ${cut(what, 36)} ${cut(before, 27)} ${paint(code, cut(word, 13))}${cut(after, 20)} ${paint(2, rule)}`,
    );
}

const folder = mkdtempSync(join(tmpdir(), "hermes-demo-"));
const servers = await listen();
try {
  prepare(folder);
  const binary = build(folder);
  const args = [folder, String(servers.port)];
  const alone = await collect(binary, args, {});
  prepare(folder);
  const trace = join(root, "build/demo-trace.jsonl");
  mkdirSync(join(root, "build"), { recursive: true });
  const command = [
    "run",
    "--json",
    "--policy",
    join(root, "demo/policy.ts"),
    "--trace",
    trace,
    "--events",
    "openat,execve,connect,sendto,uname,socket,write",
    "--",
    binary,
    ...args,
  ];
  const under = await collect(join(root, "hermes"), command, { DEMO_FOLDER: folder });
  const result = JSON.parse(under.err.trim().split("\n").at(-1));
  if (alone.code !== 0 || under.code !== 0)
    throw new Error(
      `the program ended with ${alone.code} alone and ${under.code} under HERMES\n${under.err}`,
    );

  console.log(`\n${paint(1, "HERMES")}: an opaque, stripped program, alone and under demo/policy.ts\n`);
  show(attempts(alone.out), attempts(under.out), decisions(trace));
  const dropped = existsSync(join(folder, "outside/dropped"))
    ? "outside/dropped was written"
    : "outside/ is unchanged; its file went to quarantine/";
  const { summary, protections } = result;
  console.log(`\n  ${dropped}`);
  console.log(
    `  ${summary.calls} calls decided, ${protections.doors.join(" and ")} door, filter of ${protections.filterInstructions} instructions; the program itself was not changed`,
  );
  console.log(`  trace: build/demo-trace.jsonl (${result.trace.records} records)`);
  console.log(`\n  Try it on your own program:  ./hermes run --trace t.jsonl -- ls -l\n`);
} finally {
  servers.close();
  rmSync(folder, { recursive: true, force: true });
}
