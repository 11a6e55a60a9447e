import type { Arguments } from "./calls.js";
import type { Evaluator } from "./evaluate.js";
import { accessOf, goesThrough, touches } from "./files.js";
import { isForeign, isFromFile } from "./origin.js";
import { command, shellOf } from "./subprocess.js";
import type { Node } from "./tree.js";
import { options, textOf, UNKNOWN, type Value } from "./value.js";

/** Functions that are judged by what they are called with. */
export interface KnownCall {
  readonly names: ReadonlySet<string>;
  check(machine: Evaluator, path: string, args: Arguments, node: Node): void;
}

const names = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

export const KNOWN_CALLS: readonly KnownCall[] = [
  {
    names: names(
      "builtins.open builtins.file io.open io.FileIO codecs.open gzip.open bz2.open lzma.open aiofiles.open tarfile.open zipfile.ZipFile io.open_code tokenize.open",
    ),
    check: ({ report }, _, { positional, keywords }, node) =>
      touches(
        report,
        keywords.get("file") ?? positional[0] ?? UNKNOWN,
        accessOf(keywords.get("mode") ?? positional[1]),
        node,
      ),
  },
  {
    names: names("os.open"),
    check: ({ report }, _, { positional }, node) => {
      const flags = options(positional[1] ?? UNKNOWN);
      const reads = flags.some((flag) => flag.t === "ref" && flag.path === "os.O_RDONLY");
      touches(report, positional[0] ?? UNKNOWN, reads ? "read" : "write", node);
    },
  },
  {
    names: names(
      "os.listdir os.scandir os.readlink os.stat linecache.getline linecache.getlines fileinput.input numpy.load numpy.loadtxt numpy.fromfile numpy.genfromtxt pandas.read_csv pandas.read_json pandas.read_pickle pandas.read_table pandas.read_excel pandas.read_fwf configparser.ConfigParser.read json.load yaml.safe_load toml.load sqlite3.connect",
    ),
    check: ({ report }, _, { positional: [path = UNKNOWN] }, node) => {
      const name = textOf(path);
      if (name !== undefined && /^https?:/i.test(name)) report.relay({ kind: "url", input: name }, node);
      else touches(report, path, "read", node);
    },
  },
  {
    names: names("shutil.make_archive"),
    check: ({ report }, _, { positional, keywords }, node) => {
      touches(report, positional[0] ?? UNKNOWN, "write", node);
      touches(report, positional[2] ?? keywords.get("root_dir") ?? UNKNOWN, "read", node);
    },
  },
  {
    names: names("os.walk os.fwalk"),
    check: ({ report }, _, { positional: [path = UNKNOWN] }, node) => goesThrough(report, path, node),
  },
  {
    names: names(
      "os.mkdir os.makedirs os.chmod os.chown os.lchmod os.utime os.symlink os.link os.mkfifo shutil.chown os.setxattr",
    ),
    check: checkChange,
  },
  {
    names: names(
      "os.rename os.renames os.replace shutil.move shutil.copy shutil.copy2 shutil.copyfile shutil.copytree shutil.copyfileobj shutil.unpack_archive",
    ),
    check: ({ report }, path, { positional: [from = UNKNOWN, to = UNKNOWN] }, node) => {
      touches(report, from, /copy|unpack/.test(path) ? "read" : "write", node);
      touches(report, to, "write", node);
    },
  },
  {
    names: names(
      "os.remove os.unlink os.rmdir os.removedirs shutil.rmtree os.truncate pathlib.Path.unlink pathlib.Path.rmdir",
    ),
    check: checkDelete,
  },
  {
    names: names(
      "subprocess.run subprocess.call subprocess.check_call subprocess.check_output subprocess.Popen asyncio.create_subprocess_exec asyncio.subprocess.create_subprocess_exec trio.run_process anyio.run_process",
    ),
    check: checkSubprocess,
  },
  {
    names: names(
      "builtins.eval builtins.exec builtins.compile timeit.timeit timeit.repeat timeit.Timer cProfile.run cProfile.runctx profile.run profile.runctx pdb.run pdb.runeval pdb.runctx bdb.Bdb.run doctest.run_docstring_examples code.compile_command codeop.compile_command",
    ),
    check: (machine, path, { positional: [source], keywords }, node) => {
      for (const option of options(source ?? keywords.get("source") ?? keywords.get("stmt") ?? UNKNOWN)) {
        const inner = textOf(option);
        if (inner !== undefined) machine.script(inner, node);
        else if (path === "builtins.compile")
          machine.report.add("ask", "python-exec", "It compiles text that cannot be known.", node);
      }
    },
  },
  {
    names: names(
      "pickle.loads pickle.load _pickle.loads _pickle.load cPickle.loads cPickle.load dill.loads dill.load cloudpickle.loads cloudpickle.load jsonpickle.decode jsonpickle.loads jsonpickle.unpickler.decode",
    ),
    check: (machine, _, { positional: [data = UNKNOWN] }, node) => judgeUnpickled(machine, data, node),
  },
  {
    names: names(
      "torch.load joblib.load numpy.load pandas.read_pickle shelve.open sklearn.externals.joblib.load",
    ),
    check: ({ report }, path, { positional: [data = UNKNOWN] }, node) => {
      if (some(data, isUrl) || (isForeign(data) && textOf(data) === undefined))
        report.add("deny", "python-unpickle", `${path} brings to life what came over the network.`, node);
    },
  },
  {
    names: names("yaml.load yaml.unsafe_load yaml.full_load yaml.load_all yaml.unsafe_load_all"),
    check: ({ report }, path, { positional: [data = UNKNOWN, loader], keywords }, node) => {
      const loaders = [loader, keywords.get("Loader")];
      const named = (pattern: RegExp) =>
        loaders.some((value) => value?.t === "ref" && pattern.test(value.path));
      if (
        /unsafe/.test(path) ||
        named(/Unsafe|\.Loader$|\.CLoader$/) ||
        (!named(/Safe|Base/) && textOf(data)?.includes("!!python"))
      )
        report.add("deny", "python-unpickle", UNPICKLED, node);
    },
  },
  {
    names: names("types.FunctionType types.LambdaType types.CodeType"),
    check: ({ report }, path, _, node) =>
      report.add("deny", "python-exec", `${path} makes a function of code that nobody has read.`, node),
  },
  {
    names: names("os.kill os.killpg signal.pthread_kill"),
    check: ({ report }, path, { positional: [, signal = UNKNOWN] }, node) => {
      if (signal.t === "number" && signal.v === 0) return;
      const force = options(signal).some((s) => s.t === "number" && s.v === 9);
      report.add(
        force ? "deny" : "ask",
        "python-kill",
        `${path} ends another program${force ? " by force" : ""}.`,
        node,
      );
    },
  },
];

const UNPICKLED = "It brings an object to life, with whatever code it carries.";
const isUrl = (value: Value): boolean => /^\w{2,8}:\/\//.test(textOf(value) ?? "");
const some = (value: Value, test: (option: Value) => boolean): boolean => options(value).some(test);

/** Scripts keep models and caches in files of their own. What comes from elsewhere may do anything. */
export function judgeUnpickled({ report }: Evaluator, data: Value, node: Node): void {
  if (isForeign(data)) report.add("deny", "python-unpickle", UNPICKLED, node);
  else if (!isFromFile(data))
    report.add("ask", "python-unpickle", `${UNPICKLED} Where it is from cannot be known.`, node);
}

function checkChange(
  { report }: Evaluator,
  path: string,
  { positional: [file = UNKNOWN, what = UNKNOWN] }: Arguments,
  node: Node,
): void {
  touches(report, path === "os.symlink" || path === "os.link" ? what : file, "write", node);
  if (path === "os.symlink" || path === "os.link") touches(report, file, "read", node);
  if (path === "os.chmod" && what.t === "number" && ((what.v & 0o6000) !== 0 || (what.v & 0o002) !== 0))
    report.add(
      "ask",
      "python-permissions",
      "It lets everybody write to a file, or run it as its owner.",
      node,
    );
  if (path === "os.chown" || path === "shutil.chown")
    report.add("ask", "python-permissions", "It gives a file to somebody else.", node);
}

/** A file that the script made itself, as a temporary one, is its own to delete. */
function checkDelete(
  { report }: Evaluator,
  path: string,
  { positional: [target = UNKNOWN], keywords }: Arguments,
  node: Node,
): void {
  const own = options(keywords.get("path") ?? target).every(isTemporary);
  if (own) report.add("ask", "python-delete", `${path} deletes what this script made as temporary.`, node);
  else
    report.add(
      "deny",
      "python-delete",
      `${path} deletes files.`,
      node,
      "Delete through the runtime's own tools, which ask.",
    );
  touches(report, target, "delete", node);
}

function isTemporary(value: Value): boolean {
  return (
    value.t === "temporary" ||
    (value.t === "member" && isTemporary(value.of)) ||
    (value.t === "result" && value.args.some(isTemporary))
  );
}

/** A shell or an interpreter without a script. */
const READS_COMMANDS =
  /^(?:[\w./-]*\/)?(?:(?:ba|z|da|k|c|tc|fi|a)?sh|python[\d.]*|perl|ruby|node|php|lua)(?: -[is]+)*$/;

function checkSubprocess({ report }: Evaluator, path: string, args: Arguments, node: Node): void {
  const shell = shellOf(args);
  if (shell === "yes")
    report.add(
      "deny",
      "python-subprocess-shell",
      `${path} with shell=True hands a line of text to a shell.`,
      node,
      "Give the program and its arguments as a list.",
    );
  else if (shell === "unknown")
    report.add("ask", "python-subprocess-shell", "Whether this goes through a shell cannot be known.", node);
  const fed = textOf(args.keywords.get("input"));
  for (const line of command(path, args)) {
    if (line !== undefined && READS_COMMANDS.test(line)) {
      report.add("ask", "python-shell", `${line} runs whatever it is fed.`, node);
      if (fed !== undefined) report.relay({ kind: "command", input: fed }, node);
    }
    if (line === undefined)
      report.add("ask", "python-subprocess", "Which program it starts cannot be known.", node);
    else if (line !== "") report.relay({ kind: "command", input: line }, node);
  }
}
