import { addMs, DAY_MS, HOUR_MS, MINUTE_MS } from "@mailproof/core/lib/time";
import { credits } from "@mailproof/core/money/credits";
import * as v from "valibot";
import { matching, numeric, passing } from "../environment.ts";

export const Amount = v.pipe(
  matching(/^\d{1,12}(\.[05])?$/, "must be a number of credits such as 100 or 0.5"),
  v.transform((text) => credits(Number(text))),
);

export const GrantAmount = v.pipe(
  matching(/^-?\d{1,12}(\.[05])?$/, "must be a number of credits such as 100, 0.5 or -5"),
  v.transform((text) => credits(Number(text))),
  v.check((amount) => amount !== 0, "must not be 0"),
);

const UNITS_MS: Readonly<Record<string, number>> = { m: MINUTE_MS, h: HOUR_MS, d: DAY_MS };
const DURATION = /^(\d{1,4})([mhd])$/;

const toDurationMs = (text: string): number => {
  const [, count = "0", unit = "m"] = DURATION.exec(text) ?? [];
  return Number(count) * (UNITS_MS[unit] ?? 0);
};

export const Duration = v.pipe(
  matching(DURATION, "must be a time such as 30m, 24h or 7d; 0m is at once"),
  v.transform(toDurationMs),
);

const DATE = /^\d{4}-\d{2}-\d{2}$/;

export const Expiry = passing(
  (text) => DURATION.test(text) || DATE.test(text),
  "must be a time such as 90d, or a date such as 2027-01-31",
);

export const toExpiryDate = (text: string, now: Date): Date =>
  DURATION.test(text) ? addMs(now, toDurationMs(text)) : new Date(`${text}T00:00:00.000Z`);

export const Limit = numeric(/^(?:[1-9]\d{0,2}|1000)$/, "must be a number from 1 to 1000");
