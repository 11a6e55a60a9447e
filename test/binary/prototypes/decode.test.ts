import { describe, expect, it } from "vitest";
import { CallReader, Prototypes } from "../../../src/binary/prototypes/index.js";
import { FakeCall, returned, shown } from "./support.js";

const own = (text: string) => {
  const prototypes = new Prototypes();
  prototypes.add(text, "own.h");
  return prototypes;
};

describe("a call read by its prototype", () => {
  it("has texts, numbers, names of flags and NULL", () => {
    const call = new FakeCall().with("/etc/passwd", 0o2000101, 0o644);
    expect(shown("libc!open", call, returned(3))).toEqual({
      args: { path: "/etc/passwd", flags: "O_WRONLY|O_CREAT|O_CLOEXEC", mode: "0644" },
      result: 3,
      texts: [],
    });
    expect(shown("libc!open", new FakeCall().with("HOME", 0)).args).toEqual({
      path: "HOME",
      flags: "O_RDONLY",
    });
    expect(shown("libc!getenv", new FakeCall().with("HOME"), returned(0))).toEqual({
      args: { name: "HOME" },
      result: null,
      texts: ["name"],
    });
    expect(shown("libc!kill", new FakeCall().with(-1, 9)).args).toEqual({ pid: -1, sig: "SIGKILL" });
  });

  it("has buffers as long as another argument or the result says", () => {
    const call = () => new FakeCall().with(3, Buffer.from("abcdef\0\0"), 4096);
    expect(shown("libc!read", call(), returned(3)).args).toEqual({ fd: 3, buf: "abc", count: 4096 });
    expect(shown("libc!read", call()).args.buf).toBe("0x10000");
    expect(shown("libc!read", call(), returned(-1)).args.buf).toBe("0x10000");
    expect(shown("libc!write", new FakeCall().with(1, Buffer.alloc(100, "x"), 100)).args.buf).toEqual({
      start: "x".repeat(32),
      length: 100,
    });
    const ex = new FakeCall().with(0x5550, Buffer.from("secret"), 100, Buffer.from([6, 0, 0, 0, 0, 0, 0, 0]));
    expect(shown("libssl!SSL_read_ex", ex, returned(1)).args).toMatchObject({ buf: "secret", got: 6 });
  });

  it("has structs by pointer with named fields, and lists of texts", () => {
    const time = Buffer.alloc(16);
    time.writeBigInt64LE(5n, 0);
    time.writeBigInt64LE(7n, 8);
    expect(shown("libc!clock_gettime", new FakeCall().with(1, time), returned(0)).args).toEqual({
      clock: "CLOCK_MONOTONIC",
      time: { tv_sec: 5, tv_nsec: 7 },
    });
    const call = new FakeCall().with("/bin/ls");
    const words = Buffer.alloc(24);
    words.writeBigUInt64LE(call.put("ls"), 0);
    words.writeBigUInt64LE(call.put("-l"), 8);
    expect(shown("libc!execv", call.with(words)).args).toEqual({ path: "/bin/ls", argv: ["ls", "-l"] });
    const ip = Buffer.from([2, 0, 0, 80, 127, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0]);
    expect(shown("libc!connect", new FakeCall().with(3, ip, 16)).args.address).toBe("127.0.0.1:80");
  });

  it("has what a printf prints, by its format, from registers, the stack and a va_list", () => {
    const call = new FakeCall().with(
      "%s is %d of %5.2f%% %c %lu\n",
      "one",
      -1,
      { float: 2.5 },
      65,
      2n ** 63n,
    );
    expect(shown("libc!printf", call).args).toEqual({
      format: "%s is %d of %5.2f%% %c %lu\n",
      "...": ["one", -1, 2.5, "'A'", String(2n ** 63n)],
    });
    const many = new FakeCall().with("%d %d %d %d %d %d %d", 1, 2, 3, 4, 5, 6, 7);
    expect(shown("libc!printf", many).args["..."]).toEqual([1, 2, 3, 4, 5, 6, 7]);
    const list = new FakeCall().with("%d %s");
    const area = Buffer.alloc(176);
    area.writeBigInt64LE(42n, 8);
    area.writeBigUInt64LE(list.put("x"), 16);
    const head = Buffer.alloc(24);
    head.writeUInt32LE(8, 0);
    head.writeUInt32LE(48, 4);
    head.writeBigUInt64LE(list.put(area), 16);
    expect(shown("libc!vprintf", list.with(head)).args["..."]).toEqual([42, "x"]);
    const part = new FakeCall().with("%.*s", 2, "abcdef");
    expect(shown("libc!printf", part).args["..."]).toEqual([2, "ab"]);
    const scan = new FakeCall().with("7 8", "%d %d", Buffer.from([7, 0, 0, 0]), Buffer.from([8, 0, 0, 0]));
    expect(shown("libc!sscanf", scan, returned(1)).args["..."]).toEqual([7, "0x40000"]);
  });

  it("has doubles, floats and structs in the registers where the ABI puts them", () => {
    const call = new FakeCall().with({ float: 1.5 }, { float: 2 });
    expect(shown("libm!pow", call, returned(0, 2.25))).toMatchObject({
      args: { x: 1.5, y: 2 },
      result: 2.25,
    });
    const prototypes = own(`
      struct point { double x; int y; };
      struct large { long a[4]; };
      float scale(struct point p, long n, float f);
      struct large make(int n);
    `);
    const bits = Buffer.alloc(8);
    bits.writeFloatLE(0.5);
    const frame = new FakeCall().with(7, 9, { float: 1.25 });
    frame.vectors.push(bits.readBigUInt64LE());
    expect(shown("app!scale", frame, undefined, prototypes).args).toEqual({
      p: { x: 1.25, y: 7 },
      n: 9,
      f: 0.5,
    });
    expect(shown("app!make", new FakeCall().with(0x1000, 5), undefined, prototypes).args).toEqual({ n: 5 });
  });

  it("knows which results are failures", () => {
    const failed = (name: string, result: number | bigint) => {
      const [module, symbol] = name.split("!") as [string, string];
      const prototype = new Prototypes().of(module, symbol)!;
      return new CallReader(prototype, new FakeCall(), 32, returned(result)).failed(returned(result));
    };
    expect(failed("libc!open", -1)).toBe(true);
    expect(failed("libc!open", 0xffffffffn)).toBe(true);
    expect(failed("libc!open", 3)).toBe(false);
    expect(failed("libc!fopen", 0)).toBe(true);
    expect(failed("libc!pthread_create", 11)).toBe(true);
    expect(failed("libz!inflate", -3)).toBe(true);
    expect(failed("libz!inflate", 1)).toBe(false);
    expect(failed("libssl!SSL_write", 0)).toBe(true);
  });

  it("survives pointers to nowhere and absurd lengths", () => {
    expect(shown("libc!write", new FakeCall().with(1, 0x999999n, 2n ** 63n)).args.buf).toBe("");
    expect(shown("libc!getenv", new FakeCall().with(0x999999n), returned(5))).toMatchObject({
      args: { name: "0x999999" },
      result: "0x5",
    });
    expect(shown("libc!printf", new FakeCall().with("%s %s", 1, 2)).args["..."]).toEqual(["0x1", "0x2"]);
    expect(shown("libc!printf", new FakeCall().with("%99$d%*")).args.format).toBe("%99$d%*");
  });
});

describe("prototypes of one's own", () => {
  it("come before those that are shipped, for the library that they name", () => {
    const prototypes = own(
      "library libfoo;\nenum colour { red, green };\nint paint(enum colour c) fails -1;\nint getenv(int n);",
    );
    expect(shown("libfoo!paint", new FakeCall().with(1), undefined, prototypes).args).toEqual({ c: "green" });
    expect(prototypes.of("libbar", "paint")).toBeUndefined();
    expect(prototypes.of("libc", "getenv")!.declaration).toBe("char * getenv ( const char * name )");
  });

  it.each([
    ["int f(strange x);", 'own.h:1:7: the type "strange" is not known'],
    ["int f(int x)\nint g(void);", 'own.h:2:1: "int" is not known here'],
    ["int f(out(m) char *s, int n);", 'own.h:1:11: there is no parameter "m"'],
    ["int f(names(nothing) int n);", 'own.h:1:13: there are no flags and no enum "nothing"'],
    ["int f(int n);\n\n  int f(int n);", 'own.h:3:7: "f" is declared twice'],
    ["struct a { struct b c; };", "own.h:1:22: struct b is not known in full: it has no size"],
    ["struct a { int b : 3; };", "own.h:1:18: bit fields are not known here: use an integer"],
    ["int x;", 'own.h:1:6: "x" is no function: only functions, types and flags are declared'],
    ["int f(int @);", 'own.h:1:11: this sign is not expected here: "@"'],
    ["int (*f", "is expected here"],
  ])("say where they are wrong: %s", (text, message) => {
    expect(() => own(text)).toThrow(message);
  });

  it("are refused, not obeyed, for any content of a file", () => {
    const words = [
      "int",
      "f",
      "(",
      ")",
      "{",
      "}",
      "*",
      "[",
      "]",
      "struct",
      ";",
      ",",
      "out",
      "in",
      "7",
      "typedef",
      "names",
      "...",
    ];
    const prototypes = new Prototypes();
    let seed = 7;
    const random = () => (seed = (seed * 1103515245 + 12345) & 0x7fffffff);
    for (let i = 0; i < 3000; i++) {
      const text = Array.from({ length: random() % 20 }, () => words[random() % words.length]).join(" ");
      try {
        prototypes.add(text, "own.h");
      } catch (error) {
        expect((error as { code?: string }).code, text).toBe("PROTOTYPES");
      }
    }
  });
});
