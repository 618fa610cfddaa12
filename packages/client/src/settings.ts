import { getHostProcess } from "./host-process.ts";

/** Explicit options come first. The environment is read only for a missing option. */
const readSetting = (name: string, variable: string, given: string | undefined): string => {
  const value = given ?? getHostProcess()?.env?.[variable];
  if (value === undefined) throw new TypeError(`${name} is missing: pass it, or set ${variable}.`);
  return value;
};

/** A wrong URL would fail in every attempt of every call, long after its cause. */
export const readBaseUrl = (given: string | undefined): string => {
  const text = readSetting("baseUrl", "MAILPROOF_API", given);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:\/\/[^?#@]+$/.test(url.href)) return trimTrailingSlashes(url.href);
  throw new TypeError(
    "baseUrl must be an http or https URL such as https://api.example.com, without user name, query or fragment.",
  );
};

/** The function counts slashes, because a pattern that ends with $ would be tried at every slash. */
const trimTrailingSlashes = (text: string): string => {
  let length = text.length;
  while (text[length - 1] === "/") length--;
  return text.slice(0, length);
};

export const readKey = (given: string | undefined): string =>
  assertHeaderValue("key", readSetting("key", "MAILPROOF_KEY", given));

/** The message does not repeat the value, which may be a secret. */
export const assertHeaderValue = (name: string, value: string): string => {
  if (/^[!-~]+$/.test(value)) return value;
  throw new TypeError(`${name} must be printable ASCII characters without spaces.`);
};
