import { spawnSync } from "node:child_process";
import { printTable } from "./print.mjs";
import { hermes } from "./tools.mjs";

/** The goal in microseconds, as a row for comparison. */
const GOAL = 40;
const GOALS = [{ subject: "warm", against: "40 µs", atMost: 1 }];

/** The cost of unwinding 20 frames of an unmodified python3: repeatedly, and the first time. */
export function unwind({ rounds }) {
  const samples = new Map([
    ["40 µs", []],
    ["warm", []],
    ["cold", []],
  ]);
  for (let i = 0; i < rounds; i++) {
    const [command, ...args] = hermes("auto", "unwind");
    const { stderr } = spawnSync(command, [...args, "/usr/bin/python3", "-c", "print(1)"], {
      encoding: "utf8",
    });
    const line = stderr.split("\n").find((text) => text.startsWith('{"frames":20'));
    if (!line) throw new Error(`the stack of python3 has no 20 frames: ${stderr}`);
    const { micros, coldMicros } = JSON.parse(line);
    samples.get("40 µs").push(GOAL);
    samples.get("warm").push(micros);
    samples.get("cold").push(coldMicros);
  }
  const about = { name: "a stack of 20 frames", ours: "warm", bare: "40 µs", peers: [] };
  return printTable("a stack of 20 frames", "µs", samples, GOALS, about);
}
