import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import type {
  Backend,
  RunEvents,
  Running,
  RunOrder,
  RunResult,
} from "../../../../src/agents/tools/backend.js";

/** A workspace, and orders for it that can be told from everybody else's on this machine. */
export class Workspace {
  readonly path = mkdtempSync(join(tmpdir(), "hermes-workspace-"));
  readonly #mark = `SUITE=${randomUUID()}`;
  readonly env: Record<string, string>;

  constructor() {
    mkdirSync(join(this.path, "inner"));
    const [name, value] = this.#mark.split("=");
    this.env = { PATH: "/usr/local/bin:/usr/bin:/bin", [name!]: value! };
  }

  order(argv: readonly string[], more: Partial<RunOrder> = {}): RunOrder {
    return {
      argv,
      cwd: this.path,
      env: this.env,
      timeout: 110_000,
      deed: { workspace: this.path, home: homedir(), writable: [], approved: [], network: "public" },
      ...more,
    };
  }

  /** Processes of these orders, wherever they hide: containers and daemons of this machine included. */
  processes(): string[] {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
      .filter((pid) => read(`/proc/${pid}/environ`).split("\0").includes(this.#mark))
      .map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll("\0", " ")}`);
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
}

/** What backends make on a machine and must take away again. */
export function traces(): string[] {
  const folders = readdirSync(tmpdir()).filter(
    (name) => name.startsWith("hermes-scratch-") && name.includes(`-${process.pid}-`),
  );
  const mounts = read("/proc/mounts")
    .split("\n")
    .filter((line) => line.includes("/hermes") && !line.includes("/hermes-arena-")); // attacks mount, too
  const cgroups = ["memory", "pids", "cpu", "unified", ""].flatMap((controller) =>
    list(join("/sys/fs/cgroup", controller)).filter((name) =>
      new RegExp(`^(hermes-${process.pid}-|libpod-)`).test(name),
    ),
  );
  return [...folders, ...mounts, ...cgroups];
}

export interface Finished {
  readonly result: RunResult;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

/** Starts an order and collects what it prints. */
export async function begin(
  backend: Backend,
  order: RunOrder,
  events: RunEvents = {},
): Promise<{ running: Running; printed: () => string; finished: Promise<Finished> }> {
  const parts: Record<"stdout" | "stderr", Buffer[]> = { stdout: [], stderr: [] };
  const running = await backend.start(order, {
    output: (stream, bytes) => void parts[stream].push(Buffer.from(bytes)),
    ...events,
  });
  const finished = running.result.then((result) => ({
    result,
    stdout: Buffer.concat(parts.stdout),
    stderr: Buffer.concat(parts.stderr),
  }));
  finished.catch(() => {});
  return { running, printed: () => Buffer.concat(parts.stdout).toString(), finished };
}

export async function finish(backend: Backend, order: RunOrder, events?: RunEvents): Promise<Finished> {
  return (await begin(backend, order, events)).finished;
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
