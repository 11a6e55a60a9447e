import { Socket } from "node:net";
import { LocalBackend } from "../../agents/tools/local.js";
import { serve } from "../../agents/tools/remote/far-end.js";
import { native } from "../../kernel/binding/native.js";
import { HermesError } from "../../nouns/errors.js";

/** The far end of a link: another HERMES talks to it over stdin and stdout (docs/how-to/backends.md). */
export async function remoteCommand(): Promise<number> {
  // Exits immediately in every case: Node would wait for the supervisor thread, which may wait for the program. The
  // launcher then kills everything that runs.
  process.on("exit", (code) => native().exitNow(code));
  await serve(stream(0), stream(1), new LocalBackend());
  return 0;
}

/** Not process.stdout: its writes block this process while the pipe is full. */
function stream(fd: 0 | 1): Socket {
  try {
    return new Socket({ fd, readable: fd === 0, writable: fd === 1 });
  } catch (cause) {
    throw new HermesError(
      "USAGE",
      { message: "this command is for another HERMES and needs pipes on stdin and stdout" },
      { cause },
    );
  }
}
