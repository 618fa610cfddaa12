import { type AddressText } from "@mailproof/mail/address";
import { readAddress } from "@mailproof/mail/address-cell";

/** The address to erase, and the patterns that recognise it in stored data. */
export type Subject = AddressText & {
  readonly matches: (email: string) => boolean;
  readonly isMentionedIn: (text: string) => boolean;
};

export const createSubject = (text: string): Subject => {
  const read = readAddress(text);
  const { address, canonical } = read;
  const spellings = new Set(
    [text.trim(), canonical, ...(address ? [address.display] : [])].map(normalize),
  );
  const patterns = [...spellings].map(toWordPattern);
  return {
    ...read,
    matches: (email) => readAddress(email).canonical === canonical,
    isMentionedIn: (text) => {
      const normal = normalize(text);
      return (
        [...spellings].some((one) => normal.includes(one)) &&
        patterns.some((one) => one.test(normal))
      );
    },
  };
};

const normalize = (text: string): string => text.normalize("NFC").toLowerCase();

const SPECIAL = /[$()*+./?[\\\]^{|}]/g;

/** Does not find "ann@x.com" in "joann@x.com" or in "ann@x.com.au". */
const toWordPattern = (spelling: string): RegExp =>
  new RegExp(
    `(?<![\\p{L}\\p{N}._%+-])${spelling.replaceAll(SPECIAL, "\\$&")}(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])`,
    "u",
  );
