import childProcess from "node:child_process";
import { syncBuiltinESMExports } from "node:module";

/** Runs before every pure test: what only the kernel part may do fails here, and says where the test belongs. */

function refuse(what: string): never {
  throw new Error(
    `a pure test must not ${what}. If it has to, it belongs to the kernel part: begin its file with a line ` +
      `"// kernel test: WHY" (test/support/parts.ts)`,
  );
}

const STARTERS = ["exec", "execFile", "execFileSync", "execSync", "fork", "spawn", "spawnSync"] as const;
for (const name of STARTERS)
  Object.assign(childProcess, { [name]: (file: unknown) => refuse(`start a process (${String(file)})`) });
syncBuiltinESMExports();

const load = process.dlopen.bind(process);
process.dlopen = (module: object, file: string, ...rest: unknown[]) => {
  if (!/[/\\]node_modules[/\\]/.test(file)) refuse(`load a native addon (${file})`);
  return Reflect.apply(load, process, [module, file, ...rest]);
};
