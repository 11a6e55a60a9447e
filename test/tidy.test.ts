import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { unusedExports } from "../scripts/unused-exports.mjs";
import { root } from "./support/root.js";

const files = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], {
  cwd: root,
  encoding: "utf8",
})
  .split("\n")
  .filter(Boolean);
const sources = files.filter((f) => f.startsWith("src/") && f.endsWith(".ts"));
const read = (file: string) => readFileSync(join(root, file), "utf8");

/** From the nouns up. A file may import from its own layer's folder and from layers before it. */
const LAYERS = [
  ["src/abi/", "src/binary/code/", "src/kernel/filter/"],
  ["src/nouns/"],
  ["src/binary/elf/", "src/kernel/binding/", "src/record/store/"],
  ["src/binary/prototypes/", "src/policy/", "src/intent/guard/"],
  ["src/kernel/view/"],
  ["src/binary/inspect/", "src/kernel/fence/", "src/kernel/process/", "src/record/audit/"],
  ["src/kernel/decode/", "src/people/approval/", "src/intent/runtime-check/"],
  ["src/kernel/doors/", "src/record/trace/", "src/session/ring/"],
  ["src/session/instrument/", "src/offline/simulate/"],
  ["src/session/coverage/", "src/offline/analyze/"],
  ["src/session/"],
  ["src/offline/learn/", "src/offline/query/", "src/offline/export/"],
  ["src/offline/diff/"],
  ["src/agents/tools/"],
  ["src/agents/hooks/"],
  ["src/fleet/"],
  ["src/agents/mcp/", "src/people/console/"],
  ["src/index.ts", "src/cli/"],
];

const layerOf = (file: string) => LAYERS.findIndex((layer) => layer.some((part) => file.startsWith(part)));

/** [importer, imported] for every relative import in src/. */
const imports = sources.flatMap((file) =>
  [...read(file).matchAll(/(?:from|import)\s*\(?"(\.[^"]+)"/g)].map((m): [string, string] => [
    file,
    normalize(join(dirname(file), m[1]!)).replace(/\.js$/, ".ts"),
  ]),
);

describe("the source", () => {
  it("imports one way: from the front ends down to the nouns", () => {
    const upward = imports.filter(([from, to]) => layerOf(to) > layerOf(from));
    expect(upward.map((pair) => pair.join(" -> "))).toEqual([]);
    expect(sources.filter((file) => layerOf(file) < 0)).toEqual([]);
  });

  it("keeps folders of one layer apart", () => {
    const folder = (file: string) => LAYERS[layerOf(file)]?.find((part) => file.startsWith(part));
    const sideways = imports.filter(
      ([from, to]) => layerOf(to) === layerOf(from) && folder(from) !== folder(to) && from !== "src/index.ts",
    );
    expect(sideways.map((pair) => pair.join(" -> "))).toEqual([]);
  });

  it("decides without I/O: policies and the guard load nothing native and nothing of the session", () => {
    const below = ["src/kernel/", "src/session/"];
    expect(
      imports.filter(
        ([from, to]) =>
          /^src\/(policy|intent\/guard)\//.test(from) && below.some((part) => to.startsWith(part)),
      ),
    ).toEqual([]);
  });

  it("has no file so long that its shape is lost", () => {
    const code = files.filter((f) => /^(src|native)\/.*\.(ts|c|h)$/.test(f) && !f.endsWith(".generated.ts"));
    const long = code
      .map((file) => [file, read(file).split("\n").length] as const)
      .filter(([, lines]) => lines > 460);
    expect(long).toEqual([]);
  });

  it("has no exported name that nothing uses (scripts/unused-exports.mjs --fix)", () => {
    expect(unusedExports(root).map(({ file, name }) => `${file}: ${name}`)).toEqual([]);
  });

  it("has no leftovers", () => {
    const own = files.filter(
      (f) =>
        /^(src|native|test|scripts|demo|bench|policies|examples)\/.*\.(ts|mjs|c|h)$/.test(f) &&
        f !== "test/tidy.test.ts",
    );
    expect(
      own.filter((f) => /\b(TODO|FIXME|XXX|HACK)\b|\b(it|test|describe)\.(only|skip|todo)\b/.test(read(f))),
    ).toEqual([]);
  });
});

describe("ARCHITECTURE.md", () => {
  const text = read("ARCHITECTURE.md");
  const tree = /## The parts[\s\S]*?```text\n([\s\S]*?)```/.exec(text)![1]!;
  /** The names below a folder of the tree. Those of a line that is indented further belong to the folder above it. */
  const named = (folder: string) => {
    const block = new RegExp(`^${folder}/.*\\n((?:  .*\\n)*)`, "m").exec(tree)![1]!;
    let inside = "";
    return block
      .split("\n")
      .flatMap((line) => {
        const indent = /^ */.exec(line)![0].length;
        if (indent > 4) return []; // the rest of a description
        const names = line.trim().split(/ {2,}/)[0]!.split(" ").filter(Boolean);
        if (indent === 4) return names.map((name) => inside + name);
        inside = names[0] ?? "";
        return names;
      })
      .sort();
  };

  it("draws every plane of src/ with its folders, and no other", () => {
    const folders = sources.flatMap((file) => {
      const [plane, part, ...rest] = file.split("/").slice(1);
      return part === undefined ? [] : rest.length === 0 ? [`${plane}/`] : [`${plane}/`, `${plane}/${part}/`];
    });
    expect(named("src")).toEqual([...new Set(folders)].sort());
  });

  it("names every file of native/ and no other", () => {
    const native = files.filter((f) => f.startsWith("native/")).map((f) => f.slice(7));
    expect(named("native").filter((name) => !name.endsWith("/"))).toEqual(native.sort());
  });
});
