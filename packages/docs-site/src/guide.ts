import type { Html, Sample } from "./html.ts";
import type { Call } from "./snippets.ts";

/** A request in the languages of a page. */
export type WriteSnippets = (baseUrl: string, call: Call) => readonly Sample[];

/** A guide of the manual. */
export type Guide = {
  readonly id: string;
  readonly title: string;
  /** What it is about, for a list of all guides. */
  readonly summary: string;
  /** `baseUrl`: the service's URL for the reader. */
  readonly write: (baseUrl: string, snippets: WriteSnippets) => Html;
};
