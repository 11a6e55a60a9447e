import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "./support/programs.js";

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
  ["address", "compiled", "errors", "home", "later-code", "structs", "text", "version"].map(
    (name) => `src/${name}.ts`,
  ),
  ["src/abi/", "src/elf/", "src/code/"],
  ["src/event.ts", "src/inside.ts", "src/verdict.ts", "src/protection.ts", "src/yaml/", "src/prototypes/"],
  ["src/policy/", "src/kernel/", "src/guard/"],
  ["src/process/", "src/fence/", "src/inspect/"],
  ["src/store/"],
  ["src/audit/"],
  ["src/decode/", "src/approval/", "src/deed/"],
  ["src/doors/", "src/trace/", "src/summary.ts"],
  ["src/instrument/", "src/ring/"],
  ["src/coverage/"],
  ["src/mediate.ts"],
  ["src/session/", "src/simulate/"],
  ["src/analyze/"],
  ["src/learn/", "src/query/", "src/export/"],
  ["src/diff/"],
  ["src/run.ts", "src/attach.ts", "src/doctor.ts"],
  ["src/tools/"],
  ["src/hooks/"],
  ["src/fleet/"],
  ["src/mcp/", "src/console/"],
  ["src/index.ts", "src/cli/"],
];

/** Files that are to be split, and may not grow until then. */
const LONGER: Readonly<Record<string, number>> = {
  "src/decode/call.ts": 525,
  "src/guard/command/reader.ts": 520,
};

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
    const folder = (file: string) => file.split("/").slice(0, 2).join("/");
    const sideways = imports.filter(
      ([from, to]) =>
        layerOf(to) === layerOf(from) &&
        folder(from) !== folder(to) &&
        to.split("/").length > 2 &&
        from.split("/").length > 2,
    );
    expect(sideways.map((pair) => pair.join(" -> "))).toEqual([]);
  });

  it("decides without I/O: policies and the guard load nothing native and nothing of the session", () => {
    const below = ["src/kernel/", "src/process/", "src/decode/", "src/doors/", "src/session/"];
    expect(
      imports.filter(
        ([from, to]) => /^src\/(policy|guard)\//.test(from) && below.some((part) => to.startsWith(part)),
      ),
    ).toEqual([]);
  });

  it("has no file so long that its shape is lost", () => {
    const code = files.filter((f) => /^(src|native)\/.*\.(ts|c|h)$/.test(f) && !f.endsWith(".generated.ts"));
    const long = code
      .map((file) => [file, read(file).split("\n").length] as const)
      .filter(([file, lines]) => lines > (LONGER[file] ?? 460));
    expect(long).toEqual([]);
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
  const named = (folder: string) => {
    const block = new RegExp(`^${folder}/.*\\n((?:  .*\\n)*)`, "m").exec(tree)![1]!;
    return block
      .split("\n")
      .flatMap((line) => line.slice(2).split(/ {2,}/)[0]!.split(" "))
      .filter(Boolean)
      .sort();
  };

  it("draws every folder of src/ and no other", () => {
    const folders = [
      ...new Set(sources.filter((f) => f.split("/").length > 2).map((f) => `${f.split("/")[1]}/`)),
    ];
    expect(named("src").filter((name) => name.endsWith("/"))).toEqual(folders.sort());
  });

  it("names every file of native/ and no other", () => {
    const native = files.filter((f) => f.startsWith("native/")).map((f) => f.slice(7));
    expect(named("native")).toEqual(native.sort());
  });
});
