import { createFallbackHandler } from "../unrouted.ts";

export const handler = createFallbackHandler();
