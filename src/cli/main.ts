import { Thread } from "../session/thread.js";

/** The entry. `hermes run` needs a thread that takes long to come up: it does so while the command line is read. */
const thread = process.argv[2] === "run" ? new Thread() : undefined;
import("./commands.js").then(({ runCommandLine }) => runCommandLine(thread));
