import { chmod, mkdir, realpath, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { HermesError } from "../../../nouns/errors.js";
import type { RunOrder } from "../backend.js";
import { removeScratch, scratchFolder, sweepScratch } from "../scratch.js";

/**
 * Credential files that arrived over the link. Their folder is laid out like HERMES_HOME, and the run gets it as
 * HERMES_HOME.
 */
export class ReceivedCredentials {
  #folder: string | undefined;
  readonly #contents = new Map<string, Buffer>();

  receive(relative: string, contents: Buffer): void {
    if (isAbsolute(relative) || normalize(relative).startsWith(".."))
      throw new HermesError("CREDENTIAL_FILE", { path: relative, why: "it leads out of its folder" });
    this.#contents.set(relative, contents);
  }

  /** The same order, with the local paths of the files. */
  async placed(order: RunOrder): Promise<RunOrder> {
    if (this.#contents.size === 0) return order;
    const folder = await privateFolder();
    this.#folder = folder;
    for (const [relative, contents] of this.#contents) await place(join(folder, relative), contents);
    const files = (order.credentialFiles ?? []).filter(({ relative }) => this.#contents.has(relative));
    const paths = new Map(files.map(({ relative, path }) => [path, join(folder, relative)]));
    const env = Object.entries(order.env).map(([name, value]) => [name, paths.get(value) ?? value]);
    return {
      ...order,
      env: { ...Object.fromEntries(env), HERMES_HOME: folder },
      credentialFiles: files.map((file) => ({ ...file, path: join(folder, file.relative) })),
    };
  }

  async remove(): Promise<void> {
    if (this.#folder !== undefined) await removeScratch(this.#folder);
  }
}

/** Not in a temporary folder: a run may change those. */
async function privateFolder(): Promise<string> {
  const parent = join(homedir(), ".hermes");
  await mkdir(parent, { recursive: true, mode: 0o700 });
  await sweepScratch(parent);
  return realpath(await scratchFolder(parent));
}

async function place(path: string, contents: Buffer): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  await writeFile(path, contents, { mode: 0o600, flag: "wx" });
  await chmod(path, 0o400);
}
