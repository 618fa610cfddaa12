import { LAB_FAMILY_NAMES, LAB_GIVEN_NAMES } from "../person-names.ts";
import type { Expectation, Verdict } from "./receiver.ts";

// Addresses for the scenarios: `isExistingMailbox` decides of each by its local part.

const listNames = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => {
    const given = LAB_GIVEN_NAMES[index % LAB_GIVEN_NAMES.length] ?? "";
    const family = LAB_FAMILY_NAMES[Math.floor(index / LAB_GIVEN_NAMES.length)] ?? "";
    return `${given}.${family}`;
  });

/** So many people who have a mailbox. */
export const expectExisting = (
  count: number,
  domain: string,
  ...verdicts: readonly Verdict[]
): readonly Expectation[] =>
  listNames(count).map((name): Expectation => [`${name}@${domain}`, ...verdicts]);

/** So many names that do not exist. */
export const expectUnknown = (
  count: number,
  domain: string,
  ...verdicts: readonly Verdict[]
): readonly Expectation[] =>
  listNames(count).map((name): Expectation => [`unknown.${name}@${domain}`, ...verdicts]);

/** "company-001.…", "company-002.…" */
export const numberDomains = (count: number, label: string, parent: string): readonly string[] =>
  Array.from(
    { length: count },
    (_, index) => `${label}-${String(index + 1).padStart(3, "0")}.${parent}`,
  );

/** One person who exists and one who does not, at a receiver that tells them apart. */
export const expectRefusal = (domain: string): readonly Expectation[] => [
  [`ada.lovelace@${domain}`, "valid accepted"],
  [`unknown.person@${domain}`, "invalid mailbox_not_found"],
];
