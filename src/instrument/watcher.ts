import type { Module } from "../process/modules.js";
import type { Space } from "./space.js";

/** Somebody else who looks into programs, and is told of their lives and of new code before it runs. */
export interface Watcher {
  /** Something has happened and is about to be told: whatever came before it is to be told first. */
  before?(): void;
  /** A program is in place and about to begin; what it has of code comes next. */
  started?(tid: number): void;
  mapped?(tid: number, space: Space, module: Module): void;
  /** A thread or process that has not begun to run. */
  born?(tid: number): void;
  /** A thread that execs takes the leader's number. */
  moved?(from: number, to: number): void;
  exited?(tid: number): void;
  /** A system call has stopped at its door; the address is the one behind it. */
  called?(tid: number, ip: bigint): void;
}
