import { options, type VNode } from "preact";

interface StandIn {
  readonly element: ChildNode;
  /** What the text was when it was replaced. */
  readonly text: string | null;
}

/** What a translation has put in the place of a text. */
const standIns = new WeakMap<Node, StandIn>();

/**
 * Keeps the page alive when a browser translates it. Translations replace texts by elements, and Preact would go on to
 * write to what is no longer shown. A text that changes comes back, for the browser to translate anew.
 */
export function surviveTranslation(): void {
  new MutationObserver((records) => {
    for (const record of records) for (const node of record.removedNodes) noteStandIn(node, record);
  }).observe(document.body, { childList: true, subtree: true });
  const { diffed, unmount } = options;
  options.diffed = (vnode) => {
    const [node, standIn] = standInOf(vnode);
    if (node && standIn && node.textContent !== standIn.text) standIn.element.replaceWith(node);
    diffed?.(vnode);
  };
  options.unmount = (vnode) => {
    standInOf(vnode)[1]?.element.remove();
    unmount?.(vnode);
  };
  // Preact places new nodes before texts.
  const { insertBefore } = Node.prototype;
  // Some callers leave the second argument out.
  Node.prototype.insertBefore = function <T extends Node>(node: T, before?: Node | null): T {
    const standIn = before && before.parentNode !== this ? standIns.get(before) : undefined;
    return insertBefore.call(this, node, standIn?.element ?? before ?? null) as T;
  };
}

function noteStandIn(node: Node, { addedNodes, previousSibling, nextSibling }: MutationRecord): void {
  if (node.nodeType !== Node.TEXT_NODE || node.isConnected) return;
  const element = [...addedNodes, previousSibling, nextSibling].find((near) => near?.nodeName === "FONT");
  if (element) standIns.set(node, { element: element as ChildNode, text: node.textContent });
}

/** `__e` is the node of a rendered text or element in Preact's builds. */
function standInOf(vnode: VNode): [Node | null, StandIn | undefined] {
  const node = (vnode as VNode & { __e?: Node | null }).__e ?? null;
  return [node, node === null ? undefined : standIns.get(node)];
}
