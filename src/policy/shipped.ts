import { existsSync, readdirSync } from "node:fs";
import { extname, join, parse } from "node:path";
import { HOME } from "../nouns/home.js";

const FOLDER = join(HOME, "policies");
const LANGUAGES = [".yaml", ".lua", ".ts"];

/** The file of a policy that HERMES ships, by its name alone: `agent`. */
export function shippedPolicy(name: string): string | undefined {
  if (!isPolicyName(name)) return undefined;
  return LANGUAGES.map((extension) => join(FOLDER, `${name}${extension}`)).find((file) => existsSync(file));
}

export function shippedPolicies(): string[] {
  return readdirSync(FOLDER).map((file) => parse(file).name);
}

/** True for a bare name: neither a path nor a file name. */
export function isPolicyName(word: string): boolean {
  return word !== "" && !word.includes("/") && extname(word) === "";
}
