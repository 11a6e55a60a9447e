import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { HermesError } from "../../../nouns/errors.js";
import type { RunOrder } from "../backend.js";
import { RemoteBackend } from "../remote/backend.js";
import type { RemoteLink } from "../remote/link.js";
import { removeScratch, scratchFolder } from "../scratch.js";
import { runArguments } from "./command.js";
import { aroundHybridCgroups, type ContainerEngine, chooseEngine } from "./engine.js";
import { findPackage, type HermesPackage } from "./package.js";
import { type ContainerPlan, type OciSection, planFor, surroundingsOf } from "./plan.js";
import { composeRoot } from "./root.js";
import { specFor } from "./spec.js";

/** Runs each command in a new container, with HERMES inside it. */
export class OciBackend extends RemoteBackend {
  readonly name = "oci";
  readonly #section: OciSection;
  readonly #engine: ContainerEngine;
  #package: HermesPackage | undefined;

  constructor(section: OciSection) {
    super();
    this.#engine = chooseEngine(section);
    const alone = this.#engine.name === "crun" || this.#engine.name === "runc";
    this.#section = alone ? { ...section, network: "none" } : section;
  }

  protected async connect(order: RunOrder): Promise<RemoteLink> {
    this.#package ??= findPackage();
    const name = `hermes-${process.pid}-${randomBytes(6).toString("hex")}`;
    const plan = planFor(order, this.#section, name, this.#package);
    const container = await containerOf(this.#engine, plan);
    const [program, ...words] = aroundHybridCgroups(this.#engine.name, container.run);
    const child = spawn(program!, words, { stdio: ["pipe", "pipe", "pipe"] });
    return {
      process: child,
      where: `a container of ${this.#engine.name}`,
      order,
      home: "ours",
      credentials: [],
      surroundings: surroundingsOf(plan),
      explain: (code, stderr) =>
        `${this.#engine.name} ended with status ${code ?? "?"}${stderr && `: ${stderr}`}`,
      sever: async () => {
        const [remove, ...rest] = aroundHybridCgroups(this.#engine.name, container.remove);
        await new Promise((resolve) =>
          spawn(remove!, rest, { stdio: "ignore" }).once("close", resolve).once("error", resolve),
        );
        child.kill("SIGKILL");
      },
      release: () => container.release(),
    };
  }
}

interface Container {
  /** Resolves when the container has ended. */
  readonly run: readonly string[];
  /** Kills it. */
  readonly remove: readonly string[];
  release(): Promise<void>;
}

async function containerOf(engine: ContainerEngine, plan: ContainerPlan): Promise<Container> {
  if ("image" in engine)
    return {
      run: [engine.name, ...runArguments(engine.name, engine.image, plan)],
      remove: [engine.name, "rm", "--force", plan.name],
      release: async () => {},
    };
  const folder = await scratchFolder();
  try {
    const limits = plan.user.uid === 0 ? "set" : "none";
    const spec = specFor(plan, composeRoot(engine.rootfs, folder, plan), limits);
    writeFileSync(join(folder, "config.json"), JSON.stringify(spec));
  } catch (error) {
    await removeScratch(folder);
    if (error instanceof HermesError) throw error;
    const { message } = error as Error;
    throw new HermesError("BACKEND", { where: "a container", message }, { cause: error });
  }
  const manager =
    engine.name === "crun" ? [`--cgroup-manager=${plan.user.uid === 0 ? "cgroupfs" : "disabled"}`] : [];
  const command = [engine.name, "--root", join(folder, "state"), ...manager];
  return {
    run: [...command, "run", "--bundle", folder, plan.name],
    remove: [...command, "delete", "--force", plan.name],
    release: () => removeScratch(folder),
  };
}
