import * as allowance from "../../../nouns/allowance.js";
import type { Context } from "../layer.js";

/** Whether hermes.yaml allows an access to a path, which is absolute and has no `..`. */
export function allowsPath({ allowed }: Pick<Context, "allowed">, access: "read" | "write", path: string) {
  return allowed.some((one) => allowance.allowsPath(one, access, path));
}
