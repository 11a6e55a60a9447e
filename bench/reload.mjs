import { mkdtempSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { start } from "../dist/index.js";
import { printChecks } from "./print.mjs";
import { summarise } from "./stats.mjs";

const MS_AT_MOST = 200;
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
const LANGUAGES = {
  yaml: (v) => `name: p\nrules:\n  - { id: r${v}, deny: mkdir }\n`,
  lua: (v) => `hermes.on("mkdir", function(e) return hermes.deny("v${v}") end)\n`,
  ts: (v) =>
    `import { definePolicy, deny } from "hermes-runtime"; export default definePolicy({ name: "p${v}", actions: ["deny"], on: { mkdir: () => deny() } });`,
};
const SAVES = {
  "by rename": (file, text) => {
    writeFileSync(`${file}~`, text);
    renameSync(`${file}~`, file);
  },
  "in place": (file, text) => writeFileSync(file, text),
};

/** The time from saving a policy until it is active. */
export async function reload({ rounds }) {
  const folder = mkdtempSync(join(tmpdir(), "hermes-bench-"));
  const checks = [];
  for (const [language, text] of Object.entries(LANGUAGES)) {
    const file = join(folder, `p.${language}`);
    writeFileSync(file, text(0));
    let inForce = () => {};
    const session = await start({ command: ["sleep", "1000"], policy: file }, { policies: () => inForce() });
    await pause(1000);
    for (const [how, save] of Object.entries(SAVES)) {
      const samples = [];
      for (let round = 1; round <= rounds; round++) {
        const loaded = new Promise((done) => {
          inForce = done;
        });
        const from = performance.now();
        save(file, text(`${how.length}-${round}`));
        await loaded;
        samples.push(performance.now() - from);
        await pause(130 + Math.random() * 80);
      }
      const { median } = summarise(samples);
      const bound = { unit: "ms", goal: `≤ ${MS_AT_MOST}`, holds: median <= MS_AT_MOST };
      checks.push({ name: `${language}, saved ${how}`, value: median, ...bound, samples });
    }
    session.end();
    await session.result;
  }
  rmSync(folder, { recursive: true, force: true });
  return printChecks("from the save to the policy in force", checks);
}
