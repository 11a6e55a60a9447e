import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const ELEMENTS = 2000;

export const chromium = {
  name: "chromium",
  about: "chromium --headless --dump-dom of a page of 2,000 elements",
  needs: ["chromium"],
  prepare: ({ workspace }) =>
    writeFileSync(
      join(workspace, "page.html"),
      `<body><script>for (let i = 0; i < ${ELEMENTS}; i++) document.body.append(document.createElement("p"));</script>`,
    ),
  reset: ({ workspace }) => rmSync(join(workspace, "profile"), { recursive: true, force: true }),
  argv: ({ workspace }) => [
    ...[
      "chromium",
      "--headless",
      "--no-sandbox",
      "--disable-gpu",
      "--disable-dev-shm-usage",
      "--no-first-run",
    ],
    ...[
      `--user-data-dir=${join(workspace, "profile")}`,
      "--dump-dom",
      `file://${join(workspace, "page.html")}`,
    ],
  ],
};
