import { statSync } from "node:fs";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";
import { openStore } from "../../record/store/open.js";
import { stateFolder } from "../../record/store/state-folder.js";
import type { Store } from "../../record/store/store.js";

/** The file behind the caller's store; undefined for a store that is none, or not the same for every folder. */
function fileOfStore({ HERMES_STORE: named = "" }: NodeJS.ProcessEnv): string | undefined {
  const own = () => join(stateFolder(process.env, homedir()), "hermes.db");
  const file = named === "" ? own() : named.replace(/^sqlite:/, "");
  return isAbsolute(file) ? file : undefined;
}

function identity(file: string): string | undefined {
  try {
    const { dev, ino } = statSync(file, { bigint: true });
    return `${dev}:${ino}`;
  } catch {
    return undefined;
  }
}

/**
 * The store of the last caller, kept open: opening and closing take longer than judging. It is used for callers of the same file
 * only, as long as the file stays what it was.
 */
export class OpenStore {
  #store: Store | undefined;
  #file: string | undefined;
  #identity: string | undefined;

  /** The caller's store: that of `process.env`. */
  async use<T>(act: (store: Store) => Promise<T>): Promise<T> {
    const file = fileOfStore(process.env);
    if (file === undefined || file !== this.#file || identity(file) !== this.#identity) await this.close();
    this.#store ??= await openStore();
    if (file !== undefined) {
      this.#file = file;
      this.#identity = identity(file);
    }
    try {
      return await act(this.#store);
    } catch (error) {
      await this.close();
      throw error;
    } finally {
      if (this.#file === undefined) await this.close();
    }
  }

  async close(): Promise<void> {
    const store = this.#store;
    this.#store = this.#file = this.#identity = undefined;
    await store?.close();
  }
}
