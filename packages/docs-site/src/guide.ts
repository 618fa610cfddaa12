import type { Html, Sample } from "./html.ts";
import type { Call } from "./snippets.ts";

export type WriteSnippets = (baseUrl: string, call: Call) => readonly Sample[];

export type Guide = {
  readonly id: string;
  readonly title: string;
  readonly summary: string;
  readonly write: (baseUrl: string, snippets: WriteSnippets) => Html;
};
