import { unrouted } from "../unrouted.ts";

export const handler = unrouted();
