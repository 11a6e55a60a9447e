import { type CommandArguments, hasOption, optionValue, readArguments } from "./arguments.js";
import { programOptions } from "./programs/options.js";
import { byName, type Invocation, type Word } from "./script.js";

/** What a command does to a file. `mode` changes permissions or owner. */
type FileOperation = "read" | "write" | "delete" | "mode" | "run";

export interface FileAccess {
  readonly access: FileOperation;
  readonly path: Word;
  readonly recursive: boolean;
  /** Only files of this name count. */
  readonly filter?: string | undefined;
}

type Files = (args: CommandArguments, program: string) => readonly FileAccess[];

const each = (access: FileOperation, recursive: (args: CommandArguments) => boolean = () => false): Files => {
  return (args) => args.operands.map((path) => ({ access, path, recursive: recursive(args) }));
};
const isRecursive = (args: CommandArguments) => hasOption(args, "-r", "-R", "--recursive", "-a", "--archive");
const one = (access: FileOperation, path: Word | undefined, recursive = false): FileAccess[] =>
  path ? [{ access, path, recursive }] : [];

/** Reads the sources, and writes the last operand (or -t). */
const copies: Files = (args) => {
  const into = optionValue(args, "-t", "--target-directory");
  const sources = into || args.operands.length < 2 ? args.operands : args.operands.slice(0, -1);
  const recursive = isRecursive(args);
  return [
    ...sources.map((path): FileAccess => ({ access: "read", path, recursive })),
    ...one("write", into ?? (args.operands.length > 1 ? args.operands.at(-1) : undefined), recursive),
  ];
};

const moves: Files = (args, program) =>
  copies(args, program).map((file) =>
    file.access === "read" ? { ...file, access: "delete", recursive: false } : file,
  );

const inPlace: Files = (args) => {
  if (!args.options.some(({ name }) => /^(-i|--in-place|-[a-zA-Z]*i[a-z]*)$/.test(name) || /^-i./.test(name)))
    return [];
  const scripted = hasOption(args, "-e", "-f", "--expression", "--file", "-pe", "-ne");
  return args.operands.slice(scripted ? 0 : 1).map((path) => ({ access: "write", path, recursive: false }));
};

const synchronises: Files = (args, program) => {
  const files = copies({ ...args, options: [...args.options] }, program).map((file) => ({
    ...file,
    recursive: true,
  }));
  const deletes =
    args.options.some(({ name }) => /^--(delete|del|remove-source-files)/.test(name)) &&
    !hasOption(args, "-n", "--dry-run", "--list-only");
  const target = args.operands.at(-1);
  if (hasOption(args, "--remove-source-files"))
    return files.map((file) => (file.access === "read" ? { ...file, access: "delete" } : file));
  return deletes && target
    ? [...files, { access: "delete", path: target, recursive: true, filter: "*" }]
    : files;
};

/** `find … -delete` deletes matches below its starting points. */
const finds: Files = (args) => {
  const printed = args.options.flatMap(({ name, value }) =>
    /^-fprint|^-fls$/.test(name) ? one("write", value) : [],
  );
  if (!hasOption(args, "-delete")) return printed;
  const filter = optionValue(args, "-name", "-iname", "-path", "-wholename", "-regex", "-iregex")?.text;
  const roots = args.operands.filter(({ text }) => !/^[-(!,]/.test(text) && text !== ")");
  const all: readonly (Word | undefined)[] = roots.length > 0 ? roots : [undefined];
  return all.map((path) => ({
    access: "delete",
    path: path ?? { text: ".", span: { start: 0, end: 0 }, glob: false, variables: [], from: [] },
    recursive: true,
    filter: filter ?? "*",
  }));
};

const archives: Files = (args) => {
  const bundled = args.operands[0]?.text ?? "";
  const old = /^[a-zA-Z]+$/.test(bundled) && !hasOption(args, "-c", "-x", "-t", "--create", "--extract");
  const creates = hasOption(args, "-c", "--create", "-r", "-u") || (old && /[cru]/.test(bundled));
  const extracts = hasOption(args, "-x", "--extract", "--get") || (old && bundled.includes("x"));
  const members = args.operands
    .slice(old ? 2 : 0)
    .map((path): FileAccess => ({ access: "read", path, recursive: true }));
  const removed = hasOption(args, "--remove-files");
  if (removed && creates) return members.map((file) => ({ ...file, access: "delete" }));
  if (extracts) return one("write", optionValue(args, "-C", "--directory"), true);
  return creates
    ? [...members, ...one("write", optionValue(args, "-f", "--file") ?? (old ? args.operands[1] : undefined))]
    : [];
};

const afterPrefix = (prefix: string, { operands }: CommandArguments): Word | undefined => {
  const word = operands.find(({ text }) => text.startsWith(prefix));
  return word && { ...word, text: word.text.slice(prefix.length) };
};

/** What programs do to their operands. A program without a row reads them. */
const FILES = byName<Files>({
  rm: each("delete", isRecursive),
  rmdir: each("delete"),
  unlink: each("delete"),
  shred: each("delete"),
  srm: each("delete", isRecursive),
  wipe: each("delete", isRecursive),
  trash: () => [],
  rimraf: each("delete", () => true),
  del: each("delete"),
  truncate: each("write"),
  tee: each("write"),
  touch: each("write"),
  mkdir: each("write"),
  mkfifo: each("write"),
  mknod: each("write"),
  sponge: each("write"),
  cp: copies,
  install: copies,
  ln: (args) => one("write", args.operands.length > 1 ? args.operands.at(-1) : undefined),
  link: copies,
  mv: moves,
  rename: () => [],
  rsync: synchronises,
  find: finds,
  sed: inPlace,
  gsed: inPlace,
  perl: inPlace,
  tar: archives,
  bsdtar: archives,
  zip: (args) => [
    ...one("write", args.operands[0]),
    ...args.operands
      .slice(1)
      .map(
        (path): FileAccess => ({ access: hasOption(args, "-m") ? "delete" : "read", path, recursive: true }),
      ),
  ],
  "7z": (args) =>
    args.options.some(({ word }) => word.text === "-sdel")
      ? args.operands.slice(2).map((path) => ({ access: "delete", path, recursive: true }))
      : [],
  cpio: (args) => one("write", optionValue(args, "-D", "--directory"), true),
  unzip: (args) => one("write", optionValue(args, "-d"), true),
  dd: (args) => [...one("read", afterPrefix("if=", args)), ...one("write", afterPrefix("of=", args))],
  curl: (args) => [
    ...one("write", optionValue(args, "-o", "--output")),
    ...one("write", optionValue(args, "--output-dir")),
  ],
  wget: (args) => [
    ...one("write", optionValue(args, "-O", "--output-document")),
    ...one("write", optionValue(args, "-P", "--directory-prefix")),
  ],
  sort: (args) => one("write", optionValue(args, "-o", "--output")),
  openssl: (args) => one("write", optionValue(args, "-out", "-keyout")),
  patch: (args) => one("write", args.operands[0]),
  ed: each("write"),
  ex: each("write"),
  vim: each("write"),
  vi: each("write"),
  nvim: each("write"),
  nano: each("write"),
  emacs: each("write"),
  chmod: (args) =>
    args.operands
      .slice(args.options.some(({ name }) => /^-[rwxst]+$/.test(name)) ? 0 : 1)
      .map((path) => ({ access: "mode", path, recursive: isRecursive(args) })),
  chown: (args) =>
    args.operands.slice(1).map((path) => ({ access: "mode", path, recursive: isRecursive(args) })),
  chgrp: (args) =>
    args.operands.slice(1).map((path) => ({ access: "mode", path, recursive: isRecursive(args) })),
  chattr: (args) =>
    args.operands.slice(1).map((path) => ({ access: "mode", path, recursive: isRecursive(args) })),
  setfacl: (args) =>
    args.operands.slice(-1).map((path) => ({ access: "mode", path, recursive: isRecursive(args) })),
  git: (args) =>
    args.operands[0]?.text === "clone"
      ? one("write", args.operands[2])
      : one("write", optionValue(args, "--output")),
});

export function fileAccesses(invocation: Invocation): readonly FileAccess[] {
  const { program } = invocation;
  const named =
    FILES.get(program)?.(readArguments(invocation.argv.slice(1), programOptions(program)), program) ?? [];
  const redirected = invocation.redirects.flatMap(({ operator, target }): FileAccess[] => [
    ...(operator === "<" || operator === "<>" ? one("read", target) : []),
    ...(operator === "<" ? [] : one("write", target)),
  ]);
  return [...named, ...redirected];
}
