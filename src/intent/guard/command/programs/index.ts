import { CommandPatternTable } from "../pattern.js";
import { DEVELOPMENT } from "./development.js";
import { MACHINE } from "./machine.js";
import { NETWORK } from "./network.js";
import { programOptions } from "./options.js";
import { SERVICES } from "./services.js";

/** Tables of what programs do, by their command lines. */
export const PROGRAMS = new CommandPatternTable(
  [...MACHINE, ...DEVELOPMENT, ...SERVICES, ...NETWORK],
  programOptions,
);
