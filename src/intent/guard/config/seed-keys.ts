import type { SourceNode } from "../../../nouns/yaml/source.js";

type Pair = NonNullable<SourceNode["pairs"]>[number];

/** The older name of `approvals.allow`, at the top of the file. */
const ALLOWLIST = "permanent_allowlist";

/** The document with older keys under the names that they have now. Every value keeps its place, for messages. */
export function withCurrentKeys(root: SourceNode | undefined): SourceNode | undefined {
  const list = root?.pairs?.find(({ key }) => key === ALLOWLIST);
  if (!root?.pairs || !list) return root;
  const others = root.pairs.filter((pair) => pair !== list);
  const approvals = others.find(({ key }) => key === "approvals");
  if (approvals && approvals.node.pairs === undefined) return root;
  const { at } = list;
  const section: Pair = approvals ?? { key: "approvals", at, node: { at, pairs: [] } };
  const allow = section.node.pairs!.find(({ key }) => key === "allow");
  if (list.node.items === undefined || (allow && allow.node.items === undefined)) return root;
  const joined: Pair = {
    key: "allow",
    at,
    node: { at: list.node.at, items: [...(allow?.node.items ?? []), ...list.node.items] },
  };
  const pairs = [...section.node.pairs!.filter((pair) => pair !== allow), joined];
  return {
    ...root,
    pairs: [...others.filter((pair) => pair !== approvals), { ...section, node: { ...section.node, pairs } }],
  };
}
