import { execFileSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../tools.mjs";

const OWN = ["commander", "yaml", "ipaddr.js", "unbash", "zod", "typescript"];
const MORE = { express: "5.1.0", eslint: "9.39.1" };

const QUIET = ["--ignore-scripts", "--no-audit", "--no-fund"];
/** In the workspace: behind a strict fence, the home is read-only. */
const cacheIn = ({ workspace }) => join(workspace, "npm-cache");

export const npm = {
  name: "npm",
  about: "npm ci --offline of some 140 packages from a local cache",
  needs: ["npm"],
  /** The only workload that needs the network, once: it fills the cache. */
  prepare(place) {
    const { workspace, home } = place;
    // Variables that `npm run` sets for the bench would select another cache and another lock file format.
    const env = Object.entries(process.env).filter(([name]) => !name.toLowerCase().startsWith("npm_"));
    const { devDependencies, dependencies } = JSON.parse(readFileSync(`${root}package.json`, "utf8"));
    const versions = { ...devDependencies, ...dependencies };
    const wanted = Object.fromEntries(OWN.map((name) => [name, versions[name]]));
    const content = { name: "work", dependencies: { ...wanted, ...MORE } };
    writeFileSync(join(workspace, "package.json"), JSON.stringify(content));
    execFileSync("npm", ["install", ...QUIET, "--cache", cacheIn(place)], {
      cwd: workspace,
      env: { ...Object.fromEntries(env), HOME: home },
      stdio: "ignore",
    });
  },
  reset: ({ workspace }) => rmSync(join(workspace, "node_modules"), { recursive: true, force: true }),
  argv: (place) => ["npm", "ci", "--offline", ...QUIET, "--loglevel=error", "--cache", cacheIn(place)],
};
