import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from "node:fs";
import { basename, extname, join } from "node:path";
import { reachable } from "../support/reachable.js";
import { root } from "../support/root.js";

/** What an attack tries to break. The folder that an attack lies in says which. */
export const GOALS = {
  read: "no read of a secret",
  write: "no change outside a folder",
  connect: "no connection to an address",
  exec: "no run of a program",
  only: "no run of any but some programs",
  env: "no sight of a hidden variable",
  escape: "no escape from the session",
  harm: "no harm to the supervisor",
  reach: "no touching of anybody outside",
} as const;
export type Goal = keyof typeof GOALS;

/** What an attack may need that not every machine or user has: without it, it cannot succeed bare either. */
export const NEEDS = [
  "root",
  "ordinary",
  "userns",
  "x32",
  "reflink",
  "mptcp",
  "terminal",
  "tmux",
  // It is aimed at the process that makes calls on behalf of the program: bare, there is none, and nothing to show.
  "mediator",
] as const;
export type Need = (typeof NEEDS)[number];

export interface Attack {
  /** goal/name */
  readonly name: string;
  readonly goal: Goal;
  readonly file: string;
  /** What it tries, in its own words. */
  readonly text: string;
  readonly needs: readonly Need[];
}

const folder = join(root, "test/attacks");
/** Who runs a script, and how it says that it begins. */
const INTERPRETERS: Readonly<Record<string, readonly [program: string, begin: string]>> = {
  ".sh": ["bash", "echo BEGAN"],
  ".py": ["python3", 'print("BEGAN", flush=True)'],
  ".pl": ["perl", '$| = 1; print "BEGAN\\n";'],
};

export function allAttacks(): Attack[] {
  return (Object.keys(GOALS) as Goal[]).flatMap((goal) =>
    readdirSync(join(folder, goal))
      .sort()
      .map((file) => describe(goal, join(folder, goal, file))),
  );
}

/** The comment that a file begins with says what it tries and what it needs. */
function describe(goal: Goal, file: string): Attack {
  const source = readFileSync(file, "utf8");
  const comment = /^\/\*([\s\S]*?)\*\/|^# (.*)$/m.exec(source);
  const words = (comment?.[1] ?? comment?.[2] ?? "").replace(/\s*\n \*\s*/g, " ").trim();
  const needs = [...words.matchAll(/Needs: (\w+)\.?/g)].map((match) => match[1] as Need);
  for (const need of needs) if (!NEEDS.includes(need)) throw new Error(`${file}: unknown need "${need}"`);
  const text = words.replace(/\s*Needs: \w+\.?\s*/g, " ").trim();
  if (text === "") throw new Error(`${file} does not say what it tries`);
  const ending = extname(file) === ".c" ? "" : extname(file);
  return { name: `${goal}/${basename(file, extname(file))}${ending}`, goal, file, text, needs };
}

const FLAGS =
  "-O1 -Wall -Wextra -Werror -Wno-unused-result -Wno-nonnull -Wno-format-extra-args -pthread".split(" ");

/** The command that makes the attack; C is compiled once per content. Each says BEGAN when it begins. */
export function commandOf(attack: Attack): string[] {
  const interpreter = INTERPRETERS[extname(attack.file)];
  return interpreter ? [interpreter[0], announced(attack.file, interpreter[1])] : [compiled(attack.file)];
}

/** A script that says so when it begins, as attack.h does for programs. */
function announced(source: string, begin: string): string {
  const text = `${begin}\n${readFileSync(source, "utf8")}`;
  const version = createHash("sha256").update(text).digest("hex").slice(0, 12);
  const script = join(root, "build/attacks", `${version}-${basename(source)}`);
  if (!existsSync(script)) {
    mkdirSync(join(root, "build/attacks"), { recursive: true });
    writeFileSync(`${script}.${process.pid}`, text, { mode: 0o755 });
    renameSync(`${script}.${process.pid}`, script);
  }
  return reachable(script);
}

export function compiled(source: string, ...more: string[]): string {
  const headers = readdirSync(folder).filter((name) => name.endsWith(".h"));
  const parts = [source, ...headers.sort().map((name) => join(folder, name))];
  const hash = createHash("sha256");
  for (const part of parts) hash.update(readFileSync(part));
  const version = hash.update(more.join(" ")).digest("hex").slice(0, 12);
  const binary = join(root, "build/attacks", `${basename(source, ".c")}-${version}`);
  if (existsSync(binary)) return reachable(binary);
  mkdirSync(join(root, "build/attacks"), { recursive: true });
  const draft = `${binary}.${process.pid}`;
  execFileSync("gcc", [...FLAGS, "-o", draft, source, ...more], { stdio: "pipe" });
  chmodSync(draft, 0o755);
  renameSync(draft, binary);
  return reachable(binary);
}

/** A program of the arena itself. */
export const ofArena = (name: "arena" | "outsider" | "named" | "tool", ...flags: string[]) =>
  compiled(join(folder, `${name}.c`), ...flags);
