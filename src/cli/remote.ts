import { Socket } from "node:net";
import { HermesError } from "../errors.js";
import { native } from "../kernel/native.js";
import { LocalBackend } from "../tools/local.js";
import { serve } from "../tools/remote/far.js";

/** The far end of a link: another HERMES speaks to it over stdin and stdout (docs/backends.md). */
export async function remoteCommand(): Promise<number> {
  // However this process comes to its end, it is at once: Node would wait for the thread that supervises, which may wait
  // for the program. The launcher then ends whatever runs.
  process.on("exit", (code) => native().exitNow(code));
  await serve(stream(0), stream(1), new LocalBackend());
  return 0;
}

/** Not process.stdout: that one blocks, and with it everything else, while nobody reads. */
function stream(fd: 0 | 1): Socket {
  try {
    return new Socket({ fd, readable: fd === 0, writable: fd === 1 });
  } catch (cause) {
    throw new HermesError("USAGE", { message: "this is for another HERMES, over pipes" }, { cause });
  }
}
