import type { Sites } from "../instrument/sites.js";
import type { Space } from "../instrument/space.js";
import { KIND } from "../kernel/layout.js";
import { ModuleFiles } from "../process/module-files.js";
import { type Module, modulesOf } from "../process/modules.js";

/** Somebody who wants to know what code a program has, before it runs. */
export interface CodeWatcher {
  execed?(tid: number): void;
  born?(tid: number): void;
  moved?(from: number, to: number): void;
  exited?(tid: number): void;
  mapped(tid: number, space: Space, module: Module): void;
}

const EXECUTABLE = new Set([9, 10, 329]);

export class Inside {
  readonly sites: Sites;
  readonly watchers: CodeWatcher[] = [];
  readonly files = new ModuleFiles();
  readonly #seen = new WeakMap<Space, Set<string>>();
  constructor(sites: Sites) {
    this.sites = sites;
  }
  wantsReturn(nr: number): boolean {
    return EXECUTABLE.has(nr);
  }
  event(kind: number, tid: number, peer: number): void {
    if (kind === KIND.born) for (const w of this.watchers) w.born?.(tid);
    else if (kind === KIND.fork) {
      this.sites.forked(tid, peer);
      const seen = this.#seen.get(this.sites.spaceOf(tid));
      if (seen) this.#seen.set(this.sites.spaceOf(peer), new Set(seen));
    } else if (kind === KIND.exec) {
      if (peer !== 0 && peer !== tid) for (const w of this.watchers) w.moved?.(peer, tid);
      this.sites.execed(tid);
    } else if (kind === KIND.exit) {
      for (const w of this.watchers) w.exited?.(tid);
      this.sites.exited(tid);
    }
  }
  returned(tid: number, nr: number): void {
    if (nr === 59 || nr === 322) for (const w of this.watchers) w.execed?.(tid);
    else if (!EXECUTABLE.has(nr)) return;
    const space = this.sites.spaceOf(tid);
    let seen = this.#seen.get(space);
    if (!seen) this.#seen.set(space, (seen = new Set()));
    for (const module of modulesOf(tid, this.files)) {
      const key = `${module.path} ${module.from}`;
      if (seen.has(key)) continue;
      seen.add(key);
      for (const w of this.watchers) w.mapped(tid, space, module);
    }
  }
}
