import type { Html } from "./html.ts";

/** A guide of the manual. */
export type Guide = {
  readonly id: string;
  readonly title: string;
  /** `baseUrl`: the service's URL for the reader. */
  readonly write: (baseUrl: string) => Html;
};
