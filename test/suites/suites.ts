import type { Part } from "./part.js";
import { PROGRAM_PACKAGES, PROGRAMS } from "./programs.js";

/** The test suites of other people that `npm run suites` runs: rows. */

export interface Suite {
  readonly name: string;
  readonly about: string;
  /** Debian packages that have it. */
  readonly packages: readonly string[];
  /** A shell script, run once in the suite's folder below build/suites. */
  readonly prepare?: string;
  readonly parts: readonly Part[];
  /** How a part tells its results. */
  readonly results: "junit" | "tap" | "lines" | "output" | "status";
}

/** Those of CPython's test modules that are about the system: files, processes, signals, sockets, terminals, time. */
const CPYTHON = [
  "test_os test_posix test_posixpath test_pathlib test_shutil test_tempfile test_glob test_fileio test_io test_largefile",
  "test_file test_mmap test_stat test_genericpath test_dbm_dumb test_mailbox test_zipfile test_tarfile test_sqlite3",
  "test_subprocess test_popen test_wait3 test_wait4 test_fork1 test_signal test_threadsignals test_pty test_openpty test_tty",
  "test_fcntl test_ioctl test_resource test_select test_poll test_epoll test_selectors test_eintr test_faulthandler",
  "test_socket test_socketserver test_asyncore test_httpservers test_ftplib test_smtplib test_xmlrpc test_urllib2_localnet",
  "test_asyncio test_threading test_thread test_queue test_concurrent_futures test_multiprocessing_fork",
  "test_multiprocessing_spawn test_multiprocessing_forkserver test_time test_pwd test_grp test_cmd_line test_venv test_site",
].flatMap((names) => names.split(" "));

/** Tests of the kernel itself, by their folder below tools/testing/selftests. */
const KERNEL: Readonly<Record<string, readonly string[]>> = {
  openat2: ["openat2_test", "resolve_test"],
  clone3: ["clone3", "clone3_clear_sighand", "clone3_set_tid", "clone3_cap_checkpoint_restore"],
  pidfd: [
    "pidfd_test",
    "pidfd_fdinfo_test",
    "pidfd_open_test",
    "pidfd_poll_test",
    "pidfd_wait",
    "pidfd_getfd_test",
  ],
  landlock: ["base_test", "fs_test", "ptrace_test"],
  seccomp: ["seccomp_bpf"],
  exec: ["execveat", "non-regular", "recursion-depth"],
  proc: [
    "fd-001-lookup",
    "proc-loadavg-001",
    "proc-self-syscall",
    "proc-self-wchan",
    "proc-uptime-001",
    "read",
    "self",
    "thread-self",
  ],
  ptrace: ["get_set_sud", "peeksiginfo", "vmaccess"],
  futex: [
    "functional/futex_wait",
    "functional/futex_requeue",
    "functional/futex_wait_timeout",
    "functional/futex_waitv",
  ],
  timers: ["posix_timers", "nanosleep", "set-timer-lat", "inconsistency-check"],
};

const kernelPart = (folder: string, test: string): Part => ({
  name: `${folder}/${test}`,
  script: `[ -x "$SUITE/bin/${folder}/${test}" ] || { echo "1..0 # SKIP not built"; exit 0; }; cd "$SUITE/bin/${folder}" && exec ./${test}`,
  seconds: 90,
});

/** Each test is one or two files with the helpers of its folder. What this machine's headers cannot build is skipped. */
const BUILD_KERNEL = `
  tests=$PWD/linux-source-6.1/tools/testing/selftests
  [ -d "$tests" ] || tar -xf /usr/src/linux-source-6.1.tar.xz linux-source-6.1/tools/testing/selftests linux-source-6.1/tools/include
  for test in ${Object.entries(KERNEL)
    .flatMap(([folder, tests]) => tests.map((test) => `${folder}/${test}`))
    .join(" ")}; do
    folder=\${test%%/*}; mkdir -p "$(dirname "bin/$test")"
    helpers=; [ "$folder" = openat2 ] && helpers=$tests/openat2/helpers.c
    gcc -O1 -w -D_GNU_SOURCE -I"$tests" -I"$tests/futex/include" -I"$tests/../../include/uapi" -o "bin/$test" "$tests/$test.c" $helpers \\
      -lpthread -lrt -lcap -lmount 2>> build.log || gcc -O1 -w -D_GNU_SOURCE -I"$tests" -o "bin/$test" "$tests/$test.c" $helpers -lpthread -lrt -lcap 2>> build.log || true
  done`;

const STRESS = { filesystem: 2, network: 2, os: 1 };

export const SUITES: readonly Suite[] = [
  {
    name: "programs",
    about: "everyday programs: started, used, ended",
    packages: PROGRAM_PACKAGES,
    results: "output",
    parts: PROGRAMS,
  },
  {
    name: "cpython",
    about: "CPython's own tests, those about the system",
    packages: ["libpython3.11-testsuite", "python3.11-venv"],
    results: "junit",
    parts: CPYTHON.map((name) => ({
      name,
      script: `exec python3.11 -m test -u all,-largefile,-cpu,-urlfetch,-network --junit-xml "$RESULTS" ${name}`,
      seconds: 400,
    })),
  },
  {
    name: "kernel",
    about: "the kernel's selftests",
    packages: ["linux-source-6.1", "libcap-dev"],
    prepare: BUILD_KERNEL,
    results: "tap",
    parts: Object.entries(KERNEL).flatMap(([folder, tests]) => tests.map((test) => kernelPart(folder, test))),
  },
  {
    name: "stress",
    about: "stress-ng's stressors, each for a second, checking its own results",
    packages: ["stress-ng"],
    results: "status",
    parts: Object.entries(STRESS).map(([group, seconds]) => ({
      name: group,
      script: `exec stress-ng --class ${group} --sequential 1 --timeout ${seconds} --verify --oomable --skip-silent`,
      seconds: 900,
    })),
  },
  {
    name: "arguments",
    about: "every call that HERMES makes on behalf, with right and wrong arguments (78,000 combinations)",
    packages: [],
    prepare: 'gcc -O1 -o arguments "$ROOT/test/transparency/programs/arguments.c"',
    results: "lines",
    parts: [{ name: "arguments", script: 'exec "$SUITE/arguments"', seconds: 900 }],
  },
];
