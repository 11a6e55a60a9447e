import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BusyboxRoot } from "./image.js";

/** A store of podman's own, with one image; set up for this process by the variables that podman reads. */
export class PodmanStore {
  readonly image = "localhost/hermes-test:1";
  readonly #folder = mkdtempSync(join(tmpdir(), "hermes-podman-"));
  readonly #before = { ...process.env };

  constructor() {
    const file = (name: string, text: string) => {
      writeFileSync(join(this.#folder, name), text);
      return join(this.#folder, name);
    };
    process.env.CONTAINERS_STORAGE_CONF = file(
      "storage.conf",
      `[storage]\ndriver = "vfs"\ngraphroot = "${this.#folder}/graph"\nrunroot = "${this.#folder}/run"\n`,
    );
    // The limits of a container are not the business of this machine's systemd.
    process.env.CONTAINERS_CONF = file(
      "containers.conf",
      '[engine]\ncgroup_manager = "cgroupfs"\nevents_logger = "none"\n',
    );
    const root = new BusyboxRoot();
    const archive = join(this.#folder, "root.tar");
    execFileSync("tar", ["-C", root.path, "-cf", archive, "."]);
    root.remove();
    execFileSync("podman", ["import", "--quiet", archive, this.image], { stdio: "pipe" });
  }

  remove(): void {
    process.env = this.#before;
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
