import { type ChildProcess, type SpawnSyncReturns, spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, beforeEach, describe } from "vitest";
import { NOBODY } from "./ordinary-user.js";
import { root } from "./root.js";

/** The real command line with the policies that ship, as one user, in a workspace of theirs, with a world outside of it. */

const isRoot = process.getuid?.() === 0;

/** Who attacks. An ordinary user who runs these tests cannot become another. */
const USERS: Readonly<Record<string, number>> = isRoot
  ? { root: 0, "an ordinary user": NOBODY }
  : { "an ordinary user": process.getuid!() };

/** How a command of an agent comes under HERMES. */
export const WAYS = ["run -p agent", "run -p agent --fence strict", "exec"] as const;

export type Result = SpawnSyncReturns<string>;

const BUILD = ["dist", "package.json", "hermes", "policies", "prototypes"];
const STORE = ["libsql", "@libsql", "@neon-rs", "detect-libc"].map((name) => `node_modules/${name}`);

/** A copy of the build that everybody can read, wherever this checkout lies. */
class Build {
  readonly folder = mkdtempSync(join(tmpdir(), "hermes-build-"));

  constructor() {
    chmodSync(this.folder, 0o755);
    // HERMES_BUILD names another one: to see what an earlier version lets happen.
    const from = process.env.HERMES_BUILD ?? root;
    for (const part of BUILD) cpSync(join(from, part), join(this.folder, part), { recursive: true });
    for (const part of STORE)
      if (existsSync(join(root, part)))
        cpSync(join(root, part), join(this.folder, part), { recursive: true });
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

export class Shipped {
  readonly uid: number;
  readonly folder = mkdtempSync(join(tmpdir(), "hermes-shipped-"));
  readonly workspace = join(this.folder, "work");
  /** Outside of the workspace, but where the user may write. */
  readonly outside = join(this.folder, "outside");
  readonly home = join(this.folder, "home");
  readonly program: string;
  readonly #children: ChildProcess[] = [];

  constructor(uid: number, build: Build) {
    this.uid = uid;
    this.program = join(build.folder, "hermes");
    chmodSync(this.folder, 0o755);
    for (const folder of [this.workspace, this.outside, this.home]) this.#make(folder);
  }

  #make(folder: string): void {
    mkdirSync(folder);
    if (isRoot) chownSync(folder, this.uid, this.uid);
  }

  get #options() {
    return {
      cwd: this.workspace,
      env: {
        PATH: "/usr/local/bin:/usr/bin:/bin",
        HOME: this.home,
        LANG: "C.UTF-8",
        SHELL: "/bin/sh",
        XDG_STATE_HOME: join(this.home, "state"),
      },
      ...(isRoot && { uid: this.uid, gid: this.uid }),
    };
  }

  /** A file of the user's; its path. */
  write(name: string, text: string, folder = this.workspace): string {
    const file = join(folder, name);
    writeFileSync(file, text);
    if (isRoot) chownSync(file, this.uid, this.uid);
    return file;
  }

  bare(...words: string[]): Result {
    return this.#spawn(words[0]!, words.slice(1));
  }

  /** `way` is a way of `WAYS`, or other words of the command line before the program. */
  hermes(way: string, script: string): Result {
    const [command, ...words] = way.split(" ");
    // No approver is there: a question is a refusal.
    const rest = [
      "--ask",
      "no",
      ...(command === "exec" ? [script] : [...words, "--", "/bin/bash", "-c", script]),
    ];
    return this.#spawn(this.program, [command!, ...rest]);
  }

  #spawn(file: string, words: readonly string[]): Result {
    return spawnSync(file, words, { ...this.#options, encoding: "utf8", timeout: 100_000 });
  }

  /** A process outside of every run, until the end of the test. */
  start(...words: string[]): ChildProcess {
    const child = spawn(words[0]!, words.slice(1), {
      ...this.#options,
      stdio: ["ignore", "pipe", "inherit"],
    });
    this.#children.push(child);
    return child;
  }

  close(): void {
    for (const child of this.#children) child.kill("SIGKILL");
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Tests as every user, each in a workspace of its own, which `enter` gets before. `another` makes one more. */
export function asEachUser(enter: (place: Shipped) => void, tests: (another: () => Shipped) => void): void {
  let build: Build;
  const places: Shipped[] = [];
  beforeAll(() => {
    build = new Build();
  });
  afterAll(() => build.remove());
  describe.each(Object.entries(USERS))("as %s", (_, uid) => {
    const another = () => {
      const place = new Shipped(uid, build);
      places.push(place);
      return place;
    };
    beforeEach(() => enter(another()));
    afterEach(() => {
      for (const place of places.splice(0)) place.close();
    });
    tests(another);
  });
}
