import { spawn, spawnSync } from "node:child_process";
import { connect, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { complaint } from "./measured.mjs";
import { optionsOf } from "./place.mjs";

const PATIENCE_MS = 5000;

/** Milliseconds that a client's load takes on a server that runs under a system. */
export async function served(work, prefix, place, size) {
  const port = await freePort();
  const [program, ...words] = [...prefix, ...work.server({ ...place, port })];
  const options = { ...optionsOf(place), stdio: "ignore", detached: true };
  const server = spawn(program, words, options);
  const ended = new Promise((resolve) => server.on("exit", resolve).on("error", resolve));
  try {
    await listens(port, ended);
    const [client, ...args] = work.load({ port }, size);
    const from = performance.now();
    const done = spawnSync(client, args, { encoding: "utf8" });
    if (done.status !== 0) throw new Error(`${client}: exit ${done.status}: ${complaint(done.stderr)}`);
    return { wall: performance.now() - from };
  } finally {
    await end(server, ended);
  }
}

/** Kills it with everything that it started. */
async function end(server, ended) {
  const signal = (name) => {
    try {
      process.kill(-server.pid, name);
    } catch {
      // already ended
    }
  };
  signal("SIGTERM");
  const over = await Promise.race([ended.then(() => true), sleep(PATIENCE_MS, false, { ref: false })]);
  if (!over) signal("SIGKILL");
  await ended;
}

async function listens(port, ended) {
  let over = false;
  ended.then(() => (over = true));
  for (let i = 0; i < 300 && !over; i++) {
    if (await answers(port)) return;
    await sleep(50);
  }
  throw new Error("the server cannot be reached");
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(true)).on("error", () => resolve(false));
    socket.on("connect", () => socket.destroy());
  });
}

function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
