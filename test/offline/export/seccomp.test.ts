import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { aroundHybridCgroups } from "../../../src/agents/tools/oci/engine.js";
import { BusyboxRoot } from "../../agents/tools/backends/image.js";
import { PodmanStore } from "../../agents/tools/backends/podman-store.js";
import { hermes } from "../../support/cli.js";

/** One program that starts no process, and one that does. */
const ECHO = ["/bin/busybox", "echo", "started"];
const FORK = ["/bin/busybox", "sh", "-c", "/bin/busybox echo started; :"];
const STARTED = { status: 0, stdout: "started\n", stderr: "" };

let folder: string;
let image: BusyboxRoot;
let store: PodmanStore;
const profiles: Record<string, string> = {};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "hermes-seccomp-"));
  image = new BusyboxRoot();
  for (const name of ["proc", "dev"]) mkdirSync(join(image.path, name));
  store = new PodmanStore();
  for (const [kind, command] of Object.entries({ echo: ECHO, fork: FORK })) {
    const trace = join(folder, `${kind}.htrace`);
    expect(hermes(["run", "-q", "-t", trace, "--", ...command]).status).toBe(0);
    for (const [way, args] of Object.entries({
      export: ["export", trace, "--to", "seccomp"],
      learn: ["learn", "--from", trace, "--format", "oci"],
    })) {
      const file = join(folder, `${way}-${kind}.json`);
      expect(hermes([...args, "-o", file])).toMatchObject({ status: 0 });
      profiles[`${way}-${kind}`] = file;
    }
  }
});
afterAll(() => {
  store?.remove();
  image?.remove();
  rmSync(folder, { recursive: true, force: true });
});

interface Shape {
  readonly user: { readonly uid: number; readonly gid: number };
  readonly noNewPrivileges: boolean;
}
const SHAPES: readonly Shape[] = [
  { user: { uid: 0, gid: 0 }, noNewPrivileges: true },
  { user: { uid: 0, gid: 0 }, noNewPrivileges: false },
  { user: { uid: 65534, gid: 65534 }, noNewPrivileges: false },
];

let containers = 0;
/** One container of a bare runtime, with a seccomp profile. */
function runtime(name: "crun" | "runc", profile: string, args: readonly string[], shape: Shape) {
  const bundle = join(folder, `bundle-${++containers}`);
  mkdirSync(bundle);
  const spec = {
    ociVersion: "1.0.2",
    root: { path: image.path, readonly: true },
    process: { ...shape, terminal: false, args, env: ["PATH=/bin"], cwd: "/" },
    mounts: [{ destination: "/proc", type: "proc", source: "proc" }],
    linux: {
      namespaces: ["pid", "ipc", "uts", "mount", "network"].map((type) => ({ type })),
      seccomp: JSON.parse(readFileSync(profile, "utf8")),
    },
  };
  writeFileSync(join(bundle, "config.json"), JSON.stringify(spec));
  const command = [name, "--root", join(folder, "state"), "run", "--bundle", bundle, `hermes-${containers}`];
  return run(aroundHybridCgroups(name, command));
}

function podman(profile: string, args: readonly string[]) {
  // The limits that podman sets by default may be more than this machine allows.
  const limits = ["--ulimit", "nofile=1024:1024", "--ulimit", "nproc=1024:1024"];
  const options = [
    "--rm",
    "--log-driver=none",
    "--network=none",
    "--security-opt",
    `seccomp=${profile}`,
    ...limits,
  ];
  return run(aroundHybridCgroups("podman", ["podman", "run", ...options, store.image, ...args]));
}

function run([program, ...args]: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(program!, args, { encoding: "utf8" });
  return { status, stdout, stderr };
}

describe.each(["export", "learn"])("a seccomp profile that hermes %s writes", (way) => {
  const profile = (kind: string) => profiles[`${way}-${kind}`]!;

  it.each(SHAPES.flatMap((shape) => (["crun", "runc"] as const).map((name) => ({ name, ...shape }))))(
    "starts a container of $name as user $user.uid, with noNewPrivileges $noNewPrivileges",
    ({ name, ...shape }) => {
      expect(runtime(name, profile("echo"), ECHO, shape)).toEqual(STARTED);
      expect(runtime(name, profile("fork"), FORK, shape)).toEqual(STARTED);
    },
  );

  it("starts a container of podman", () => {
    expect(podman(profile("echo"), ECHO)).toEqual(STARTED);
  });

  it.each(["crun", "runc"] as const)("refuses calls that the trace does not hold, in %s", (name) => {
    const made = runtime(name, profile("echo"), ["/bin/busybox", "mkdir", "/tmp/new"], SHAPES[0]!);
    expect(made).toMatchObject({ status: 1, stderr: expect.stringContaining("Operation not permitted") });
    const forked = runtime(name, profile("echo"), FORK, SHAPES[0]!);
    expect(forked.stdout).toBe("");
    expect(forked.status).not.toBe(0);
  });
});

it("export and learn write the same profile", () => {
  for (const kind of ["echo", "fork"])
    expect(readFileSync(profiles[`learn-${kind}`]!, "utf8")).toBe(
      readFileSync(profiles[`export-${kind}`]!, "utf8"),
    );
});
