import type { AddressText } from "@mailproof/mail/address";

const TEXT_MAX = 320;

/** The `email` of a result. A text that is not an address is shown as the client sent it, truncated. */
export const toEmail = ({ address, text }: AddressText): string =>
  address?.display ?? text.trim().slice(0, TEXT_MAX);

/** Splits a text that is not an address as far as possible: enough to suggest gmail.com for "gmailcom". */
export const splitRoughly = (text: string): { local: string; domain: string } => {
  const short = text.trim().slice(0, TEXT_MAX);
  const at = short.lastIndexOf("@");
  return { local: short.slice(0, Math.max(0, at)), domain: short.slice(at + 1).toLowerCase() };
};
