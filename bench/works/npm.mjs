import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../tools.mjs";

const OWN = ["commander", "yaml", "ipaddr.js", "unbash", "zod", "typescript"];
const MORE = { express: "5.1.0", eslint: "9.39.1" };

export const npm = {
  name: "npm",
  about: "npm ci --offline of some 140 packages from a local cache",
  needs: ["npm"],
  /** The only one that needs the network, once: the cache is filled, in the home that it is used in. */
  prepare({ workspace, home }) {
    const { npm_config_cache: _, npm_config_userconfig: __, ...env } = process.env; // of the `npm run` that runs us
    const { devDependencies, dependencies } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
    const versions = { ...devDependencies, ...dependencies };
    const wanted = Object.fromEntries(OWN.map((name) => [name, versions[name]]));
    const content = { name: "work", dependencies: { ...wanted, ...MORE } };
    writeFileSync(join(workspace, "package.json"), JSON.stringify(content));
    execFileSync("npm", ["install", "--ignore-scripts", "--no-audit", "--no-fund"], {
      cwd: workspace,
      env: { ...env, HOME: home },
      stdio: "ignore",
    });
  },
  reset: ({ workspace }) => rmSync(join(workspace, "node_modules"), { recursive: true, force: true }),
  argv: () => ["npm", "ci", "--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
};
