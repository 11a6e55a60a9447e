import { Thread } from "../session/thread.js";

/** The entry. To run a program needs a thread that takes long to come up: it does so while the command line is read. */
const thread = ["run", "trace"].includes(process.argv[2]!) ? new Thread() : undefined;
import("./commands.js").then(({ runCommandLine }) => runCommandLine(thread));
