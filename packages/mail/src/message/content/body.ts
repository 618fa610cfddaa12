import type { ParsedMessage } from "../parse/message.ts";
import type { MessagePart } from "../parse/parts.ts";
import { type HtmlContent, LINKS_MAX, readHtml } from "./html.ts";
import { analyseLinks, listTextLinks, type MessageLinks } from "./links.ts";

export type MessageBody = {
  readonly hasHtml: boolean;
  readonly hasText: boolean;
  readonly htmlBytes: number;
  readonly attachments: readonly Attachment[];
  readonly parts: readonly PartSummary[];
  readonly isCut: boolean;
  readonly images: number;
  readonly hasScript: boolean;
  readonly hasForm: boolean;
  /** Visible characters of the HTML text, or of the plain text when there is no HTML. */
  readonly textLength: number;
  readonly links: MessageLinks;
  readonly unknownCharsets: readonly string[];
  readonly hasBrokenPart: boolean;
};

export type PartSummary = Pick<MessagePart, "depth" | "type" | "charset" | "encoding" | "bytes">;

type Attachment = Pick<MessagePart, "type" | "bytes"> & { readonly filename: string | null };

const PARTS_SHOWN_MAX = 50;
const NAME_SHOWN_MAX = 200;

export const analyseBody = ({ tree }: Pick<ParsedMessage, "tree">): MessageBody => {
  const { parts, isCut } = tree;
  const inline = parts.filter(({ isAttachment }) => !isAttachment);
  const html = inline.filter(({ type }) => type === "text/html");
  const text = inline.filter(({ type }) => type === "text/plain");
  const pages = html.map((part) => readHtml(part.text ?? ""));
  const links = (
    html.length > 0
      ? pages.flatMap((page) => page.links)
      : text.flatMap((part) => listTextLinks(part.text ?? ""))
  ).slice(0, LINKS_MAX);
  return {
    hasHtml: html.length > 0,
    hasText: text.some((part) => (part.text ?? "").trim() !== ""),
    htmlBytes: html.reduce((sum, part) => sum + part.textBytes, 0),
    attachments: parts.filter(isAttached).slice(0, PARTS_SHOWN_MAX).map(toAttachment),
    parts: parts.slice(0, PARTS_SHOWN_MAX).map(summarize),
    isCut,
    images: sum(pages, (page) => page.images.length),
    hasScript: pages.some((page) => page.hasScript),
    hasForm: pages.some((page) => page.hasForm),
    textLength:
      html.length > 0
        ? sum(pages, (page) => page.textLength)
        : text.reduce((total, part) => total + (part.text ?? "").trim().length, 0),
    links: analyseLinks(links),
    unknownCharsets: [...html, ...text]
      .filter((part) => part.text === null)
      .map(({ charset }) => charset.slice(0, NAME_SHOWN_MAX)),
    hasBrokenPart: parts.some(({ isBroken }) => isBroken),
  };
};

const sum = (pages: readonly HtmlContent[], count: (page: HtmlContent) => number): number =>
  pages.reduce((total, page) => total + count(page), 0);

const isAttached = ({ type, isAttachment, filename }: MessagePart): boolean =>
  isAttachment || (filename !== null && !type.startsWith("multipart/"));

const toAttachment = ({ type, bytes, filename }: MessagePart): Attachment => ({
  type: type.slice(0, NAME_SHOWN_MAX),
  bytes,
  filename: filename?.slice(0, NAME_SHOWN_MAX) ?? null,
});

const summarize = ({ depth, type, charset, encoding, bytes }: MessagePart): PartSummary => ({
  depth,
  type: type.slice(0, NAME_SHOWN_MAX),
  charset: charset.slice(0, NAME_SHOWN_MAX),
  encoding: encoding.slice(0, NAME_SHOWN_MAX),
  bytes,
});
