import { Thread } from "../session/thread.js";

/** The entry. To run a program needs a thread that takes long to come up: it does so while the command line is read. */
const [, , command, ...words] = process.argv;
if (command === "hook" && !words.includes("--help") && !words.includes("-h")) {
  // An agent waits for it before every tool: nothing else is loaded. If it cannot be, that is a no.
  import("./hook.js").then(
    ({ hookCommand }) => hookCommand(words),
    (error: Error) => {
      process.stderr.write(`hermes: ${error.message}\n`);
      process.exit(2);
    },
  );
} else {
  const thread = ["run", "shell", "trace"].includes(command!) ? new Thread() : undefined;
  import("./commands.js").then(({ runCommandLine }) => runCommandLine(thread));
}
