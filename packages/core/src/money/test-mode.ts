import type { Balance } from "./balance.ts";
import { credits } from "./credits.ts";

/** The balance that every test key sees. No request with a test key changes it. */
export const TEST_BALANCE: Balance = {
  available: credits(1_000),
  held: credits(0),
  spent: credits(0),
  granted: credits(1_000),
  debited: credits(0),
  refunded: credits(0),
  lowThreshold: credits(0),
};
