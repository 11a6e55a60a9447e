import { describe, expect, it } from "vitest";
import { ProcessHistory, processName } from "../../../src/offline/analyze/processes.js";

/** A history in which process 10 is python3. */
function python(): ProcessHistory {
  const history = new ProcessHistory();
  history.execed({ kind: "exec", time: 0, pid: 10, tid: 10, exe: "/usr/bin/python3", argv: ["python3"] });
  return history;
}

describe("a process that is heard of before its fork", () => {
  it("has the program of its maker, also when it has ended by then", () => {
    const history = python();
    const child = history.of({ pid: 11, tid: 11, time: 1 });
    history.exited({ kind: "exit", time: 1.1, tid: 11, code: 127 });
    history.forked({ kind: "fork", time: 1.2, tid: 10, child: 11, pid: 11 });
    expect(history.all).toHaveLength(2);
    expect(processName(child)).toBe("python3");
    expect(child.parent?.pid).toBe(10);
  });

  it("is not taken for a later one with its number", () => {
    const history = python();
    history.of({ pid: 11, tid: 11, time: 1 });
    history.exited({ kind: "exit", time: 1.1, tid: 11, code: 0 });
    history.forked({ kind: "fork", time: 60, tid: 10, child: 11, pid: 11 });
    expect(history.all).toHaveLength(3);
  });
});
