import { redact } from "../../intent/guard/credentials/secrets.js";

type TellProgress = (progress: number, message: string) => Promise<void>;

/** Milliseconds between two notifications. */
const PAUSE_MS = 200;
const MESSAGE_AT_MOST = 2000;
const KEPT_AT_MOST = 64 * 1024;

/**
 * Sends a command's output as it arrives, a few times a second. Only whole lines, because half a secret is not recognised;
 * of long output only the end.
 */
export class Progress {
  readonly #tell: TellProgress;
  #bytes = 0;
  #held = "";
  #timer: NodeJS.Timeout | undefined;

  constructor(tell: TellProgress) {
    this.#tell = tell;
  }

  output(bytes: Buffer): void {
    this.#bytes += bytes.length;
    this.#held = (this.#held + bytes.toString("utf8")).slice(-KEPT_AT_MOST);
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      void this.#send();
    }, PAUSE_MS);
  }

  /** The last notification must come before the result: the client ignores later ones. */
  async end(): Promise<void> {
    clearTimeout(this.#timer);
    await this.#send();
  }

  async #send(): Promise<void> {
    const upTo = wholeLines(this.#held);
    if (upTo === 0) return;
    const text = redact(this.#held.slice(0, upTo)).text.trimEnd();
    this.#held = this.#held.slice(upTo);
    await this.#tell(this.#bytes, text.slice(-MESSAGE_AT_MOST));
  }
}

/** The end of the last whole line that is not inside a multi-line key. */
function wholeLines(text: string): number {
  const end = text.lastIndexOf("\n") + 1;
  const key = text.lastIndexOf("-----BEGIN ");
  return key >= 0 && key < end && !text.slice(key, end).includes("-----END ") ? key : end;
}
