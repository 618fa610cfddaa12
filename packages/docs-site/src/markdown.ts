import type { Html } from "./html.ts";
import { decode, type Element, type Node, parse } from "./markup.ts";

// Converts the manual's markup to Markdown, for readers that are programs. It knows the elements that the manual uses.

const getAttribute = ({ attributes }: Element, name: string): string | undefined =>
  new RegExp(`\\s${name}="([^"]*)"`).exec(attributes)?.[1];

const getText = (node: Node): string =>
  typeof node === "string" ? decode(node) : node.children.map(getText).join("");

const find = ({ children }: Element, tag: string): Element[] =>
  children.flatMap((one) =>
    typeof one === "string" ? [] : one.tag === tag ? [one] : find(one, tag),
  );

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

/** An empty line separates blocks, except the entries of a list. */
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
