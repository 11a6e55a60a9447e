import { type RunnerTask, TestRunner } from "vitest";
import { QUARANTINE } from "./quarantine.js";
import { removeReachable } from "./reachable.js";

/** Gives a second try to the tests in quarantine, and to no other. Removes what a test file leaves: its process is killed. */
export default class QuarantineRunner extends TestRunner {
  override async onBeforeRunTask(task: RunnerTask): Promise<void> {
    if (QUARANTINE.some(({ file, test }) => task.file.name === file && task.fullTestName === test))
      task.retry = 1;
    await super.onBeforeRunTask(task);
  }

  override onAfterRunFiles(): void {
    super.onAfterRunFiles();
    removeReachable();
  }
}
