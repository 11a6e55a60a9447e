import type { KeyObject } from "node:crypto";
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { HermesError } from "../nouns/errors.js";
import { loadPolicy } from "../policy/load.js";
import { hashOfText, isSigned, type Release } from "./signature.js";

/** The file before the first policy: sessions need a file that they can reload later. */
const NOTHING_YET = `# Written by hermes fleet daemon: the fleet has not assigned a policy to this host yet.
name: fleet
rules:
  - id: fleet-folder
    deny: write
    path: "\${policy}/**"
    reason: what the fleet keeps here is not for programs
`;

/**
 * The policy of this host, on its own disk: it applies whether or not the fleet is reachable. Its file is replaced
 * atomically, and running sessions reload it.
 */
export class AppliedPolicy {
  readonly file: string;
  readonly #folder: string;
  readonly #accepted: string;
  readonly #trusted: readonly KeyObject[];

  /** With trusted keys, only policies signed by one of them are accepted, and none older than the last accepted one. */
  constructor(folder: string, trusted: readonly KeyObject[] = []) {
    this.#folder = folder;
    this.#trusted = trusted;
    this.file = join(folder, "policy.yaml");
    this.#accepted = join(folder, "accepted.json");
    const isNew = !existsSync(this.file);
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (isNew) this.#put([this.file, NOTHING_YET]);
  }

  /** The last accepted policy. It is not active if the file was edited since. */
  get serial(): number | null {
    const accepted = this.#read();
    if (!accepted) return null;
    try {
      return hashOfText(readFileSync(this.file, "utf8")) === accepted.policy ? accepted.serial : null;
    } catch {
      return null;
    }
  }

  /** Applies the policy, or throws the reason and keeps the active one. */
  async apply(release: Release, text: string): Promise<void> {
    const { serial, policy } = release;
    const refuse = (why: string) =>
      new HermesError("FLEET", { message: `this host refused policy ${serial}: ${why}` });
    if (hashOfText(text) !== policy) throw refuse("its text does not match its hash");
    if (this.#trusted.length > 0) {
      if (!isSigned(release, this.#trusted)) throw refuse("it is not signed by a key that this host trusts");
      const before = this.#read();
      if (before && (serial < before.serial || (serial === before.serial && policy !== before.policy)))
        throw refuse(`it is older than ${before.serial}, which this host had before`);
    }
    await this.check(text);
    // The accepted serial is saved first: an older policy is then never accepted again, even after a crash.
    this.#put([this.#accepted, `${JSON.stringify({ serial, policy })}\n`], [this.file, text]);
  }

  /** Whether this host can load it. */
  async check(text: string): Promise<void> {
    const draft = join(this.#folder, `.draft-${randomBytes(6).toString("hex")}.yaml`);
    try {
      writeFileSync(draft, text, { mode: 0o600, flag: "wx" });
      await loadPolicy(draft);
    } finally {
      rmSync(draft, { force: true });
    }
  }

  #read(): Pick<Release, "serial" | "policy"> | undefined {
    if (!existsSync(this.#accepted)) return undefined;
    try {
      return JSON.parse(readFileSync(this.#accepted, "utf8"));
    } catch (cause) {
      const message = `${this.#accepted} is damaged: it does not name the accepted policy`;
      throw new HermesError("FLEET", { message }, { cause });
    }
  }

  /** Write, sync, rename, in this order. */
  #put(...files: readonly (readonly [file: string, text: string])[]): void {
    try {
      for (const [file, text] of files) synced(`${file}.new`, "w", (fd) => writeSync(fd, text));
      for (const [file] of files) renameSync(`${file}.new`, file);
      synced(this.#folder, "r", () => {});
    } catch (cause) {
      const errno = (cause as NodeJS.ErrnoException).code ?? "?";
      throw new HermesError("OUTPUT", { file: this.file, errno }, { cause });
    }
  }
}

function synced(file: string, flags: "r" | "w", act: (fd: number) => void): void {
  const fd = openSync(file, flags, 0o600);
  try {
    act(fd);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}
