// libsql asks Node for a report of the whole process to learn which libc there is: five milliseconds. It then prefers
// what detect-libc says, which reads one small file. So ask detect-libc first: the answer is the same.
import { readFileSync } from "node:fs";

const TARGET = `
  const { familySync, GLIBC } = require("detect-libc");
  exports.load = (folder) => require("neon-load-itself").load(folder);
  exports.currentTarget = () =>
    process.platform === "linux" && ["x64", "arm64"].includes(process.arch) && familySync() === GLIBC
      ? "linux-" + process.arch + "-gnu"
      : require("neon-load-itself").currentTarget();
`;

/** The native part is a package that libsql depends on: npm puts it where we find it too, other package managers do not. */
const NATIVE = `
  function nativePart(name) {
    try {
      return require(name);
    } catch (error) {
      if (error.code !== "MODULE_NOT_FOUND") throw error;
      const { createRequire } = require("node:module");
      return createRequire(createRequire(__filename).resolve("libsql"))(name);
    }
  }
`;
const WANTED = /\brequire(?=\(`@libsql\/)/;

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
    build.onLoad({ filter: /\/node_modules\/libsql\/index\.js$/ }, ({ path }) => {
      const text = readFileSync(path, "utf8");
      if (!WANTED.test(text)) throw new Error(`${path} loads its native part in another way than before`);
      return { contents: text.replace(WANTED, "nativePart") + NATIVE };
    });
    build.onLoad({ filter: /./, namespace: "libsql" }, () => ({
      contents: TARGET,
      resolveDir: ".",
    }));
  },
};
