import type { Module } from "../../kernel/process/modules.js";
import type { PatchedMemory } from "./patched-memory.js";

/** Another component that watches programs. It hears of their life cycle, and of new code before it runs. */
export interface Watcher {
  /** An event is about to be reported: report everything that came before it first. */
  before?(): void;
  /** A program is loaded and about to begin; reports of its code follow. */
  started?(tid: number): void;
  mapped?(tid: number, space: PatchedMemory, module: Module): void;
  /** A new thread or process that has not begun to run. */
  born?(tid: number): void;
  /** A thread that calls exec takes over the leader's tid. */
  moved?(from: number, to: number): void;
  exited?(tid: number): void;
  /** A system call has stopped at its door; the address is the one after it. */
  called?(tid: number, ip: bigint): void;
}
