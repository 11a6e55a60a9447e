import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  AUDIT_ARCH_I386,
  BPF_OP,
  checkProgram,
  compileFilter,
  type FilterAction,
  type FilterSpec,
  type Instruction,
  loadFilter,
  returnValue,
  type SeccompData,
} from "../../../src/kernel/filter/index.js";
import { hasThisKernel, type IssuedCall, Kernel } from "./kernel.js";
import { expectedAction } from "./oracle.js";
import { Random } from "./random.js";
import { type Ingredients, randomInputs, randomSpec } from "./random-spec.js";

const ERRNOS: FilterAction[] = [0, 1, 2, 3, 2000, 3001, 4094, 4095].map((errno) => ({ do: "errno", errno }));
const ENOSYS = 38;

/** getpid, getuid, getgid, geteuid, getegid, getppid, getpgrp, gettid: they take no argument and cannot fail. */
const HARMLESS = [39, 102, 104, 107, 108, 110, 111, 186];
/**
 * uretprobe and uprobe: kernels since 6.14 and 6.18 do not run filters for them (seccomp_uprobe_exception), because
 * they are issued by the kernel's own trampolines. Anyone else gets SIGILL or ENXIO.
 */
const UNFILTERED = [335, 336];
const ALL = Array.from({ length: 470 }, (_, nr) => nr);

const onHarmless: Ingredients = {
  numbers: HARMLESS,
  actions: [...ERRNOS.slice(1), { do: "allow" }, { do: "allow" }, { do: "allow" }],
  // The neighbours of harmless calls are not: nothing without an entry may run.
  otherwise: ERRNOS.slice(1),
  foreign: [{ do: "errno", errno: 1234 }],
};
const onAll: Ingredients = { numbers: ALL, actions: ERRNOS, foreign: [{ do: "errno", errno: 1234 }] };

const issued = ({ nr, arch, args }: SeccompData): IssuedCall => ({
  abi: arch === AUDIT_ARCH_I386 ? "int80" : "native",
  nr,
  args,
});

const call = (nr: number, ...args: bigint[]): IssuedCall => ({
  abi: "native",
  nr,
  args: [...args, 0n, 0n, 0n, 0n, 0n, 0n].slice(0, 6),
});

/** What the issuer of a call gets to see of an action. */
function visible(action: FilterAction, nr: number): string {
  if (action.do === "errno") return `${-action.errno}`;
  return nr === -1 ? `${-ENOSYS}` : "a result";
}

function seen(result: number | undefined, action: FilterAction, nr: number): string {
  return result !== undefined && result >= 0 && visible(action, nr) === "a result" ? "a result" : `${result}`;
}

describe.skipIf(!hasThisKernel)("the kernel", () => {
  let kernel: Kernel;
  let int80: boolean;
  beforeAll(() => {
    kernel = new Kernel();
    int80 = kernel.takesInt80();
  });
  afterAll(() => kernel?.close());

  it.each([
    ["harmless calls, allowed or not", onHarmless, 600, 150],
    ["the whole table, refused with different errors", onAll, 60, 1500],
  ] as const)(
    "treats random calls as interpreter and specification say: %s",
    (_, ingredients, specs, inputs) => {
      const planned = Array.from({ length: specs }, (_, seed) => {
        const random = new Random(1_000_000 + seed);
        const spec = randomSpec(random, ingredients);
        const program = compileFilter(spec);
        const run = loadFilter(program);
        const native = randomInputs(random, spec, inputs);
        const foreign = randomInputs(random, spec, int80 ? 5 : 0).map((data) => ({
          ...data,
          arch: AUDIT_ARCH_I386,
        }));
        const data = [...native, ...foreign].filter(({ nr }) => !UNFILTERED.includes(nr));
        const actions = data.map((it) => expectedAction(spec, it));
        // Checked before the kernel runs anything, so that a wrong program cannot let a harmful call through.
        expect(data.map((it) => run(it).value)).toEqual(actions.map(returnValue));
        return { program, data, actions };
      });
      const reports = kernel.run(planned.map(({ program, data }) => ({ program, calls: data.map(issued) })));
      reports.forEach(({ end, results }, seed) => {
        const { actions, data } = planned[seed]!;
        expect(end, `seed ${seed}`).toBe("finished");
        expect(
          results.map((result, i) => seen(result, actions[i]!, data[i]!.nr)),
          `seed ${seed}`,
        ).toEqual(actions.map((action, i) => visible(action, data[i]!.nr)));
      });
    },
    60_000,
  );

  it("kills the process at the first call that is to be killed, and not before", () => {
    const spec: FilterSpec = {
      calls: new Map([
        [
          39,
          {
            rules: [{ tests: [{ arg: 0, width: 64, op: "gt", value: 7n }], action: { do: "kill" } }],
            otherwise: { do: "allow" },
          },
        ],
      ]),
      otherwise: { do: "errno", errno: 5 },
      foreign: { do: "kill" },
    };
    const program = compileFilter(spec);
    const x32 = call(39 + 0x40000000);
    const [byArgument, byX32, byNothing] = kernel.run([
      { program, calls: [call(39, 7n), call(40), call(39, 1n << 32n), call(39)] },
      { program, calls: [call(39), x32, call(39)] },
      { program, calls: [call(39), call(-1), call(39)] },
    ]);
    expect(byArgument).toEqual({ end: "killed", results: [expect.any(Number), -5, undefined, undefined] });
    expect(byX32).toEqual({ end: "killed", results: [expect.any(Number), undefined, undefined] });
    expect(byNothing).toEqual({
      end: "finished",
      results: [expect.any(Number), -ENOSYS, expect.any(Number)],
    });
  });

  it("kills a 64-bit program that calls through int 0x80", ({ skip }) => {
    if (!int80) skip("this kernel has no ia32 emulation");
    const program = compileFilter({ calls: new Map(), otherwise: { do: "allow" }, foreign: { do: "kill" } });
    const ia32Getpid: IssuedCall = { ...call(20), abi: "int80" };
    const [report] = kernel.run([{ program, calls: [call(39), ia32Getpid, call(39)] }]);
    expect(report).toEqual({ end: "killed", results: [expect.any(Number), undefined, undefined] });
  });

  it("lets a tracer skip a call even where every unknown number is killed", () => {
    const exitGroup = 231;
    const calls: FilterSpec["calls"] = new Map([[exitGroup, { rules: [], otherwise: { do: "allow" } }]]);
    const spec: FilterSpec = { calls, otherwise: { do: "kill" }, foreign: { do: "kill" } };
    expect(kernel.skipGetppid(compileFilter(spec))).toBe("returned 77");
  });

  it("refuses exactly the damaged programs that the checker refuses", () => {
    const random = new Random(7);
    const programs = random.times(1500, () => damaged(random, compileFilter(randomSpec(random, onHarmless))));
    const reports = kernel.run(programs.map((program) => ({ program, calls: [] })));
    const accepted = programs.map(isAccepted);
    expect(reports.map(({ end }) => end)).toEqual(accepted.map((it) => (it ? "finished" : "refused")));
    expect(accepted.filter(Boolean).length).toBeGreaterThan(100);
    expect(accepted.filter((it) => !it).length).toBeGreaterThan(100);
  }, 60_000);
});

function isAccepted(program: readonly Instruction[]): boolean {
  try {
    checkProgram(program);
    return true;
  } catch {
    return false;
  }
}

function damaged(random: Random, program: Instruction[]): Instruction[] {
  const copy = program.map((instruction) => ({ ...instruction }));
  const victim = random.pick(copy);
  switch (random.below(5)) {
    case 0:
      victim.jt = random.below(2 * program.length) & 0xff;
      break;
    case 1:
      victim.jf = random.below(256);
      break;
    case 2:
      victim.k = random.pick([random.below(80), random.below(program.length), random.word()]);
      break;
    case 3:
      victim.code = random.pick([...Object.values(BPF_OP), 0x28, 0x30, 0x80 | 0x15]);
      break;
    default:
      copy.length = random.below(copy.length);
  }
  return copy;
}
