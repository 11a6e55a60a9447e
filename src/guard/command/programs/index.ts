import { PatternTable } from "../pattern.js";
import { DEVELOPMENT } from "./development.js";
import { MACHINE } from "./machine.js";
import { NETWORK } from "./network.js";
import { programOptions } from "./options.js";
import { SERVICES } from "./services.js";

/** What programs do, by their own command lines. */
export const PROGRAMS = new PatternTable(
  [...MACHINE, ...DEVELOPMENT, ...SERVICES, ...NETWORK],
  programOptions,
);
