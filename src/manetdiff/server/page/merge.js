// States as they come from the server, with nodes and links in maps; and deltas merged into them.

/** A link is known by (source, target). JSON keeps any two ids apart, whatever characters they hold. */
export const linkKey = (source, target) => JSON.stringify([source, target]);

export function fromSnapshot(state) {
  return {
    ...state,
    nodes: new Map(state.nodes.map((node) => [node.id, node])),
    links: new Map(state.links.map((link) => [linkKey(link.source, link.target), link])),
  };
}

/** Nodes and links of a delta are those that are new or changed; every other key replaces what was there. */
export function merged(state, { gone = [], unlinked = [], ...delta }) {
  const { nodes, links } = state;
  for (const id of gone) nodes.delete(id);
  for (const [source, target] of unlinked) links.delete(linkKey(source, target));
  for (const node of delta.nodes) nodes.set(node.id, node);
  for (const link of delta.links) links.set(linkKey(link.source, link.target), link);
  return { ...state, ...delta, nodes, links };
}

/** The link between two nodes, in either order. */
export function linkBetween(state, a, b) {
  return state.links.get(linkKey(a, b)) ?? state.links.get(linkKey(b, a)) ?? null;
}

/** Whether any link of a list of pairs joins these two, in either order. */
export function listed(pairs, a, b) {
  return pairs.some(([one, other]) => (one === a && other === b) || (one === b && other === a));
}
