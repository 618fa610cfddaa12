import type { Html } from "./html.ts";

/** A page's worth of one thing. */
export type Guide = {
  readonly id: string;
  readonly title: string;
  /** `baseUrl`: where the reader reaches us. */
  readonly write: (baseUrl: string) => Html;
};
