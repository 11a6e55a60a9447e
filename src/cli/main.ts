import { Thread } from "../session/thread.js";

/** The entry. To supervise in a thread of its own takes one that comes up slowly: it does so while the command line is read. */
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
  const thread = ["shell", "trace"].includes(command!) ? new Thread() : undefined;
  if (command === "run") import("./run-line.js").then(({ runLine }) => runLine());
  else import("./commands.js").then(({ runCommandLine }) => runCommandLine(thread));
}
