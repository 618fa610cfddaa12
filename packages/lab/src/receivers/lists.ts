import { LAB_FAMILY_NAMES, LAB_GIVEN_NAMES } from "../person-names.ts";
import type { Expectation, Verdict } from "./receiver.ts";

// Addresses for the scenarios: `isExistingMailbox` decides by each local part whether it exists.

const listNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => {
    const given = LAB_GIVEN_NAMES[index % LAB_GIVEN_NAMES.length] ?? "";
    const family = LAB_FAMILY_NAMES[Math.floor(index / LAB_GIVEN_NAMES.length)] ?? "";
    return `${given}.${family}`;
  });

export const expectExisting = (
  count: number,
  domain: string,
  ...verdicts: readonly Verdict[]
): readonly Expectation[] =>
  listNames(count).map((name): Expectation => [`${name}@${domain}`, ...verdicts]);

export const expectUnknown = (
  count: number,
  domain: string,
  ...verdicts: readonly Verdict[]
): readonly Expectation[] =>
  listNames(count).map((name): Expectation => [`unknown.${name}@${domain}`, ...verdicts]);

/** Returns names such as "company-001.…" and "company-002.…". */
export const numberDomains = (count: number, label: string, parent: string): readonly string[] =>
  Array.from(
    { length: count },
    (_, index) => `${label}-${String(index + 1).padStart(3, "0")}.${parent}`,
  );

export const expectRefusal = (domain: string): readonly Expectation[] => [
  [`ada.lovelace@${domain}`, "valid accepted"],
  [`unknown.person@${domain}`, "invalid mailbox_not_found"],
];
