import { createFallbackHandler } from "../fallback-route.ts";

export const handler = createFallbackHandler();
