import type { RunOrder } from "../backend.js";

/** The order for a machine where the workspace has another path: paths inside it are translated, others are dropped. */
export function orderForWorkspace(order: RunOrder, workspace: string): RunOrder {
  const { workspace: here } = order.deed;
  const there = (path: string) =>
    path === here || path.startsWith(`${here}/`) ? workspace + path.slice(here.length) : path;
  return {
    ...order,
    cwd: there(order.cwd),
    deed: { ...order.deed, workspace, writable: order.deed.writable.map(there) },
  };
}
