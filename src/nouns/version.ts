import { readFileSync } from "node:fs";
import { HOME } from "./home.js";

const manifest = JSON.parse(readFileSync(`${HOME}package.json`, "utf8")) as { version: string };

export const PACKAGE_VERSION = manifest.version;
