import type { PyArguments } from "./calls.js";
import type { Evaluator } from "./evaluate.js";
import { accessOf, goesThrough, judgeFileUse } from "./files.js";
import { commandLines, shellOf } from "./subprocess.js";
import type { SyntaxNode } from "./tree.js";
import { knownText, options, PY_UNKNOWN, type PyValue } from "./value.js";
import { isForeign, isFromFile } from "./value-origin.js";

/** Functions that are judged by their arguments. */
interface KnownCall {
  readonly names: ReadonlySet<string>;
  check(machine: Evaluator, path: string, args: PyArguments, node: SyntaxNode): void;
}

const names = (list: string): ReadonlySet<string> => new Set(list.split(/\s+/));

export const KNOWN_CALLS: readonly KnownCall[] = [
  {
    names: names(
      "builtins.open builtins.file io.open io.FileIO codecs.open gzip.open bz2.open lzma.open aiofiles.open tarfile.open zipfile.ZipFile io.open_code tokenize.open",
    ),
    check: ({ report }, _, { positional, keywords }, node) =>
      judgeFileUse(
        report,
        keywords.get("file") ?? positional[0] ?? PY_UNKNOWN,
        accessOf(keywords.get("mode") ?? positional[1]),
        node,
      ),
  },
  {
    names: names("os.open"),
    check: ({ report }, _, { positional }, node) => {
      const flags = options(positional[1] ?? PY_UNKNOWN);
      const reads = flags.some((flag) => flag.t === "ref" && flag.path === "os.O_RDONLY");
      judgeFileUse(report, positional[0] ?? PY_UNKNOWN, reads ? "read" : "write", node);
    },
  },
  {
    names: names(
      "os.listdir os.scandir os.readlink os.stat linecache.getline linecache.getlines fileinput.input numpy.load numpy.loadtxt numpy.fromfile numpy.genfromtxt pandas.read_csv pandas.read_json pandas.read_pickle pandas.read_table pandas.read_excel pandas.read_fwf configparser.ConfigParser.read json.load yaml.safe_load toml.load sqlite3.connect",
    ),
    check: ({ report }, _, { positional: [path = PY_UNKNOWN] }, node) => {
      const name = knownText(path);
      if (name !== undefined && /^https?:/i.test(name)) report.relay({ kind: "url", input: name }, node);
      else judgeFileUse(report, path, "read", node);
    },
  },
  {
    names: names("shutil.make_archive"),
    check: ({ report }, _, { positional, keywords }, node) => {
      judgeFileUse(report, positional[0] ?? PY_UNKNOWN, "write", node);
      judgeFileUse(report, positional[2] ?? keywords.get("root_dir") ?? PY_UNKNOWN, "read", node);
    },
  },
  {
    names: names("os.walk os.fwalk"),
    check: ({ report }, _, { positional: [path = PY_UNKNOWN] }, node) => goesThrough(report, path, node),
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
    check: ({ report }, path, { positional: [from = PY_UNKNOWN, to = PY_UNKNOWN] }, node) => {
      judgeFileUse(report, from, /copy|unpack/.test(path) ? "read" : "write", node);
      judgeFileUse(report, to, "write", node);
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
      for (const option of options(source ?? keywords.get("source") ?? keywords.get("stmt") ?? PY_UNKNOWN)) {
        const inner = knownText(option);
        if (inner !== undefined) machine.script(inner, node);
        else if (path === "builtins.compile")
          machine.report.add(
            "ask",
            "python-exec",
            "This compiles text that is known only at run time.",
            node,
          );
      }
    },
  },
  {
    names: names(
      "pickle.loads pickle.load _pickle.loads _pickle.load cPickle.loads cPickle.load dill.loads dill.load cloudpickle.loads cloudpickle.load jsonpickle.decode jsonpickle.loads jsonpickle.unpickler.decode",
    ),
    check: (machine, _, { positional: [data = PY_UNKNOWN] }, node) => judgeUnpickled(machine, data, node),
  },
  {
    names: names(
      "torch.load joblib.load numpy.load pandas.read_pickle shelve.open sklearn.externals.joblib.load",
    ),
    check: ({ report }, path, { positional: [data = PY_UNKNOWN] }, node) => {
      if (some(data, isUrl) || (isForeign(data) && knownText(data) === undefined))
        report.add(
          "deny",
          "python-unpickle",
          `${path} unpickles data from the network, which can run any code.`,
          node,
        );
    },
  },
  {
    names: names("yaml.load yaml.unsafe_load yaml.full_load yaml.load_all yaml.unsafe_load_all"),
    check: ({ report }, path, { positional: [data = PY_UNKNOWN, loader], keywords }, node) => {
      const loaders = [loader, keywords.get("Loader")];
      const named = (pattern: RegExp) =>
        loaders.some((value) => value?.t === "ref" && pattern.test(value.path));
      if (
        /unsafe/.test(path) ||
        named(/Unsafe|\.Loader$|\.CLoader$/) ||
        (!named(/Safe|Base/) && knownText(data)?.includes("!!python"))
      )
        report.add("deny", "python-unpickle", UNPICKLED, node);
    },
  },
  {
    names: names("types.FunctionType types.LambdaType types.CodeType"),
    check: ({ report }, path, _, node) =>
      report.add("deny", "python-exec", `${path} makes a function from code that cannot be read.`, node),
  },
  {
    names: names("os.kill os.killpg signal.pthread_kill"),
    check: ({ report }, path, { positional: [, signal = PY_UNKNOWN] }, node) => {
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

const UNPICKLED = "This unpickles data, which can run any code.";
const isUrl = (value: PyValue): boolean => /^\w{2,8}:\/\//.test(knownText(value) ?? "");
const some = (value: PyValue, test: (option: PyValue) => boolean): boolean => options(value).some(test);

/** Scripts keep models and caches in their own files. Data from elsewhere may run anything. */
export function judgeUnpickled({ report }: Evaluator, data: PyValue, node: SyntaxNode): void {
  if (isForeign(data)) report.add("deny", "python-unpickle", UNPICKLED, node);
  else if (!isFromFile(data))
    report.add("ask", "python-unpickle", `${UNPICKLED} Its source is known only at run time.`, node);
}

function checkChange(
  { report }: Evaluator,
  path: string,
  { positional: [file = PY_UNKNOWN, what = PY_UNKNOWN] }: PyArguments,
  node: SyntaxNode,
): void {
  judgeFileUse(report, path === "os.symlink" || path === "os.link" ? what : file, "write", node);
  if (path === "os.symlink" || path === "os.link") judgeFileUse(report, file, "read", node);
  if (path === "os.chmod" && what.t === "number" && ((what.v & 0o6000) !== 0 || (what.v & 0o002) !== 0))
    report.add(
      "ask",
      "python-permissions",
      "This lets every user write to a file, or run it with its owner's rights.",
      node,
    );
  if (path === "os.chown" || path === "shutil.chown")
    report.add("ask", "python-permissions", "This gives a file to another user.", node);
}

/** A temporary file that the script made itself is its own to delete. */
function checkDelete(
  { report }: Evaluator,
  path: string,
  { positional: [target = PY_UNKNOWN], keywords }: PyArguments,
  node: SyntaxNode,
): void {
  const own = options(keywords.get("path") ?? target).every(isTemporary);
  if (own) report.add("ask", "python-delete", `${path} deletes a temporary file of this script.`, node);
  else
    report.add(
      "deny",
      "python-delete",
      `${path} deletes files.`,
      node,
      "Delete with the runtime's tools, which ask.",
    );
  judgeFileUse(report, target, "delete", node);
}

function isTemporary(value: PyValue): boolean {
  return (
    value.t === "temporary" ||
    (value.t === "member" && isTemporary(value.of)) ||
    (value.t === "result" && value.args.some(isTemporary))
  );
}

/** A shell or an interpreter without a script. */
const READS_COMMANDS =
  /^(?:[\w./-]*\/)?(?:(?:ba|z|da|k|c|tc|fi|a)?sh|python[\d.]*|perl|ruby|node|php|lua)(?: -[is]+)*$/;

function checkSubprocess({ report }: Evaluator, path: string, args: PyArguments, node: SyntaxNode): void {
  const shell = shellOf(args);
  if (shell === "yes")
    report.add(
      "deny",
      "python-subprocess-shell",
      `${path} with shell=True passes a line of text to a shell.`,
      node,
      "Pass the program and its arguments as a list.",
    );
  else if (shell === "unknown")
    report.add(
      "ask",
      "python-subprocess-shell",
      "Whether this uses a shell is known only at run time.",
      node,
    );
  const fed = knownText(args.keywords.get("input"));
  for (const line of commandLines(path, args)) {
    if (line !== undefined && READS_COMMANDS.test(line)) {
      report.add("ask", "python-shell", `${line} runs the code that it gets on stdin.`, node);
      if (fed !== undefined) report.relay({ kind: "command", input: fed }, node);
    }
    if (line === undefined)
      report.add("ask", "python-subprocess", "The program that this starts is known only at run time.", node);
    else if (line !== "") report.relay({ kind: "command", input: line }, node);
  }
}
