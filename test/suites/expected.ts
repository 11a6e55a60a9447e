import { EXPLAINED } from "../transparency/explained.js";

/** Differences that are meant, or that cannot be mended, each with its reason. Any other one makes `npm run suites` fail. */

export interface Expected {
  readonly suite: string;
  readonly modes?: readonly string[];
  /** `part: test`. */
  readonly test: RegExp;
  readonly bare?: RegExp;
  readonly mediated?: RegExp;
  readonly reason: string;
}

const OWN: readonly Expected[] = [
  {
    suite: "programs",
    modes: ["trace"],
    test: /^(gdb|strace): /,
    reason: "a program under the trace door cannot itself use ptrace",
  },
  {
    suite: "programs",
    modes: ["agent"],
    test: /^postgres: /,
    mediated: /Permission denied|^\d+$/,
    reason: "as root its server becomes another user first, which `agent` refuses",
  },
  {
    suite: "kernel",
    test: /^pidfd\/(pidfd_test|pidfd_fdinfo_test): /,
    reason: "they remount / as private, and mounts are refused where a policy decides on their paths",
  },
  {
    suite: "kernel",
    test: /^landlock\//,
    reason: "where a policy looks at paths, Landlock is not available to the program itself",
  },
  {
    suite: "kernel",
    test: /^seccomp\/seccomp_bpf: .*(user_notification|TRACE|listener|its exit status)/i,
    reason: "a second seccomp listener is refused; under the trace door no other tracer",
  },
  {
    suite: "kernel",
    modes: ["trace"],
    test: /^ptrace\//,
    reason: "a program under the trace door cannot itself use ptrace",
  },
  {
    suite: "kernel",
    test: /^clone3\//,
    reason: "clone3 is ENOSYS where a rule decides on processes: its flags cannot be seen",
  },
  {
    suite: "kernel",
    test: /^openat2\//,
    reason: "openat2 with O_PATH is ENOSYS where a policy looks at paths",
  },
];

export const EXPECTED: readonly Expected[] = [
  ...OWN,
  ...EXPLAINED.map(({ call, bare, mediated, reason }) => ({
    suite: "arguments",
    test: new RegExp(call.source.replace(/^\^/, "^arguments: ")),
    bare,
    mediated,
    reason,
  })),
];

export function expected(
  suite: string,
  mode: string,
  test: string,
  bare: string,
  mediated: string,
): Expected | undefined {
  return EXPECTED.find(
    (e) =>
      e.suite === suite &&
      (e.modes?.includes(mode) ?? true) &&
      e.test.test(test) &&
      (e.bare?.test(bare) ?? true) &&
      (e.mediated?.test(mediated) ?? true),
  );
}
