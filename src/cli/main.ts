import { Thread } from "../session/thread.js";

/** The entry point. A supervisor thread starts slowly, so it starts while the command line is parsed. */
const [, , command, ...words] = process.argv;
if (command === "hook" && !words.includes("--help") && !words.includes("-h")) {
  // Agents wait for the hook before every tool: nothing else is loaded. A failure to load is a refusal.
  import("./commands/hook.js").then(
    ({ hookCommand }) => hookCommand(words),
    (error: Error) => {
      process.stderr.write(`hermes: ${error.message}\n`);
      process.exit(2);
    },
  );
} else {
  const thread = ["shell", "trace"].includes(command!) ? new Thread() : undefined;
  if (command === "run") import("./run-line.js").then(({ runLine }) => runLine());
  else if (command === "exec") {
    const checking = new Thread({ checks: true });
    import("./exec-line.js").then(({ execLine }) => execLine(checking));
  } else import("./command-line.js").then(({ runCommandLine }) => runCommandLine(thread));
}
