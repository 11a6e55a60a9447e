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
import { HermesError } from "../errors.js";
import { loadPolicy } from "../policy/load.js";
import { hashOfText, isSigned, type Release } from "./signature.js";

/** Until there is a policy: so that sessions have a place where one can come into force. */
const NOTHING_YET = `# Written by hermes agent: the fleet has given no policy to this host yet.
name: fleet
rules:
  - id: fleet-folder
    deny: write
    path: "\${policy}/**"
    reason: what the fleet keeps here is not for programs
`;

/**
 * The policy of this host, on its own disk: it holds whether or not the fleet can be reached. Its file is replaced in one
 * step, and running sessions load it anew by themselves.
 */
export class AppliedPolicy {
  readonly file: string;
  readonly #folder: string;
  readonly #accepted: string;
  readonly #trusted: readonly KeyObject[];

  /** With trusted keys, only what one of them has signed is taken, and nothing older than what was taken before. */
  constructor(folder: string, trusted: readonly KeyObject[] = []) {
    this.#folder = folder;
    this.#trusted = trusted;
    this.file = join(folder, "policy.yaml");
    this.#accepted = join(folder, "accepted.json");
    const isNew = !existsSync(this.file);
    if (!existsSync(folder)) mkdirSync(folder, { recursive: true, mode: 0o700 });
    if (isNew) this.#put([this.file, NOTHING_YET]);
  }

  /** The last one that was accepted; of a policy that somebody else has changed since, it is not in force. */
  get serial(): number | null {
    const accepted = this.#read();
    if (!accepted) return null;
    try {
      return hashOfText(readFileSync(this.file, "utf8")) === accepted.policy ? accepted.serial : null;
    } catch {
      return null;
    }
  }

  /** Puts it in force, or says why not and leaves in force what is. */
  async apply(release: Release, text: string): Promise<void> {
    const { serial, policy } = release;
    const refuse = (why: string) =>
      new HermesError("FLEET", { message: `policy ${serial} is refused: ${why}` });
    if (hashOfText(text) !== policy) throw refuse("its text is not what its hash says");
    if (this.#trusted.length > 0) {
      if (!isSigned(release, this.#trusted)) throw refuse("it is not signed by a key that this host trusts");
      const before = this.#read();
      if (before && (serial < before.serial || (serial === before.serial && policy !== before.policy)))
        throw refuse(`it is older than ${before.serial}, which this host had before`);
    }
    await this.check(text);
    // What was accepted first: an older one is not taken again, wherever we are stopped.
    this.#put([this.#accepted, `${JSON.stringify({ serial, policy })}\n`], [this.file, text]);
  }

  /** Whether it can be loaded here. */
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
      const message = `${this.#accepted} is damaged: it does not say which policy was accepted`;
      throw new HermesError("FLEET", { message }, { cause });
    }
  }

  /** On disk, then in place, one after the other. */
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
