import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const MODULES = { full: 100, quick: 30 };

export const python = {
  name: "python",
  about: "python3 -m unittest of modules of 25 tests, each with files, each module with a child process",
  needs: ["python3"],
  prepare({ workspace }, size) {
    mkdirSync(join(workspace, "tests"));
    for (let i = 0; i < MODULES[size]; i++) writeFileSync(join(workspace, "tests", `test_${i}.py`), TESTS);
  },
  argv: () => ["python3", "-B", "-m", "unittest", "discover", "-q", "-s", "tests"],
};

const TESTS = `
import json, os, subprocess, tempfile, unittest

def case(i):
    def test(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "x.json")
            with open(path, "w") as f:
                json.dump({"n": list(range(2000 + i))}, f)
            with open(path) as f:
                self.assertEqual(len(json.load(f)["n"]), 2000 + i)
        if i == 0:
            self.assertEqual(subprocess.run(["true"]).returncode, 0)
    return test

class Tests(unittest.TestCase):
    pass

for i in range(25):
    setattr(Tests, f"test_{i}", case(i))
`;
