import { spawn } from "node:child_process";
import { chownSync, copyFileSync, readdirSync, readFileSync } from "node:fs";
import { Arena, type Fighter } from "./arena.js";
import { type Attack, commandOf, ofArena } from "./attacks.js";
import type { System } from "./systems.js";

export interface Outcome {
  /** What the attack reached, or undefined when it was held. */
  readonly broke: string | undefined;
  /** False when it was never made: then nothing was held either. */
  readonly began: boolean;
  readonly stderr: string;
}

export interface Circumstances {
  readonly fighter: Fighter;
  /** Where a build of HERMES lies that the fighter can read. */
  readonly build: string;
  /** How often a race is tried. */
  readonly attempts: number;
}

const TOO_LONG_MS = 100_000;
const KEPT = ["LANG", "TMPDIR"];
/** Not ours: it may lead to scripts in a home that stand in for interpreters, and those are more programs. */
const PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Makes one attack on one system, in an arena of its own. */
export async function fight(attack: Attack, system: System, c: Circumstances): Promise<Outcome> {
  const arena = await Arena.open(attack, c.fighter, c.attempts, system.layout);
  try {
    const command = system.wrap(placed(attack, arena, c.fighter), attack, arena, c.build);
    const keyed = attack.goal === "env" ? [ofArena("arena"), "keyed", ...command] : command;
    const end = await execute(keyed, system, arena, c);
    const began = /^BEGAN$/m.test(end.stdout);
    const broke = (await arena.evidence(end.stdout)) ?? (began ? harmOf(end, system) : undefined);
    return { broke, began, stderr: end.stderr };
  } finally {
    await arena.close();
  }
}

/** In a home, the attack lies in the workspace: some policies let nothing else be read. */
function placed(attack: Attack, arena: Arena, fighter: Fighter): string[] {
  const command = commandOf(attack);
  if (arena.layout === "arena") return command;
  const file = arena.path(arena.places.allowed, "attack");
  copyFileSync(command.at(-1)!, file);
  chownSync(file, fighter.uid, fighter.gid);
  return [...command.slice(0, -1), file];
}

interface End {
  readonly stdout: string;
  readonly stderr: string;
  readonly signal: string | null;
  readonly status: number | null;
  readonly survivors: number;
  readonly hung: boolean;
}

/** A system that died, hangs, or leaves a process behind has been beaten, even if the attack does not say so. */
function harmOf({ signal, status, survivors, hung }: End, system: System): string | undefined {
  if (hung) return "the system hangs";
  if (signal !== null) return `the system was ended by ${signal}`;
  if (!system.isBare && status === 125) return "the system failed";
  if (survivors > 0) return "a process outlived the session";
  return undefined;
}

async function execute(
  command: readonly string[],
  system: System,
  arena: Arena,
  { fighter }: Circumstances,
): Promise<End> {
  const mark = `A_MARK=${arena.token.slice(6)}`;
  const env = {
    ...Object.fromEntries(KEPT.flatMap((name) => (process.env[name] ? [[name, process.env[name]]] : []))),
    PATH,
    HOME: arena.layout === "home" ? arena.folder : arena.path("allowed"),
    ...arena.env,
    HIDDEN: arena.token,
    A_ABOVE: String(system.above),
    A_SYSTEM: system.name,
    A_MARK: arena.token.slice(6),
  };
  const [secret, outside] = arena.leaked as [number, number];
  const child = spawn(command[0]!, command.slice(1), {
    cwd: arena.path(arena.places.allowed),
    env,
    // A session of its own: what is sent to the group is for the system and its program alone.
    detached: true,
    stdio: ["ignore", "pipe", "pipe", "ignore", "ignore", secret, outside],
    ...(process.getuid?.() === 0 && { uid: fighter.uid, gid: fighter.gid }),
  });
  let stdout = "";
  let stderr = "";
  const end = () => {
    for (const pid of marked(mark)) kill(pid);
  };
  let watch: NodeJS.Timeout | undefined;
  child.stdout!.setEncoding("latin1").on("data", (text) => {
    stdout += text;
    // It has succeeded. Once it has tidied up, those are left whom it stopped: they would never end.
    if (/^BROKE .*\n/m.test(stdout)) watch ??= setInterval(() => marked(mark).every(isStopped) && end(), 100);
  });
  child.stderr!.setEncoding("latin1").on("data", (text) => (stderr += text));
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    end();
  }, TOO_LONG_MS);
  const [status, signal] = await new Promise<[number | null, string | null]>((done) => {
    child.on("exit", (code, name) => done([code, name]));
    child.on("error", (error) => {
      stderr += String(error);
      done([127, null]);
    });
  });
  clearTimeout(timer);
  clearInterval(watch);
  const survivors = await settled(mark);
  for (const pid of survivors) kill(pid);
  // No process keeps a pipe of ours open now: the rest of the output is there.
  if (!child.stdout!.readableEnded) await new Promise((done) => child.on("close", done));
  return { stdout, stderr, status, signal, survivors: survivors.length, hung };
}

/** Ten seconds: only where a process is really left does a fight take them. */
const PATIENCE_TURNS = 400;

/** The processes that are left, once those that were about to end have ended. */
async function settled(mark: string): Promise<number[]> {
  for (let i = 0; ; i++) {
    const left = marked(mark);
    if (left.length === 0 || i === PATIENCE_TURNS) return left;
    await new Promise((done) => setTimeout(done, 25));
  }
}

function marked(mark: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return (
          readFileSync(`/proc/${pid}/stat`, "latin1").split(") ")[1]![0] !== "Z" &&
          readFileSync(`/proc/${pid}/environ`, "latin1").includes(mark)
        );
      } catch {
        return false;
      }
    });
}

function isStopped(pid: number): boolean {
  try {
    return /\) [Tt] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return true;
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone.
  }
}
