// libsql asks Node for a report of the whole process to learn which libc there is: five milliseconds. It then prefers
// what detect-libc says, which reads one small file. So ask detect-libc first: the answer is the same.
const TARGET = `
  const { familySync, GLIBC } = require("detect-libc");
  exports.load = (folder) => require("neon-load-itself").load(folder);
  exports.currentTarget = () =>
    process.platform === "linux" && ["x64", "arm64"].includes(process.arch) && familySync() === GLIBC
      ? "linux-" + process.arch + "-gnu"
      : require("neon-load-itself").currentTarget();
`;

/** For esbuild, where libsql is bundled. */
export const libsql = {
  name: "libsql",
  setup(build) {
    build.onResolve({ filter: /^@neon-rs\/load$/ }, ({ namespace }) =>
      namespace === "file" ? { path: "load", namespace: "libsql" } : undefined,
    );
    build.onResolve({ filter: /^neon-load-itself$/, namespace: "libsql" }, () =>
      build.resolve("@neon-rs/load", { kind: "require-call", resolveDir: ".", namespace: "libsql" }),
    );
    build.onLoad({ filter: /./, namespace: "libsql" }, () => ({
      contents: TARGET,
      resolveDir: ".",
    }));
  },
};
