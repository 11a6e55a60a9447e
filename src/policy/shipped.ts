import { existsSync, readdirSync } from "node:fs";
import { extname, join, parse } from "node:path";
import { HOME } from "../home.js";

const FOLDER = join(HOME, "policies");
const LANGUAGES = [".yaml", ".lua", ".ts"];

/** The file of a policy that comes with HERMES, by its name alone: `agent`. */
export function shippedPolicy(name: string): string | undefined {
  if (!isName(name)) return undefined;
  return LANGUAGES.map((extension) => join(FOLDER, `${name}${extension}`)).find((file) => existsSync(file));
}

export function shippedPolicies(): string[] {
  return readdirSync(FOLDER).map((file) => parse(file).name);
}

/** Neither a path nor a file's name. */
export function isName(word: string): boolean {
  return word !== "" && !word.includes("/") && extname(word) === "";
}
