import { type CType, isCharPointer, isWideCharPointer } from "./types.js";

/** What is read of an argument when nothing is said: what it cannot be used to change. */
export function inOf(type: CType): "in" | "none" {
  if (type.kind !== "pointer" || !type.constant) return "none";
  const { to } = type;
  return isCharPointer(type) || isWideCharPointer(type) || to.kind === "pointer" || isReadable(to)
    ? "in"
    : "none";
}

/** What is read of a result when nothing is said. */
export function outOf(type: CType): "out" | "none" {
  if (type.kind !== "pointer") return "none";
  return isCharPointer(type) || isWideCharPointer(type) || type.to.kind === "struct" ? "out" : "none";
}

/** One of these behind a const pointer is a value; single bytes are rather the first of many. */
function isReadable(type: CType): boolean {
  if (type.kind === "struct") return type.fields !== undefined;
  return (type.kind === "int" && type.size > 1) || type.kind === "float";
}
