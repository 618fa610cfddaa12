import { ERRORS } from "@mailproof/api/openapi/errors";
import type { OpenApi } from "@mailproof/api/openapi/openapi";
import { errors } from "./guides-money.ts";
import { toText } from "./markdown.ts";
import { GUIDES, guidePart } from "./page.ts";
import { listShapes, operationPart, operationsIn, shapesPart } from "./reference.ts";

/** A part of the manual, as the search of every page and Ctrl K of the dashboard find it. */
type SearchEntry = {
  /** Its anchor on the page of everything. */
  readonly id: string;
  /** Its own page, below /docs/. */
  readonly page: string;
  readonly title: string;
  readonly kind: "Guide" | "Operation" | "Schema" | "Error";
  readonly route?: string;
  readonly text: string;
};

/** Examples are left out: they would be the most of it, and the fields in them have their own words. */
const NO_EXAMPLES = () => [];

export const listSearchEntries = (
  document: OpenApi,
  baseUrl: string,
  toName: (id: string) => string,
): readonly SearchEntry[] => [
  ...GUIDES.map((guide) => ({
    id: guide.id,
    page: guide.id,
    title: guide.title,
    kind: "Guide" as const,
    text: toText(guidePart(guide, baseUrl, NO_EXAMPLES)),
  })),
  ...operationsIn(document).map((one) => ({
    id: one.id,
    page: toName(one.id),
    title: one.title,
    kind: "Operation" as const,
    route: `${one.method.toUpperCase()} ${one.path}`,
    text: toText(operationPart(document, baseUrl, one, NO_EXAMPLES)),
  })),
  ...Object.entries(ERRORS).map(([code, { means }]) => ({
    id: code,
    page: `${errors.id}#${code}`,
    title: code,
    kind: "Error" as const,
    text: means,
  })),
  ...listShapes(document).map((name) => ({
    id: `shape-${name}`,
    page: `schemas#shape-${name}`,
    title: name,
    kind: "Schema" as const,
    text: toText(shapesPart(document, [name])),
  })),
];
