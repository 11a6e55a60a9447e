import { expect, it, vi } from "vitest";
import * as output from "../../src/cli/views/output.js";
import { Progress } from "../../src/cli/views/progress.js";

it("shows one line on a terminal, after a second, and takes it away", () => {
  const said = vi.spyOn(output, "say").mockImplementation(() => {});
  const progress = new Progress("records", { terminal: true, now: 0 });
  progress.show("early", 999);
  expect(said).not.toHaveBeenCalled();
  progress.show("1,024 records", 1000);
  progress.show("too soon after", 1100);
  expect(said.mock.calls).toEqual([["\r\u001b[Khermes: 1,024 records"]]);
  progress.clear();
  progress.clear();
  expect(said).toHaveBeenCalledTimes(2);

  said.mockClear();
  const elsewhere = new Progress("records", { terminal: false, now: 0 });
  elsewhere.show("never", 5000);
  for (let i = 0; i < 1000; i++) elsewhere.step();
  elsewhere.clear();
  expect(said).not.toHaveBeenCalled();
});
