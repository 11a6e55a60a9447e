import { chownSync, readdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { sweepScratch } from "../../../../src/agents/tools/scratch.js";
import { backendSection } from "../../../../src/intent/guard/config/backend.js";
import { NOBODY } from "../../../support/ordinary-user.js";
import { until } from "../../../support/until.js";
import { Installed } from "./host-process.js";
import { BusyboxRoot } from "./image.js";
import { Workspace } from "./place.js";
import { PodmanStore } from "./podman-store.js";
import { Sshd } from "./sshd.js";

const root = new BusyboxRoot();
const store = new PodmanStore();
const workspace = new Workspace();
let installed: Installed;
let sshd: Sshd;
beforeAll(async () => {
  installed = await Installed.make();
  sshd = await Sshd.start();
});
afterAll(() => {
  for (const made of [root, store, workspace, installed, sshd]) made.remove();
});

const STUBBORN = `trap "" TERM; (setsid sh -c 'trap "" TERM; sleep 100; sleep 100' &) ; echo ready; sleep 100; sleep 100`;

describe("a program that uses a backend", () => {
  it.each([
    ["local", () => ({ kind: "local" })],
    ["crun", () => ({ kind: "oci", oci: { engine: "crun", rootfs: root.path } })],
    ["podman", () => ({ kind: "oci", oci: { engine: "podman", image: store.image } })],
    ["ssh", () => ({ kind: "ssh", ssh: sshd.section() })],
  ])("leaves nothing running when it is killed: %s", async (_, section) => {
    const order = workspace.order(["sh", "-c", STUBBORN]);
    const host = installed.start(backendSection.parse(section()), order);
    let printed = "";
    host.stdout.on("data", (bytes) => {
      printed += bytes;
    });
    await until(() => printed.includes("ready"));
    host.kill("SIGKILL");
    await until(() => workspace.processes().length === 0);
    const left = () => readdirSync(tmpdir()).filter((name) => name.includes(`-${host.pid}-`));
    await until(() => {
      void sweepScratch();
      return left().length === 0;
    });
  });

  it("is told which limits an ordinary user's container does not have, and has the rest", async () => {
    chownSync(workspace.path, NOBODY, NOBODY);
    const section = backendSection.parse({ kind: "oci", oci: { engine: "runc", rootfs: root.path } });
    const order = workspace.order(["sh", "-c", "echo made > made"]);
    const user = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
    const host = installed.start(section, { ...order, deed: { ...order.deed, network: "none" } }, user);
    let [out, err] = ["", ""];
    host.stdout.on("data", (bytes) => {
      out += bytes;
    });
    host.stderr.on("data", (bytes) => {
      err += bytes;
    });
    await new Promise((resolve) => host.once("close", resolve));
    expect(err).toBe("");
    const { exitCode, inForce, missing } = JSON.parse(out);
    expect(exitCode).toBe(0);
    expect(inForce).toEqual(
      expect.arrayContaining([
        "oci_capabilities",
        "oci_no_new_privileges",
        "oci_read_only",
        "oci_no_network",
      ]),
    );
    expect(missing.map(({ name }: { name: string }) => name)).toEqual([
      "oci_memory",
      "oci_pids",
      "oci_cpu_shares",
    ]);
    expect(missing[0].why).toMatch(/no cgroup is delegated/);
  });
});
