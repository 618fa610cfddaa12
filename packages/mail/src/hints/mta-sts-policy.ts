export type MtaStsPolicy =
  | { readonly kind: "policy"; readonly mode: string; readonly mx: readonly string[] }
  | { readonly kind: "faulty"; readonly fault: string }
  | { readonly kind: "unchecked"; readonly why: string };

/** RFC 8461 §3.2: about a year. */
const AGE_SECONDS_MAX = 31_557_600;
const MODES = new Set(["enforce", "testing", "none"]);

export const createFaultyPolicy = (fault: string): MtaStsPolicy => ({ kind: "faulty", fault });

/** RFC 8461 §3.2: the first of a repeated field counts; only mx may occur several times. */
export const parsePolicy = (body: string): MtaStsPolicy => {
  const fields = body.split(/\r?\n/).map((line) => {
    const colon = line.indexOf(":");
    return { name: line.slice(0, Math.max(0, colon)).trim(), value: line.slice(colon + 1).trim() };
  });
  const valueOf = (name: string) => fields.find((field) => field.name === name)?.value ?? "";
  const mode = valueOf("mode");
  const age = valueOf("max_age");
  const mx = fields.filter(({ name }) => name === "mx").map(({ value }) => value.toLowerCase());
  if (valueOf("version") !== "STSv1") return createFaultyPolicy("its policy has no version: STSv1");
  if (!MODES.has(mode)) return createFaultyPolicy("its policy has no valid mode");
  if (!/^\d{1,10}$/.test(age) || Number(age) > AGE_SECONDS_MAX)
    return createFaultyPolicy("its policy has no valid max_age");
  if (mode !== "none" && mx.length === 0) return createFaultyPolicy("its policy names no mx");
  const invalid = mx.find((pattern) => !isPattern(pattern));
  return invalid === undefined
    ? { kind: "policy", mode, mx }
    : createFaultyPolicy(`mx: ${invalid} in its policy is neither a host name nor one below *.`);
};

/** RFC 8461 §3.2: a host name in A-labels, in which only the leftmost label may be the wildcard. */
const isPattern = (pattern: string): boolean =>
  pattern.length <= NAME_MAX && pattern.replace(/^\*\./, "").split(".").every(isLabel);

const NAME_MAX = 253;
const isLabel = (label: string): boolean => /^[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/.test(label);

/** RFC 8461 §4.1: a wildcard matches exactly the leftmost label. */
export const coversHost = (pattern: string, host: string): boolean =>
  pattern.startsWith("*.")
    ? host.includes(".") && host.slice(host.indexOf(".")) === pattern.slice(1)
    : host === pattern;
