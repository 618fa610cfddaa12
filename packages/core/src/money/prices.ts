import { credits } from "./credits.ts";

export const PRICES = {
  verify: credits(1),
  verifyCached: credits(0.5),
  /** The visitor proved control of the address. */
  verifyControlled: credits(0.5),
  batchAddress: credits(1),
  fileAddress: credits(1),
  find: credits(5),
  deliverabilityCheck: credits(10),
  mailTest: credits(2),
} as const;
