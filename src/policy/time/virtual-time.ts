import { errnoValue, flagsValue } from "../../abi/named.js";
import type { CallEvent, InstructionEvent, ReturnEvent } from "../../nouns/event.js";
import { deny, emulate, type Verdict } from "../../nouns/verdict.js";
import type { EntryHandlers, PolicySpec, ReturnHandlers } from "../define.js";
import { CLOCK, Clocks, OTHER_CLOCKS, WALL_CLOCKS } from "./clocks.js";
import { parseDate, parseSpeed } from "./date.js";
import { TIMED_FUTEXES, timedFutex, WALL_FUTEXES } from "./futex.js";
import { type Moment, momentBytes, readMoment, UNIT } from "./moment.js";
import { Waits } from "./waits.js";

export interface VirtualTime {
  readonly name?: string;
  /**
   * The clocks' time when the run starts: `2030-01-01`, `2030-01-01T12:00:00Z`, `@1893456000`, `+90d`.
   * Default: now.
   */
  readonly date?: string | undefined;
  /** How many of the program's seconds pass in one real second; 0: the wall clock stands still, and waits take their time. */
  readonly speed?: string | number | undefined;
}

const ABSOLUTE = flagsValue("timer", "TIMER_ABSTIME");
const SOL_SOCKET = flagsValue("sockopt_level", "SOL_SOCKET");
const SOCKET_TIMEOUTS = [flagsValue("sockopt", "SO_RCVTIMEO"), flagsValue("sockopt", "SO_SNDTIMEO")];
const ITIMER_REAL = flagsValue("itimer", "ITIMER_REAL");
const TICKS = 100;
/** The offset of the wall clock in a struct timex. */
const TIMEX_TIME = 72;
/** EINTR, and the kernel's own ERESTARTNOHAND and ERESTART_RESTARTBLOCK. */
const INTERRUPTED = new Set([-errnoValue("EINTR"), -514, -516]);

/**
 * Gives a program another time. Its wall clock, monotonic clocks and time stamp counter advance together and
 * never go back. Timed waits use these clocks. CPU time and the times of files are not changed.
 */
export function virtualTime({ name = "virtual-time", date, speed }: VirtualTime = {}): PolicySpec {
  const clocks = new Clocks(parseDate(date ?? "now", Date.now() / 1000), parseSpeed(String(speed ?? 1)));
  const waits = new Waits(clocks);
  const plain = clocks.speed === 1;
  const changed = plain ? WALL_CLOCKS : [...WALL_CLOCKS, ...OTHER_CLOCKS];
  return {
    name,
    on: { ...readings(clocks), ...waitsByWallClock(clocks, waits), ...(!plain && otherWaits(clocks, waits)) },
    returns: { ...learnt(clocks), ...(!plain && lefts(clocks, waits)) },
    only: {
      clock_gettime: { which_clock: { in: changed } },
      clock_settime: { which_clock: CLOCK.wall },
      clock_adjtime: { which_clock: CLOCK.wall },
      clock_nanosleep: plain
        ? { which_clock: { in: WALL_CLOCKS }, flags: { all: ABSOLUTE } }
        : { which_clock: { in: changed } },
      futex: { op: { in: plain ? WALL_FUTEXES : TIMED_FUTEXES }, utime: { ne: 0 } },
      futex_wait: { clockid: { in: changed }, timespec: { ne: 0 } },
      futex_waitv: { clockid: { in: changed }, timeout: { ne: 0 } },
      ...(plain && {
        timerfd_settime: { flags: { all: ABSOLUTE } },
        timer_settime: { flags: { all: ABSOLUTE } },
      }),
      ...(!plain && {
        setsockopt: { level: SOL_SOCKET, optname: { in: SOCKET_TIMEOUTS } },
        setitimer: { which: ITIMER_REAL },
        getitimer: { which: ITIMER_REAL },
      }),
    },
  };
}

/** Reading and setting clocks. The program sets its own clock, never the machine's. */
function readings(clocks: Clocks): EntryHandlers {
  const set = (e: CallEvent, moment: Moment | undefined): Verdict | undefined => {
    if (!moment) return undefined; // the kernel returns its own error for that
    if (e.process.uid !== 0) return deny("only root may set clocks", "EPERM");
    clocks.setWall(moment);
    return emulate(0);
  };
  const adjust = (bytes: Uint8Array | undefined) =>
    bytes && Buffer.from(bytes.buffer, bytes.byteOffset).readUInt32LE() !== 0
      ? deny("the program may not set the machine's clock", "EPERM")
      : undefined;
  return {
    clock_gettime({ args: { which_clock } }) {
      if (!clocks.knows(which_clock)) return undefined;
      return emulate(0, { outputs: { tp: momentBytes([clocks.now(which_clock)]) } });
    },
    gettimeofday: (e) =>
      emulate(0, {
        outputs: {
          ...(e.argument(0) !== 0n && { tv: momentBytes([clocks.now(CLOCK.wall)], UNIT.timeval) }),
          ...(e.argument(1) !== 0n && { tz: Buffer.alloc(8) }),
        },
      }),
    time(e) {
      const now = clocks.now(CLOCK.wall);
      const tloc = momentBytes([now]).subarray(0, 8);
      return emulate(now[0], { outputs: e.argument(0) === 0n ? {} : { tloc } });
    },
    clock_settime: (e) => set(e, readMoment(e.args.tp)),
    settimeofday: (e) => set(e, readMoment(e.args.tv, 0, UNIT.timeval)),
    adjtimex: (e) => adjust(e.args.txc_p),
    clock_adjtime: (e) => adjust(e.args.tx),
  };
}

/** Clocks known from their first reading, and other calls that return a time. */
function learnt(clocks: Clocks): ReturnHandlers {
  const timex = (e: ReturnEvent, name: string, bytes: Uint8Array | undefined) => {
    if (e.result < 0 || !bytes) return undefined;
    const told = Buffer.from(bytes);
    told.set(momentBytes([clocks.now(CLOCK.wall)], UNIT.timeval), TIMEX_TIME);
    return emulate(e.resultExact, { outputs: { [name]: told } });
  };
  return {
    clock_gettime(e) {
      const { which_clock, tp } = e.args;
      const reading = e.result === 0 ? readMoment(tp) : undefined;
      if (!reading) return undefined;
      clocks.learn(which_clock, reading, e.time);
      return emulate(0, { outputs: { tp: momentBytes([clocks.now(which_clock)]) } });
    },
    adjtimex: (e) => timex(e, "txc_p", e.args.txc_p),
    clock_adjtime: (e) => timex(e, "tx", e.args.tx),
  };
}

/** At real speed, only waits until a wall-clock time must be adjusted. */
function waitsByWallClock(clocks: Clocks, waits: Waits): EntryHandlers {
  return {
    clock_nanosleep({ args: { which_clock, flags, rqtp } }) {
      return flags & ABSOLUTE
        ? waits.until({ name: "which_clock", is: which_clock }, "rqtp", rqtp)
        : waits.relative("rqtp", rqtp);
    },
    futex: (e) => timedFutex(clocks, e),
    futex_wait: ({ args: { clockid, timespec } }) =>
      waits.until({ name: "clockid", is: clockid }, "timespec", timespec),
    futex_waitv: ({ args: { clockid, timeout } }) =>
      waits.until({ name: "clockid", is: clockid }, "timeout", timeout),
    timerfd_settime: (e) => waits.timer("utmr", e.args.flags, e.args.utmr),
    timer_settime: (e) => waits.timer("new_setting", e.args.flags, e.args.new_setting),
    mq_timedsend: (e) => waits.untilWall("abs_timeout", e.args.abs_timeout),
    mq_timedreceive: (e) => waits.untilWall("abs_timeout", e.args.abs_timeout),
  };
}

/** At another speed, all waits are shortened or prolonged, and the counter follows the clocks. */
function otherWaits(clocks: Clocks, waits: Waits): EntryHandlers {
  const counter = (e: InstructionEvent) => emulate(clocks.counter(e.value!));
  return {
    nanosleep: (e) => waits.relative("rqtp", e.args.rqtp),
    poll: (e) => waits.milliseconds("timeout", e.args.timeout),
    epoll_wait: (e) => waits.milliseconds("timeout", e.args.timeout),
    epoll_pwait: (e) => waits.milliseconds("timeout", e.args.timeout),
    epoll_pwait2: (e) => waits.relative("timeout", e.args.timeout),
    ppoll: (e) => waits.relative("tsp", e.args.tsp),
    pselect6: (e) => waits.relative("tsp", e.args.tsp),
    select: (e) => waits.relative("tvp", e.args.tvp, UNIT.timeval),
    rt_sigtimedwait: (e) => waits.relative("uts", e.args.uts),
    semtimedop: (e) => waits.relative("timeout", e.args.timeout),
    recvmmsg: (e) => waits.relative("timeout", e.args.timeout),
    io_getevents: (e) => waits.relative("timeout", e.args.timeout),
    io_pgetevents: (e) => waits.relative("timeout", e.args.timeout),
    setsockopt: (e) => waits.relative("optval", e.args.optval, UNIT.timeval),
    alarm: (e) => waits.seconds("seconds", e.args.seconds),
    setitimer: (e) => waits.itimer("value", e.args.value),
    "instruction:rdtsc": counter,
    "instruction:rdtscp": counter,
  };
}

/** Remaining times that the kernel returns are in real time. */
function lefts(clocks: Clocks, waits: Waits): ReturnHandlers {
  const interrupted = (e: ReturnEvent, bytes: Uint8Array | undefined) =>
    INTERRUPTED.has(e.result) ? waits.left(e, "rmtp", bytes) : undefined;
  const timer = (
    e: ReturnEvent,
    name: string,
    bytes: Uint8Array | undefined,
    unit: number = UNIT.timespec,
  ) => (e.result < 0 ? undefined : waits.left(e, name, bytes, 2, unit));
  return {
    nanosleep: (e) => interrupted(e, e.args.rmtp),
    clock_nanosleep: (e) => (e.args.flags & ABSOLUTE ? undefined : interrupted(e, e.args.rmtp)),
    ppoll: (e) => waits.left(e, "tsp", e.args.tsp),
    pselect6: (e) => waits.left(e, "tsp", e.args.tsp),
    select: (e) => waits.left(e, "tvp", e.args.tvp, 1, UNIT.timeval),
    recvmmsg: (e) => waits.left(e, "timeout", e.args.timeout),
    timerfd_settime: (e) => timer(e, "otmr", e.args.otmr),
    timerfd_gettime: (e) => timer(e, "otmr", e.args.otmr),
    timer_settime: (e) => timer(e, "old_setting", e.args.old_setting),
    timer_gettime: (e) => timer(e, "setting", e.args.setting),
    setitimer: (e) => timer(e, "ovalue", e.args.ovalue, UNIT.timeval),
    getitimer: (e) => timer(e, "value", e.args.value, UNIT.timeval),
    alarm: (e) => emulate(Math.ceil(e.result * clocks.speed)),
    times: (e) => (e.result < 0 ? undefined : emulate(clocks.count(e.result, TICKS))),
    sysinfo(e) {
      if (e.result < 0 || !e.args.info) return undefined;
      const info = Buffer.from(e.args.info);
      info.writeBigInt64LE(BigInt(clocks.count(Number(info.readBigInt64LE()), 1)));
      return emulate(0, { outputs: { info } });
    },
  };
}
