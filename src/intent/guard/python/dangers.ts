import type { Action } from "../finding.js";

/** A rule of this layer. Every use of one of these names is a finding, whether it is called or passed on. */
interface Danger {
  readonly rule: string;
  readonly action: Action;
  readonly reason: string;
  /** Dotted names; `x.*` is a module and everything in it. */
  readonly names: string;
}

const DANGERS: readonly Danger[] = [
  {
    rule: "python-exec",
    action: "deny",
    reason: "This runs text as code, which cannot be judged before it runs.",
    names: `builtins.eval builtins.exec builtins.execfile code.InteractiveInterpreter code.InteractiveConsole
      code.interact marshal.loads marshal.load _testcapi.* _testinternalcapi.* _xxsubinterpreters.* _interpreters.*
      _xxinterpchannels.* test.support.interpreters.* concurrent.interpreters.* interpreters.*
      concurrent.futures.InterpreterPoolExecutor concurrent.futures.interpreter.* unittest.mock._importer
      termios.TIOCSTI`,
  },
  {
    rule: "python-shell",
    action: "deny",
    reason: "This passes a line of text to a shell.",
    names: `os.system os.popen os.popen2 os.popen3 os.popen4 os.startfile subprocess.getoutput
      subprocess.getstatusoutput commands.getoutput commands.getstatusoutput popen2.* asyncio.create_subprocess_shell
      asyncio.subprocess.create_subprocess_shell pty.spawn pty.fork pexpect.spawn pexpect.run pexpect.runu platform.popen pydoc.pipepager pydoc.tempfilepager
      distutils.spawn.spawn plumbum.local`,
  },
  {
    rule: "python-spawn",
    action: "deny",
    reason: "This replaces the program by another one, or starts an unsupervised one.",
    names: `os.execl os.execle os.execlp os.execlpe os.execv os.execve os.execvp os.execvpe os.spawnl os.spawnle
      os.spawnlp os.spawnlpe os.spawnv os.spawnve os.spawnvp os.spawnvpe os.posix_spawn os.posix_spawnp
      subprocess.fork_exec multiprocessing.util.spawnv_passfds`,
  },
  {
    rule: "python-fork",
    action: "ask",
    reason: "This starts processes that outlive their parent.",
    names: "os.fork os.forkpty os.setsid os.daemon daemon.* os.dup2",
  },
  {
    rule: "python-socket",
    action: "deny",
    reason: "This opens its own network connection.",
    names: `socket.socket socket.create_connection socket.create_server socket.fromfd socket.SocketType
      socket.socketpair socket.fromshare asyncio.open_connection asyncio.start_server
      asyncio.open_unix_connection asyncio.start_unix_server ssl.wrap_socket ssl.SSLSocket multiprocessing.connection.*
      eventlet.* gevent.socket.* scapy.* zmq.* trio.open_tcp_stream anyio.connect_tcp logging.config.listen`,
  },
  {
    rule: "python-network",
    action: "deny",
    reason: "This uses the network without the runtime's fetch tools.",
    names: `urllib.request.* urllib.urlopen urllib.urlretrieve urllib.FancyURLopener urllib.URLopener urllib2.* urllib3.*
      requests.* httpx.* aiohttp.* http.client.* httplib.* httplib2.* ftplib.* smtplib.* aiosmtplib.* telnetlib.*
      poplib.* imaplib.* nntplib.* xmlrpc.client.* xmlrpclib.* pycurl.* curl_cffi.* niquests.* requests_html.*
      requests_futures.* grequests.* treq.* mechanize.* websocket.* websockets.* socketio.* paramiko.* asyncssh.*
      fabric.* scp.* pysftp.* tornado.httpclient.* dns.* ftputil.* wget.* cloudscraper.* tftpy.*`,
  },
  {
    rule: "python-serve",
    action: "ask",
    reason: "This serves files or requests, or opens a browser.",
    names: `http.server.* SimpleHTTPServer.* BaseHTTPServer.* wsgiref.simple_server.* socketserver.* webbrowser.open
      webbrowser.open_new webbrowser.open_new_tab`,
  },
  {
    rule: "python-containers",
    action: "ask",
    reason: "A program that controls containers controls the machine.",
    names:
      "docker.from_env docker.DockerClient docker.APIClient podman.PodmanClient kubernetes.config.load_kube_config",
  },
  {
    rule: "python-lookup",
    action: "ask",
    reason: "A DNS lookup sends the name to a server.",
    names: "socket.getaddrinfo socket.gethostbyname socket.gethostbyname_ex socket.gethostbyaddr",
  },
  {
    rule: "python-native",
    action: "deny",
    reason: "This calls native code, which Python's checks do not cover.",
    names: `ctypes.CDLL ctypes.cdll ctypes.PyDLL ctypes.pydll ctypes.WinDLL ctypes.windll ctypes.OleDLL ctypes.oledll
      ctypes.LibraryLoader ctypes.pythonapi ctypes.CFUNCTYPE ctypes.memmove ctypes.memset ctypes.string_at
      ctypes.from_address ctypes.util.find_library ctypes.cast cffi.FFI _ctypes.* dl.open mmap.PROT_EXEC imp.load_dynamic
      importlib.machinery.ExtensionFileLoader`,
  },
  {
    rule: "python-introspection",
    action: "deny",
    reason: "This searches the interpreter for functions that were removed.",
    names: "builtins.__builtins__ sys.addaudithook",
  },
  {
    rule: "python-introspection",
    action: "ask",
    reason: "This inspects the interpreter, as debuggers and sandbox escapes do.",
    names: `sys._getframe sys._current_frames gc.get_objects gc.get_referrers gc.get_referents sys.settrace sys.setprofile
      threading.settrace`,
  },
  {
    rule: "python-privilege",
    action: "deny",
    reason: "This changes the program's user, rights or root folder.",
    names: `os.setuid os.setgid os.seteuid os.setegid os.setreuid os.setregid os.setresuid os.setresgid os.setgroups
      os.initgroups os.chroot os.setns os.unshare os.mknod os.lchown os.pidfd_open`,
  },
  {
    rule: "python-input-capture",
    action: "ask",
    reason: "This records the keyboard or the screen, or reads stored passwords.",
    names: `pynput.* keyboard.* pyautogui.* mss.* PIL.ImageGrab.* keyring.get_password keyring.get_credential
      secretstorage.* browser_cookie3.* win32crypt.* pyperclip.paste rookiepy.* spwd.* netrc.netrc`,
  },
  {
    rule: "python-environment",
    action: "ask",
    reason: "This loads a project's secrets into the environment.",
    names: "dotenv.load_dotenv dotenv.dotenv_values dotenv.get_key decouple.config environs.Env",
  },
  {
    rule: "python-install",
    action: "ask",
    reason: "This installs packages, which run code of others.",
    names:
      "pip.main pip._internal.* pip._internal.main ensurepip.bootstrap setuptools.command.easy_install.main",
  },
  {
    rule: "python-import",
    action: "ask",
    reason: "This changes how modules are found or loaded.",
    names: `sys.meta_path sys.path_hooks runpy.run_path runpy.run_module imp.load_source imp.load_module
      importlib.util.spec_from_file_location importlib.machinery.SourceFileLoader importlib.machinery.SourcelessFileLoader
      zipimport.zipimporter importlib.util.module_from_spec site.addsitedir pkgutil.get_loader`,
  },
  {
    rule: "python-persistence",
    action: "ask",
    reason: "This schedules code to run later.",
    names: "winreg.* _winreg.* crontab.CronTab",
  },
];

const EXACT = new Map<string, Danger>();
const MODULES = new Map<string, Danger>();
for (const danger of DANGERS)
  for (const name of danger.names.split(/\s+/)) {
    if (name.endsWith(".*")) MODULES.set(name.slice(0, -2), danger);
    else EXACT.set(name, danger);
  }

/** Harmless parts of those modules. */
const HARMLESS =
  /^(?:requests\.(?:exceptions|codes|status_codes|structures|utils\.quote)|httpx\.(?:codes|URL)|aiohttp\.ClientError|http\.client\.(?:HTTPException|responses|OK)|dns\.name|urllib3\.(?:exceptions|disable_warnings)|mss$|wget$|keyboard$)(?:\.|$)/;

/** The rule for a thing of this name. */
export function dangerOf(path: string): Danger | undefined {
  const exact = EXACT.get(path);
  if (exact || HARMLESS.test(path)) return exact;
  for (let end = path.length; end > 0; end = path.lastIndexOf(".", end - 1)) {
    const danger = MODULES.get(path.slice(0, end));
    if (danger) return danger;
  }
  return undefined;
}

/** Modules with dangerous functions: an unknown name taken from one of them could be such a function. */
const POWERFUL = new Set(
  [...EXACT.keys(), ...MODULES.keys()]
    .map((name) => name.split(".")[0]!)
    .concat(["shutil", "pathlib", "builtins", "subprocess", "importlib"]),
);
for (const harmless of [
  "types",
  "asyncio",
  "http",
  "urllib",
  "gc",
  "IPython",
  "PIL",
  "atexit",
  "threading",
  "multiprocessing",
  "distutils",
  "mmap",
])
  POWERFUL.delete(harmless);

export function isPowerful(path: string): boolean {
  return POWERFUL.has(path);
}

/** Attributes that lead from any value into the interpreter. */
export const INTERPRETER_ATTRIBUTES: Readonly<Record<string, Action>> = {
  __globals__: "deny",
  func_globals: "deny",
  __builtins__: "deny",
  f_globals: "deny",
  f_builtins: "deny",
  gi_frame: "deny",
  cr_frame: "deny",
  ag_frame: "deny",
  f_locals: "ask",
  f_back: "ask",
  __code__: "ask",
  func_code: "ask",
  co_code: "ask",
  __closure__: "ask",
};

/** Methods whose name is enough, on any object. */
export const TELLING_METHODS: Readonly<Record<string, string>> = Object.fromEntries(
  `system popen popen2 rmtree removedirs getoutput getstatusoutput check_output check_call exec_command execl execle execlp execv
   execve execvp execvpe spawnl spawnle spawnv spawnve run_cell run_line_magic run_cell_magic load_module exec_module
   urlretrieve urlopen create_connection subprocess_shell subprocess_exec`
    .split(/\s+/)
    .map((name) => [name, `A method called .${name}() does what its name says.`]),
);

/** References to functions that delete are judged with what they delete; without a call, the script passes them on. */
export const HANDED_ON: ReadonlySet<string> = new Set([
  "os.remove",
  "os.unlink",
  "os.rmdir",
  "os.removedirs",
  "shutil.rmtree",
  "os.truncate",
]);

/** Names that exist without an import. */
export const BUILTINS: ReadonlySet<string> = new Set(
  `abs all any bin bool bytearray bytes callable chr classmethod compile complex delattr dict dir divmod enumerate eval exec
   execfile filter float format frozenset getattr globals hasattr hash hex id input int isinstance issubclass iter len list locals
   map max memoryview min next object oct open ord pow print property range raw_input reload repr reversed round set setattr
   slice sorted staticmethod str sum super tuple type unichr unicode vars zip file breakpoint __import__ __loader__ __spec__
   __build_class__`.split(/\s+/),
);
