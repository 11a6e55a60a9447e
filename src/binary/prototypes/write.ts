import type { CType, Failure, Prototype } from "./types.js";

/** A function in the text that prototypes are written in. */
export function declarationOf({
  name,
  result,
  parameters,
  isVariadic,
}: Omit<Prototype, "declaration">): string {
  const list = [...parameters.map((each) => declared(each.type, each.name)), ...(isVariadic ? ["..."] : [])];
  return declared(result.type, `${name}(${list.length > 0 ? list.join(", ") : "void"})`);
}

/** A prototype as a line of a file: with what it says of failures. */
export function declarationText({ declaration, fails, returns }: Prototype): string {
  const plain = declaration
    .replace(/ ([(),[\]])/g, "$1")
    .replace(/([([]) /g, "$1")
    .replace(/\* /g, "*");
  const words = [...(fails ? [`fails ${failureText(fails)}`] : []), ...(returns ? [] : ["noreturn"])];
  return `${[plain, ...words].join(" ")};`;
}

function failureText({ when, value, errno }: Failure): string {
  if (when === "errno") return "errno";
  return `${when === "equal" ? "" : `${when} `}${value}${errno ? " errno" : ""}`;
}

/** `const char *name`, `int (*name)()`. */
export function declared(type: CType, name: string): string {
  switch (type.kind) {
    case "pointer": {
      if (type.to.kind === "function") return `void (*${name})()`;
      const constant = type.constant && type.to.kind !== "pointer" ? "const " : "";
      return `${constant}${declared(type.to, `*${type.constant && type.to.kind === "pointer" ? "const " : ""}${name}`)}`;
    }
    case "array":
      return declared(type.of, `${name}[${type.length}]`);
    case "function":
      return `void ${name}()`;
    default:
      return `${baseName(type)} ${name}`;
  }
}

function baseName(type: Exclude<CType, { kind: "pointer" | "array" | "function" }>): string {
  switch (type.kind) {
    case "void":
      return "void";
    case "float":
      return { 4: "float", 8: "double", 16: "long double" }[type.size];
    case "struct":
      return `${type.isUnion ? "union" : "struct"} ${type.name || "unnamed"}`;
    default:
      if (type.reads === "char") return "char";
      if (type.reads === "bool") return "bool";
      if (type.reads === "wide") return "wchar_t";
      if (type.reads === "octal") return "mode_t";
      return `${type.signed ? "int" : "uint"}${type.size * 8}_t`;
  }
}
