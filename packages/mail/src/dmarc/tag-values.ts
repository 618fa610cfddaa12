import { listRepeated } from "../tag-list.ts";

const createValueTest =
  (values: RegExp) =>
  (value: string): boolean =>
    values.test(value);

/** RFC 9989 §4.7 allows each option once, and only one of 0 and 1. RFC 7489 allowed any combination. */
const areFailureOptions = (value: string): boolean => {
  const options = value.split(":").map((option) => option.trim().toLowerCase());
  const areDefined = options.every((option) => /^[01ds]$/.test(option));
  return (
    areDefined &&
    listRepeated(options).length === 0 &&
    !["0", "1"].every((one) => options.includes(one))
  );
};

/** The tags with a fixed set of values, and how receivers read any other value (RFC 9989 §4.8). */
export const TAG_VALUES: readonly (readonly [
  tag: string,
  isValue: (value: string) => boolean,
  readAs: string,
])[] = [
  ["adkim", createValueTest(/^[rs]$/i), "r (relaxed)"],
  ["aspf", createValueTest(/^[rs]$/i), "r (relaxed)"],
  ["fo", areFailureOptions, "0 (SPF and DKIM fail)"],
  ["t", createValueTest(/^[yn]$/i), "n (policy in full)"],
  ["psd", createValueTest(/^[ynu]$/i), "u (not known)"],
];
