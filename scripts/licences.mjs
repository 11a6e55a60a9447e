// The licences of the bundled packages, which must be shipped with the bundles.
import { readdirSync, readFileSync } from "node:fs";

const ALLOWED = /^(MIT|ISC|BSD-[23]-Clause|Apache-2\.0|0BSD|BlueOak-1\.0\.0)$/;

/** One text for all packages. Throws for a package whose licence must not be shipped. */
export function licencesOf(packages) {
  const parts = packages.map((name) => {
    const folder = `node_modules/${name}`;
    const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    if (!ALLOWED.test(license)) throw new Error(`${name} has the licence ${license}`);
    const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
    const text = file ? readFileSync(`${folder}/${file}`, "utf8").trim() : `Licence: ${license}`;
    return `## ${name} ${version} (${license})\n\n${text}\n`;
  });
  return `# Licences of the packages inside HERMES\n\n${parts.join("\n")}`;
}
