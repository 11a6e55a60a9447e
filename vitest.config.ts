import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Tests of the kernel side start processes, threads and signals of their own: each file gets a process.
    pool: "forks",
    maxWorkers: 2,
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // Where a red run throws work away, a test that a loaded machine starved gets a second try, and is named in
    // the output. Tests of races forbid it for themselves.
    retry: process.env.CI === "true" ? 1 : 0,
  },
});
