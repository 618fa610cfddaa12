import { getClient } from "../session.ts";
import { useLoad } from "./load.tsx";

type Operation =
  | "verify"
  | "verify_from_cache"
  | "verify_file_per_address"
  | "find"
  | "deliverability_check"
  | "mail_test";

type Prices = Readonly<Partial<Record<Operation, number>>>;

export const loadPrices = async (signal: AbortSignal): Promise<Prices> =>
  (await getClient().getCatalog({ signal })).credits_per_operation;

/** Empty while the prices load, and when they cannot be loaded: a screen works without them. */
export const usePrices = (): Prices => useLoad(loadPrices).data ?? {};
