export type Element = {
  readonly tag: string;
  readonly attributes: string;
  readonly children: Node[];
};
export type Node = Element | string;

const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s[^<>]*?)?)(\/?)>/gi;
const VOID: readonly string[] = ["br", "hr", "img", "input", "link", "meta", "wbr"];

export const parse = (markup: string): Element => {
  const root: Element = { tag: "", attributes: "", children: [] };
  const open = [root];
  const add = (node: Node) => open.at(-1)?.children.push(node);
  let at = 0;
  for (const found of markup.matchAll(TAG)) {
    const [whole, isEnd, tag = "", attributes = "", isClosed] = found;
    if (found.index > at) add(markup.slice(at, found.index));
    at = found.index + whole.length;
    if (isEnd) open.pop();
    else {
      const element = { tag, attributes, children: [] };
      add(element);
      if (!isClosed && !VOID.includes(tag)) open.push(element);
    }
  }
  add(markup.slice(at));
  return root;
};

export const decode = (text: string): string =>
  text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&amp;", "&");
