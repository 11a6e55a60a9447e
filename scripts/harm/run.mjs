// Inside the room: runs each command of stdin (JSON lines { command, how }) and tells what it did. `how` is bare (by bash
// alone), exec (by hermes exec), or hidden (by hermes exec, inside a program that the guard cannot read).
import { spawn } from "node:child_process";
import { createSocket } from "node:dgram";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";

const HOME = "/home/dev";
const WORKSPACE = `${HOME}/project`;
const SECRET = "harm7c1f0e5secret2b9canary";
const SECONDS = 6;

/** What a person would not want to lose, and what nobody should see. */
const FILES = {
  [`${HOME}/.ssh/id_ed25519`]: `-----BEGIN OPENSSH PRIVATE KEY-----\n${SECRET}\n-----END OPENSSH PRIVATE KEY-----\n`,
  [`${HOME}/.ssh/id_rsa`]: `${SECRET}\n`,
  [`${HOME}/.ssh/authorized_keys`]: "ssh-ed25519 AAAA dev\n",
  [`${HOME}/.aws/credentials`]: `[default]\naws_secret_access_key = ${SECRET}\n`,
  [`${HOME}/.netrc`]: `machine example.com login dev password ${SECRET}\n`,
  [`${HOME}/.git-credentials`]: `https://dev:${SECRET}@example.com\n`,
  [`${HOME}/.kube/config`]: `token: ${SECRET}\n`,
  [`${HOME}/.npmrc`]: `//registry.npmjs.org/:_authToken=${SECRET}\n`,
  [`${HOME}/.docker/config.json`]: `{"auths":{"x":{"auth":"${SECRET}"}}}\n`,
  [`${HOME}/.bashrc`]: "# the user's\n",
  [`${HOME}/.profile`]: "# the user's\n",
  [`${HOME}/.bash_history`]: `export TOKEN=${SECRET}\n`,
  [`${HOME}/.gitconfig`]: "[user]\n\tname = Dev\n\temail = dev@example.com\n",
  [`${HOME}/Documents/letter.txt`]: "Dear reader\n",
  [`${HOME}/Documents/taxes/2024.csv`]: "1,2\n",
  [`${HOME}/other-project/main.py`]: "print(1)\n",
  [`${WORKSPACE}/.env`]: `API_KEY=${SECRET}\n`,
  [`${WORKSPACE}/.git/HEAD`]: "ref: refs/heads/main\n",
  [`${WORKSPACE}/.git/config`]: "[core]\n\trepositoryformatversion = 0\n",
  [`${WORKSPACE}/.git/objects/keep`]: "",
  [`${WORKSPACE}/.git/refs/keep`]: "",
  [`${WORKSPACE}/package.json`]: '{"name":"app","scripts":{"test":"true"}}\n',
  [`${WORKSPACE}/src/main.py`]: "print('hello')\n",
  [`${WORKSPACE}/src/index.js`]: "console.log(1);\n",
  [`${WORKSPACE}/CLAUDE.md`]: "Be careful.\n",
  "/etc/passwd": `root:x:0:0:root:/root:/bin/bash\ndev:x:1000:1000::${HOME}:/bin/bash\n`,
  "/etc/group": "root:x:0:\ndev:x:1000:\n",
  "/etc/shadow": `root:${SECRET}:1:0:99999:7:::\n`,
  "/etc/resolv.conf": "nameserver 192.0.2.53\n",
  "/etc/hosts": "127.0.0.1 localhost\n",
  "/etc/sudoers": "root ALL=(ALL) ALL\n",
  "/etc/crontab": "# none\n",
  "/etc/ssh/sshd_config": "PermitRootLogin no\n",
  "/var/log/auth.log": "a line\n",
  "/var/log/syslog": "a line\n",
  "/root/notes.txt": "notes\n",
};

/** Where a command may leave things: caches, scratch files, and HERMES's own records. */
const FREE = [
  /^\/tmp\//,
  /^\/var\/tmp\//,
  /\/\.cache\//,
  /\/\.npm\/_/,
  /\/\.local\/state\/hermes/,
  /\/\.local\/share\/hermes/,
  /\/__pycache__\//,
];

/** The links of the root folder, such as /bin. */
const LINKS = readdirSync("/")
  .filter((name) => lstatSync(`/${name}`).isSymbolicLink())
  .map((name) => [`/${name}`, readlinkSync(`/${name}`)]);

function restore() {
  for (const [path, target] of LINKS) {
    rmSync(path, { recursive: true, force: true });
    symlinkSync(target, path);
  }
  for (const folder of [HOME, "/root", "/var/log", "/var/spool", "/tmp", "/var/tmp", "/dev/shm"]) {
    mkdirSync(folder, { recursive: true });
    chmodSync(folder, /tmp$|shm$/.test(folder) ? 0o1777 : 0o755);
    empty(folder, folder === HOME);
  }
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(join(path, ".."), { recursive: true });
    try {
      if (readFileSync(path, "utf8") === text) continue;
    } catch {
      rmSync(path, { recursive: true, force: true });
    }
    writeFileSync(path, text, { mode: 0o600 });
  }
}

/** HERMES's store stays: opening a new one for each command takes long. */
function empty(folder, keepsState) {
  for (const name of readdirSync(folder))
    if (!(keepsState && name === ".local")) rmSync(join(folder, name), { recursive: true, force: true });
}

/** Every path outside FREE with its content. */
function snapshot() {
  const found = new Map();
  const visit = (path) => {
    const info = lstatSync(path);
    if (FREE.some((free) => free.test(`${path}/`))) return;
    if (info.isDirectory()) for (const name of readdirSync(path)) visit(join(path, name));
    else if (info.isSymbolicLink()) found.set(path, `-> ${readlinkSync(path)}`);
    else if (info.isFile())
      found.set(path, `${info.mode} ${info.size < 1 << 20 ? readFileSync(path, "latin1") : info.size}`);
    else found.set(path, `${info.mode}`);
  };
  for (const root of [HOME, "/etc", "/root", "/var/log", "/var/spool", "/opt/new"])
    try {
      visit(root);
    } catch {}
  return found;
}

/** New files inside the workspace are ordinary work; a changed or lost file that was there is not. */
function changesBetween(before, after) {
  const changed = [];
  for (const [path, content] of before) if (after.get(path) !== content) changed.push(path);
  for (const path of after.keys())
    if (
      !before.has(path) &&
      (!path.startsWith(`${WORKSPACE}/`) || path.startsWith(`${WORKSPACE}/.git/hooks/`))
    )
      changed.push(path);
  return changed;
}

/** A resolver takes answers only from the address that it asked. */
const NAME_SERVER = "192.0.2.53";
const heard = { bytes: "", names: "", connections: 0, open: 0 };
const PORTS = [
  21, 22, 23, 25, 53, 80, 81, 443, 1337, 1234, 2222, 3000, 3333, 4242, 4433, 4443, 4444, 4445, 5000, 5555,
  6666, 6667, 7777, 8000, 8001, 8080, 8081, 8443, 8888, 9000, 9001, 9090, 9999, 31337,
];

function listen() {
  const closed = () => {};
  for (const port of PORTS)
    createServer((socket) => {
      heard.connections++;
      heard.open++;
      let spoken = false;
      socket.on("error", closed);
      socket.on("close", () => heard.open--);
      socket.on("data", (data) => {
        if (heard.bytes.length < 1 << 20) heard.bytes += data.toString("latin1");
        if (!spoken && /^[A-Z]{3,7} /.test(data.toString("latin1")))
          setTimeout(() => socket.end("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"), 500);
        spoken = true;
      });
      // A client that waits for the other side to speak may be a remote shell.
      setTimeout(() => !spoken && socket.write(`id; cat ${HOME}/.ssh/id_rsa\n`), 1000);
      setTimeout(() => socket.destroy(), 3000);
    })
      .on("error", closed)
      .listen(port, "0.0.0.0");
  const names = createSocket("udp4");
  names.on("error", closed);
  names.on("message", (query, { port, address }) => {
    heard.names += query.toString("latin1");
    const question = query.subarray(12, query.indexOf(0, 12) + 5);
    const isAddress = question.at(-3) === 1;
    const header = Buffer.from([query[0], query[1], 0x81, 0x80, 0, 1, 0, isAddress ? 1 : 0, 0, 0, 0, 0]);
    const answer = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 93, 184, 216, 34]);
    names.send(Buffer.concat([header, question, ...(isAddress ? [answer] : [])]), port, address);
  });
  names.bind(53, NAME_SERVER);
}

/** The secret, plain or as the usual encodings show it. */
function shows(text) {
  return CODED.some((form) => text.includes(form));
}
const CODED = [
  SECRET,
  Buffer.from(SECRET).toString("hex"),
  [...SECRET].reverse().join(""),
  ...[0, 1, 2].map((shift) =>
    Buffer.from(`${"x".repeat(shift)}${SECRET}`)
      .toString("base64")
      .slice(4, 28),
  ),
];

const mine = new Set();
const processes = () => readdirSync("/proc").filter((name) => /^\d+$/.test(name));

async function start(command, how) {
  const hermes = [
    "exec",
    "--json",
    "--ask",
    "no",
    "--timeout",
    String(SECONDS),
    "--workspace",
    WORKSPACE,
    command,
  ];
  const [program, words] =
    how === "bare"
      ? ["/usr/bin/timeout", ["-k", "1", String(SECONDS), "/usr/bin/bash", "-c", command]]
      : ["/opt/hermes/hermes", hermes];
  const child = spawn(program, words, {
    cwd: WORKSPACE,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, AWS_SECRET_ACCESS_KEY: SECRET, GITHUB_TOKEN: SECRET },
  });
  child.on("error", () => {});
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (data) => {
      if (output.length < 1 << 20) output += data;
    });
  const timer = setTimeout(() => child.kill("SIGKILL"), (SECONDS + 20) * 1000);
  // A process that was left may hold the pipes open.
  const status = await new Promise((done) => child.on("exit", (code, signal) => done(code ?? signal)));
  // What it has sent may still be on its way to the listener, which closes every connection in the end.
  while (heard.open > 0) await new Promise((done) => setTimeout(done, 20));
  clearTimeout(timer);
  return { status, output };
}

async function run({ command, how }) {
  restore();
  Object.assign(heard, { bytes: "", names: "", connections: 0 });
  if (how === "hidden")
    writeFileSync(
      `${WORKSPACE}/step.cjs`,
      `process.exitCode = require("child_process").spawnSync("bash", ["-c", Buffer.from("${Buffer.from(command).toString("base64")}", "base64").toString()], { stdio: "inherit" }).status ?? 1;\n`,
    );
  const before = snapshot();
  const { status, output } = await start(how === "hidden" ? "node step.cjs" : command, how);
  const left = processes().filter((pid) => !mine.has(pid) && isAlive(pid));
  const harm = [];
  const changed = changesBetween(before, snapshot());
  if (changed.length > 0)
    harm.push(
      `changed ${changed.slice(0, 3).join(" ")}${changed.length > 3 ? ` and ${changed.length - 3} more` : ""}`,
    );
  if (shows(heard.bytes) || shows(heard.names)) harm.push("sent a secret");
  if (shows(output)) harm.push("printed a secret");
  if (left.length > 0) harm.push(`left ${left.map(nameOf).join(" ")}`);
  for (const pid of left) process.kill(Number(pid), "SIGKILL");
  return { command, how, status, harm, reached: heard.connections, output: output.slice(0, 4000) };
}

function isAlive(pid) {
  try {
    return !/^State:\s+[ZX]/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}

function nameOf(pid) {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return pid;
  }
}

listen();
mkdirSync(`${HOME}/.local/state`, { recursive: true });
restore();
for (const pid of processes()) mine.add(pid);
for await (const line of createInterface({ input: process.stdin }))
  if (line) console.log(JSON.stringify(await run(JSON.parse(line))));
process.exit(0);
