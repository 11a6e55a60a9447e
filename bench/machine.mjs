import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { cpus, loadavg, release, totalmem } from "node:os";
import { root } from "./tools.mjs";

/** Where the figures were measured. */
export function machine() {
  return {
    kernel: release(),
    system: systemName(),
    node: process.version,
    cpu: cpus()[0]?.model.trim() ?? "unknown",
    cpus: cpus().length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    load: loadavg().map((value) => Math.round(value * 100) / 100),
    commit: commit(),
  };
}

function systemName() {
  try {
    return /^PRETTY_NAME="?([^"\n]*)/m.exec(readFileSync("/etc/os-release", "utf8"))?.[1] ?? "Linux";
  } catch {
    return "Linux";
  }
}

function commit() {
  try {
    const git = (...words) => execFileSync("git", ["-C", root, ...words], { encoding: "utf8" }).trim();
    return (
      git("rev-parse", "--short", "HEAD") + (git("status", "--porcelain", "-uno") === "" ? "" : ", changed")
    );
  } catch {
    return undefined; // not a git checkout
  }
}
