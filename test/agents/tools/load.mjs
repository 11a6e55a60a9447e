// A busy agent: node load.mjs WORKSPACE HOME STORE NAME. Tells every call that has ended, and every question that was asked.
import { Toolbox } from "hermes-runtime/tools";

const [workspace, home, store, name] = process.argv.slice(2);
const tell = (what) => process.stdout.write(`${JSON.stringify(what)}\n`);
const approver = {
  name: "test",
  ask(item, answer) {
    tell({ asked: item.id });
    void answer({ answer: "once", by: "test" }).catch(() => {});
  },
  withdraw() {},
};
const toolbox = await Toolbox.open({
  workspace,
  home,
  store,
  env: { PATH: "/usr/local/bin:/usr/bin:/bin", HOME: home, HERMES_HOME: home },
  approvers: [approver],
});
const call = async (tool, input, file) => {
  const { id, status } = await toolbox.call(tool, input);
  tell({ call: id, status, file });
};

await Promise.all([
  call("terminal_exec", { command: `sleep 1000.${process.pid} & sleep 1000`, background: true }),
  ...Array.from({ length: 3 }, async (_, lane) => {
    for (let i = 0; ; i++) {
      const file = `${name}-${lane}-${i}`;
      const command = `git reset --hard; echo ran >> ${file}.log; rm -f .git/index.lock`;
      await call("terminal_exec", { command }, `${file}.log`);
      await call("write_file", { path: `${file}.txt`, content: "x".repeat(50_000) });
      if (lane === 0) await call("python_rpc", { code: `open("f", "w").write("${file}")` });
    }
  }),
]);
