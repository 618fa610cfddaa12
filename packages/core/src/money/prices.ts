import { credits } from "./credits.ts";

/** The price of each operation. */
export const PRICES = {
  verify: credits(1),
  verifyCached: credits(0.5),
  /** Control of the address is proven. */
  verifyControlled: credits(0.5),
  batchAddress: credits(1),
  fileAddress: credits(1),
  find: credits(5),
  deliverabilityCheck: credits(10),
  mailTest: credits(2),
} as const;
