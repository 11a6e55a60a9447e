import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, isAbsolute, join, normalize } from "node:path";
import { HermesError } from "../../errors.js";
import type { RunOrder } from "../backend.js";
import { PrivateFolder } from "./private-folder.js";

/**
 * Credential files that came over the link. They lie in a folder of their own as they would in HERMES_HOME, which is what
 * the run is told that folder is.
 */
export class ReceivedCredentials {
  #folder: PrivateFolder | undefined;
  readonly #paths = new Map<string, string>();

  receive(relative: string, contents: Buffer): void {
    if (isAbsolute(relative) || normalize(relative).startsWith(".."))
      throw new HermesError("CREDENTIAL_FILE", { path: relative, why: "it leads out of its folder" });
    this.#folder ??= new PrivateFolder("credentials");
    const path = join(this.#folder.path, relative);
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    writeFileSync(path, contents, { mode: 0o400, flag: "wx" });
    chmodSync(path, 0o400);
    this.#paths.set(relative, path);
  }

  /** The same order where the files are found here. */
  placed(order: RunOrder): RunOrder {
    if (!this.#folder) return order;
    const files = (order.credentialFiles ?? []).map((file) => ({
      ...file,
      path: this.#paths.get(file.relative) ?? file.path,
      was: file.path,
    }));
    const env = Object.entries(order.env).map(([name, value]) => [
      name,
      files.find(({ was }) => was === value)?.path ?? value,
    ]);
    return {
      ...order,
      env: { ...Object.fromEntries(env), HERMES_HOME: this.#folder.path },
      credentialFiles: files.map(({ was: _, ...file }) => file),
    };
  }

  remove(): void {
    this.#folder?.remove();
  }
}
