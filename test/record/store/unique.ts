import { randomUUID } from "node:crypto";

/** A name that nothing else has. */
export const unique = () => randomUUID().slice(0, 8);
