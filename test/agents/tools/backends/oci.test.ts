import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Backend } from "../../../../src/agents/tools/backend.js";
import { OciBackend } from "../../../../src/agents/tools/oci/backend.js";
import { runArguments } from "../../../../src/agents/tools/oci/command.js";
import { findPackage } from "../../../../src/agents/tools/oci/package.js";
import { planFor } from "../../../../src/agents/tools/oci/plan.js";
import { backendSection } from "../../../../src/intent/guard/config/backend.js";
import { until } from "../../../support/until.js";
import { BusyboxRoot } from "./image.js";
import { begin, finish, traces, Workspace } from "./place.js";
import { PodmanStore } from "./podman-store.js";

const LIMITS = ["oci_memory", "oci_pids", "oci_cpu_shares"];
const ALWAYS = ["oci_capabilities", "oci_no_new_privileges", "oci_read_only"];

const ociSection = (oci: object) => backendSection.parse({ kind: "oci", oci }).oci;
const sh = (script: string) => ["sh", "-c", script];

const root = new BusyboxRoot();
const store = new PodmanStore();
const workspace = new Workspace();
const home = mkdtempSync(join(tmpdir(), "hermes-home-"));
afterAll(() => {
  root.remove();
  store.remove();
  workspace.remove();
  rmSync(home, { recursive: true });
});

/** The limits of the cgroups that a process of the container is in, as the host sees them. */
function limitsOf(pid: number) {
  const groups = new Map(
    readFileSync(`/proc/${pid}/cgroup`, "utf8")
      .split("\n")
      .flatMap((line) => {
        const [, names = "", path = ""] = line.split(":");
        return names.split(",").map((name): [string, string] => [name, path]);
      }),
  );
  const value = (controller: string, v1: string, v2: string) => {
    const path = groups.get(controller);
    const file = path === undefined ? `${groups.get("")}/${v2}` : `${controller}${path}/${v1}`;
    return readFileSync(`/sys/fs/cgroup/${file}`, "utf8").trim();
  };
  return {
    memory: value("memory", "memory.limit_in_bytes", "memory.max"),
    pids: value("pids", "pids.max", "pids.max"),
    cpu: value("cpu", "cpu.shares", "cpu.weight").replace(/^(20|59)$/, "512"), // as version 2 has it, old and new
  };
}

/** The first process of the container that one is in: HERMES. */
function firstOf(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, "utf8");
  return /^NSpid:.*\t1$/m.test(status) ? pid : firstOf(Number(/^PPid:\t(\d+)$/m.exec(status)![1]));
}

/** Every entry below a folder, with its kind, size and time. */
const inventory = (folder: string) =>
  execFileSync("find", [folder, "-printf", "%P %y %s %T@ %m\n"], { encoding: "utf8" });

describe.each([
  ["crun", { engine: "crun", rootfs: root.path }],
  ["podman", { engine: "podman", image: store.image }],
])("a container of %s", (engine, settings) => {
  let backend: Backend;
  beforeAll(() => {
    backend = new OciBackend(ociSection(settings));
  });
  afterAll(() => backend.close());
  const printed = async (script: string, more = {}) =>
    (await finish(backend, workspace.order(sh(script), more))).stdout.toString();

  it("has no capabilities and can gain none", async () => {
    const status = await printed("cat /proc/self/status");
    for (const set of ["CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"])
      expect(status).toMatch(new RegExp(`^${set}:\\t0{16}$`, "m"));
    expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  });

  it("has the limits of memory, processes and CPU that the seed names", async () => {
    const { printed, running, finished } = await begin(backend, workspace.order(sh("echo ready; sleep 100")));
    await until(() => printed().includes("ready"));
    expect(limitsOf(Number(workspace.processes()[0]!.split(" ")[0]))).toEqual({
      memory: "536870912",
      pids: "256",
      cpu: "512",
    });
    await running.kill();
    const { result } = await finished;
    expect(result.missing).toEqual([]);
    expect(result.inForce).toEqual(expect.arrayContaining([...ALWAYS, ...LIMITS]));
  });

  it("ends a program that takes more memory than that", async () => {
    const { deed, ...order } = workspace.order(sh("a=x; while :; do a=$a$a; done"));
    const approved = { ...deed, approved: ["exhaustion"] };
    const { result } = await finish(backend, { ...order, deed: approved });
    expect(result).toMatchObject({ exitCode: 137, signal: "SIGKILL", timedOut: false });
  });

  it("can change nothing of its own but /tmp, and nothing of HERMES", async () => {
    const out = await printed(
      `for f in /new /bin/new /etc/new /hermes/dist/new /hermes/dist/cli/main.cjs; do (echo x >> $f) 2>/dev/null && echo $f; done
       echo here > /tmp/file && cat /tmp/file`,
    );
    expect(out).toBe("here\n");
  });

  it("sees nothing else of the host: no files, no processes, no network of it", async () => {
    const secret = join(home, "private");
    writeFileSync(secret, "of the host");
    const out = await printed(`ls ${home} 2>&1; ls /home /root 2>/dev/null; ls /proc | grep -c '^[0-9]'`);
    expect(out).not.toContain("private");
    expect(Number(out.trim().split("\n").at(-1))).toBeLessThan(15);
    const { deed } = workspace.order(["true"]);
    const none = await printed("cat /proc/net/dev", { deed: { ...deed, network: "none" } });
    expect(none.match(/^\s*\S+:/gm)).toEqual([expect.stringContaining("lo:")]);
  });

  it("has declared credential files, which it cannot change", async () => {
    const path = join(home, "token.json");
    writeFileSync(path, "declared");
    const credentialFiles = [{ relative: "token.json", path, readOnly: true as const }];
    const script = `cat ${path}; (echo changed > ${path}) 2>/dev/null; rm -f ${path} 2>/dev/null; cat ${path}`;
    expect(await printed(script, { credentialFiles })).toBe("declareddeclared");
    expect(readFileSync(path, "utf8")).toBe("declared");
  });

  it("may change what the deed says it may, and the rest of that folder is not there", async () => {
    const granted = join(home, "granted");
    mkdirSync(granted, { recursive: true });
    const { deed } = workspace.order(["true"]);
    const out = await printed(`echo made > ${granted}/file; ls ${home}`, {
      deed: { ...deed, writable: [granted] },
    });
    expect(out).toBe("granted\n");
    expect(readFileSync(join(granted, "file"), "utf8")).toBe("made\n");
  });

  it("runs commands as the user who called", async () => {
    expect(await printed("id -u; id -g; touch mine")).toBe(`${process.getuid!()}\n${process.getgid!()}\n`);
  });

  it("is told lost when HERMES in it is killed, and is gone", async () => {
    const run = await begin(backend, workspace.order(sh("echo ready; sleep 100")));
    await until(() => run.printed().includes("ready"));
    process.kill(firstOf(Number(workspace.processes()[0]!.split(" ")[0])), "SIGKILL");
    await expect(run.finished).rejects.toMatchObject({ code: "LINK" });
    expect(workspace.processes()).toEqual([]);
  });

  it("ends when its caller is gone", async () => {
    const run = await begin(backend, workspace.order(sh("echo ready; sleep 100")));
    await until(() => run.printed().includes("ready"));
    const clients = execFileSync("pgrep", ["-P", String(process.pid), "-f", `${engine}.* run `], {
      encoding: "utf8",
    });
    for (const pid of clients.trim().split("\n")) process.kill(Number(pid), "SIGKILL");
    await expect(run.finished).rejects.toMatchObject({ code: "LINK" });
    await until(() => workspace.processes().length === 0);
    await until(() => traces().length === 0);
  });
});

describe("a container of crun", () => {
  const placed = mkdtempSync("/var/tmp/hermes-workspace-");
  afterAll(() => rmSync(placed, { recursive: true }));
  const inVar = (script: string) => {
    const order = workspace.order(sh(script));
    return { ...order, cwd: placed, deed: { ...order.deed, workspace: placed } };
  };

  it("leaves the folder that it was made from as it is, wherever the workspace lies", async () => {
    mkdirSync(join(root.path, "var"), { recursive: true });
    writeFileSync(join(root.path, "var", "of-the-image"), "kept");
    const before = inventory(root.path);
    const backend = new OciBackend(ociSection({ engine: "crun", rootfs: root.path }));
    const { stdout } = await finish(backend, inVar("cat /var/of-the-image; pwd; echo made > made; ls"));
    expect(stdout.toString()).toBe(`kept${placed}\nmade\n`);
    expect(inventory(root.path)).toBe(before);
  });

  it("forgets what it writes where its own files may be written", async () => {
    const before = inventory(root.path);
    const backend = new OciBackend(ociSection({ engine: "crun", rootfs: root.path, read_only: false }));
    const { deed, ...order } = inVar("echo new > /opt/new; cat /opt/new");
    const { stdout, result } = await finish(backend, { ...order, deed: { ...deed, writable: ["/opt"] } });
    expect(stdout.toString()).toBe("new\n");
    expect(result.inForce).not.toContain("oci_read_only");
    expect(inventory(root.path)).toBe(before);
  });
});

describe("the command of podman and docker", () => {
  const plan = (oci: object, network: "public" | "none" = "public") => {
    const order = workspace.order(["true"]);
    return planFor({ ...order, deed: { ...order.deed, network } }, ociSection(oci), "name", findPackage());
  };

  it("has exactly the seed's arguments", () => {
    const seed = [
      "--cap-drop=ALL",
      "--security-opt=no-new-privileges",
      "--pids-limit=256",
      "--memory=512m",
      "--cpu-shares=512",
      "--network=bridge",
      "--read-only",
    ];
    for (const engine of ["podman", "docker"] as const)
      expect(runArguments(engine, "image", plan({ image: "image" }))).toEqual(expect.arrayContaining(seed));
    expect(runArguments("docker", "image", plan({ image: "image" }, "none"))).toContain("--network=none");
  });

  it("pulls nothing, keeps no log, and gives away nothing but what is named", () => {
    const words = runArguments("docker", "image", plan({ image: "image" }));
    expect(words).toEqual(expect.arrayContaining(["--pull=never", "--log-driver=none", "--rm"]));
    const writable = words.filter((word) => word.startsWith("--mount=") && !word.endsWith(",readonly"));
    expect(writable).toEqual([`--mount=type=bind,src=${workspace.path},dst=${workspace.path}`]);
    expect(words.join(" ")).not.toContain(`src=${homedir()},`);
  });

  it("is not made of a path that it could misread", () => {
    const odd = { ...plan({ image: "image" }), mounts: [{ source: "/a,b", target: "/a,b" }] };
    expect(() => runArguments("docker", "image", odd)).toThrow(/"\/a,b" cannot be mounted/);
  });
});

describe("a container cannot be had", () => {
  it.each([
    ["neither image nor folder", {}, /either backend.oci.image or backend.oci.rootfs/],
    ["an image for crun", { engine: "crun", image: "a" }, /crun takes a rootfs/],
    ["a folder for podman", { engine: "podman", rootfs: "/a" }, /podman takes an image/],
    ["a bridge of crun", { engine: "crun", rootfs: "/a", network: "bridge" }, /cannot make a bridge network/],
  ])("with %s", (_, oci, message) => {
    expect(() => new OciBackend(ociSection(oci))).toThrow(message);
  });

  it("from an image that is not there", async () => {
    const backend = new OciBackend(ociSection({ engine: "podman", image: "localhost/no-such-image:1" }));
    await expect(backend.start(workspace.order(["true"]), {})).rejects.toThrow(
      /podman ended with status 125.*no-such-image/,
    );
  });

  it("from a folder that is not there, or for a workspace that is none", async () => {
    const backend = new OciBackend(ociSection({ engine: "crun", rootfs: "/no-such-folder" }));
    await expect(backend.start(workspace.order(["true"]), {})).rejects.toThrow(
      /cannot run in a container.*no-such-folder/,
    );
    const other = new OciBackend(ociSection({ engine: "crun", rootfs: root.path }));
    const { deed, ...order } = workspace.order(["true"]);
    await expect(other.start({ ...order, deed: { ...deed, workspace: "/" } }, {})).rejects.toThrow(
      /not a folder/,
    );
    await until(() => traces().length === 0);
  });
});
