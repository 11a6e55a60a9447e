// A process with a toolbox: node host.mjs WORKSPACE HOME STORE COMMAND. It tells what came of the call, or that it is parked.
import { Toolbox } from "hermes-runtime/tools";

const [workspace, home, store, command] = process.argv.slice(2);
const toolbox = await Toolbox.open({
  workspace,
  home,
  store,
  env: { PATH: process.env.PATH, HOME: home, HERMES_HOME: home },
});
const result = await toolbox.call("terminal_exec", { command, timeout: 120 }, { wait: false });
process.stdout.write(`${JSON.stringify(result)}\n`);
setInterval(() => {}, 1000);
