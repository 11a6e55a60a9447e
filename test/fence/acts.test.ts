import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hermes } from "../support/cli.js";

/** A call that is made in the program's place must not reach further than the program could. */
const LOOKS = fileURLToPath(new URL("../transparency/policies/every-path.ts", import.meta.url));
let folder: string;
let server: Server;
let port: number;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "hermes-acts-"));
  for (const name of ["work", "other"]) mkdirSync(join(folder, name));
  writeFileSync(join(folder, "other/file"), "other\n");
  server = createServer((socket) => socket.end());
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  port = (server.address() as { port: number }).port;
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true, force: true });
});

const ways = ["echo x > ../other/new", "echo x >> ../other/file", "mkdir ../other/new", "rm ../other/file"];
const moves = ["mv ../other/file .", "ln ../other/file ../other/new", "ln -s x ../other/new"];
const more = ["truncate -s 0 ../other/file", "mkfifo ../other/new", "cp /etc/hostname ../other/new"];

describe.each(["notify", "trace"])("behind a fence, through the %s door", (door) => {
  const run = (options: string[], script: string) =>
    hermes(["run", "-q", "-p", LOOKS, "--door", door, ...options, "--", "sh", "-c", script], {
      cwd: join(folder, "work"),
    });

  it.each([...ways, ...moves, ...more])("%s changes nothing outside", (script) => {
    const done = run(["--writable", join(folder, "work")], `echo in > inside && cat inside && ${script}`);
    expect(done.stdout).toBe("in\n");
    expect(done.status).not.toBe(0);
    expect(readdirSync(join(folder, "other"))).toEqual(["file"]);
  });

  it("nothing outside is read", () => {
    const options = ["--writable", join(folder, "work"), "--readable", join(folder, "work")];
    expect(run(options, "cat ../other/file")).toMatchObject({ status: 1, stdout: "" });
  });

  it("no other port is reached", () => {
    const connect = (to: number) =>
      `python3 -c 'import socket; socket.create_connection(("127.0.0.1", ${to})); print("reached")'`;
    expect(run(["--connect-port", String(port)], connect(port)).stdout).toBe("reached\n");
    expect(run(["--connect-port", "1"], connect(port)).stdout).toBe("");
  });
});
