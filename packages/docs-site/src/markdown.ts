import type { Html } from "./html.ts";

// The manual's markup as Markdown, for readers that are programs. It knows the elements that the manual uses.

type Element = {
  readonly tag: string;
  readonly attributes: string;
  readonly children: Node[];
};
type Node = Element | string;

const TAG = /<(\/?)([a-z][a-z0-9]*)((?:\s[^<>]*?)?)(\/?)>/gi;
const VOID: readonly string[] = ["br", "hr", "img", "input", "link", "meta", "wbr"];

const parse = (markup: string): Element => {
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

const getAttribute = ({ attributes }: Element, name: string): string | undefined =>
  new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1];

const decode = (text: string): string =>
  text.replaceAll("&lt;", "<").replaceAll("&quot;", '"').replaceAll("&amp;", "&");

const getText = (node: Node): string =>
  typeof node === "string" ? decode(node) : node.children.map(getText).join("");

const find = ({ children }: Element, tag: string): Element[] =>
  children.flatMap((one) =>
    typeof one === "string" ? [] : one.tag === tag ? [one] : find(one, tag),
  );

/** The content of a line. */
const toLine = (node: Node): string => {
  if (typeof node === "string") return decode(node).replaceAll(/\s+/g, " ");
  const inner = () => node.children.map(toLine).join("");
  const write = INLINE[node.tag];
  return write ? write(inner, node) : inner();
};

type Inline = (inner: () => string, node: Element) => string;

const INLINE: Readonly<Record<string, Inline>> = {
  a: (inner, node) => {
    const to = getAttribute(node, "href") ?? "";
    return getAttribute(node, "class") === "anchor" ? "" : `[${inner()}](${decode(to)})`;
  },
  b: (inner) => `**${inner()}**`,
  code: (_, node) => `\`${getText(node)}\``,
  em: (inner) => `*${inner()}*`,
  strong: (inner) => `**${inner()}**`,
  svg: () => "",
};

const toTable = (node: Element): string => {
  const rows = find(node, "tr").map((row) =>
    row.children.flatMap((cell) =>
      typeof cell === "string"
        ? []
        : [cell.children.map(toLine).join("").trim().replaceAll("|", "\\|")],
    ),
  );
  const [head = [], ...others] = rows;
  return [head, head.map(() => "---"), ...others].map((row) => `| ${row.join(" | ")} |`).join("\n");
};

const FENCES: Readonly<Record<string, string>> = { shell: "sh", "c#": "csharp", curl: "sh" };

const toFence = (node: Element, language: string): string => {
  const name = language.toLowerCase();
  return `\`\`\`${FENCES[name] ?? name}\n${getText(node).trimEnd()}\n\`\`\``;
};

/** Blocks have an empty line between them, except the entries of a list. */
const toBlocks = (children: readonly Node[], language = ""): string[] => {
  const blocks: string[] = [];
  let line = "";
  const endLine = () => {
    if (line.trim() !== "") blocks.push(line.trim());
    line = "";
  };
  for (const node of children) {
    const write = typeof node === "string" ? undefined : BLOCKS[node.tag];
    if (!write || typeof node === "string") line += toLine(node);
    else {
      endLine();
      blocks.push(...write(node, language));
    }
  }
  endLine();
  return blocks;
};

const toHeading =
  (level: number) =>
  (node: Element): string[] => [
    `${"#".repeat(level)} ${node.children.map(toLine).join("").trim()}`,
  ];

const toContainer = (node: Element, language: string): string[] =>
  toBlocks(node.children, getAttribute(node, "data-language") ?? language);

const toList = (node: Element, language: string): string[] => {
  const items = node.children.flatMap((item) =>
    typeof item === "string" ? [] : [toBlocks(item.children, language)],
  );
  const lines = items.map((blocks) => `- ${blocks.join("\n").replaceAll("\n", "\n  ")}`);
  return lines.length > 0 ? [lines.join("\n")] : [];
};

const BLOCKS: Readonly<Record<string, (node: Element, language: string) => string[]>> = {
  details: toContainer,
  div: toContainer,
  figcaption: (node) => [node.children.map(toLine).join("").trim()],
  figure: toContainer,
  h1: toHeading(1),
  h2: toHeading(2),
  h3: toHeading(3),
  h4: toHeading(4),
  p: (node) => [node.children.map(toLine).join("").trim()],
  pre: (node, language) => [toFence(node, getAttribute(node, "data-language") ?? language)],
  section: toContainer,
  summary: (node) => [`**${node.children.map(toLine).join(" ").replaceAll(/\s+/g, " ").trim()}**`],
  svg: (node) => find(node, "title").map((title) => getText(title)),
  table: (node) => [toTable(node)],
  ul: toList,
};

export const toMarkdown = ({ markup }: Html): string =>
  `${toBlocks(parse(markup).children).join("\n\n")}\n`;

/** Beside the words of a manual: what is shown in code, and in pictures. */
const isShown = ({ tag, attributes }: Element): boolean =>
  tag === "pre" || tag === "svg" || / class="(?:show|anchor)"/.test(attributes);

const toWords = (node: Node): string => {
  if (typeof node === "string") return decode(node);
  if (isShown(node)) return " ";
  const inner = node.children.map(toWords).join("");
  return node.tag === "wbr" || node.tag in INLINE ? inner : ` ${inner} `;
};

/** Its sentences alone, for a search. */
export const toText = ({ markup }: Html): string =>
  parse(markup).children.map(toWords).join("").replaceAll(/\s+/g, " ").trim();
