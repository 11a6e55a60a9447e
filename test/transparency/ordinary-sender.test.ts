import { spawnSync } from "node:child_process";
import { cpSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { NOBODY, OrdinaryUser } from "../support/ordinary-user.js";
import { root } from "../support/root.js";

/** Prints what the peer of a pair of sockets is told about its sender, and what signal 0 for everybody gives. */
const PROGRAM = `
import os, socket, struct
for kind in socket.SOCK_STREAM, socket.SOCK_SEQPACKET:
    one, other = socket.socketpair(socket.AF_UNIX, kind)
    other.setsockopt(socket.SOL_SOCKET, socket.SO_PASSCRED, 1)
    one.sendmsg([b"x"])
    _, control, _, _ = other.recvmsg(10, 100)
    print(struct.unpack("iii", control[0][2]) == (os.getpid(), os.getuid(), os.getgid()))
os.kill(-1, 0)
print("alive")
`;

let user: OrdinaryUser;
beforeAll(() => {
  user = new OrdinaryUser();
  cpSync(join(root, "test/transparency/policies"), join(user.folder, "watch"), { recursive: true });
});
afterAll(() => user.remove());

test("an ordinary user's program is named by its own pid to the peer of its Unix socket", () => {
  const options = ["--quiet", "-p", join(user.folder, "watch/every-call.yaml"), "--door", "notify"];
  const asUser = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const { stdout, stderr } = spawnSync(
    user.hermes,
    ["run", ...options, "--", "/usr/bin/python3", "-c", PROGRAM],
    {
      cwd: user.own,
      encoding: "utf8",
      env: { PATH: process.env.PATH, HOME: user.own },
      timeout: 60_000,
      ...asUser,
    },
  );
  expect({ stdout, stderr }).toEqual({ stdout: "True\nTrue\nalive\n", stderr: "" });
});
