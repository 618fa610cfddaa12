import { type Address, isAddress, parseAddress } from "@mailproof/mail/address";
import type { World } from "../ports/world.ts";
import { hashAddress } from "./hashes.ts";

/** The address that is erased, and how it is recognised in what is stored. */
export type Subject = {
  /** As caches and hashes know it. */
  readonly canonical: string;
  /** Undefined: the text is no address, and only lists and results can hold it. */
  readonly address: Address | undefined;
  /** Whether this text is the address, however it is spelled. */
  readonly matches: (email: string) => boolean;
  /** Whether the address stands in this text as a word. */
  readonly isMentionedIn: (text: string) => boolean;
};

/** The same for every spelling of an address; a text that is no address is its own. */
const toCanonical = (text: string): string => {
  const parsed = parseAddress(text);
  return isAddress(parsed) ? parsed.canonical : text.trim().toLowerCase();
};

/** The key of answers that show an address. Each owner has its own, so one cannot ask for another's. */
export const hashSubject = (world: Pick<World, "settings">, owner: string, text: string): string =>
  hashAddress(world, owner, toCanonical(text));

export const createSubject = (text: string): Subject => {
  const parsed = parseAddress(text);
  const address = isAddress(parsed) ? parsed : undefined;
  const canonical = toCanonical(text);
  const spellings = new Set(
    [text.trim(), canonical, ...(address ? [address.display] : [])].map(normalize),
  );
  const patterns = [...spellings].map(toWordPattern);
  return {
    canonical,
    address,
    matches: (email) => toCanonical(email) === canonical,
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

/** "ann@x.com" is neither in "joann@x.com" nor in "ann@x.com.au". */
const toWordPattern = (spelling: string): RegExp =>
  new RegExp(
    `(?<![\\p{L}\\p{N}._%+-])${spelling.replaceAll(SPECIAL, "\\$&")}(?![\\p{L}\\p{N}-]|\\.[\\p{L}\\p{N}])`,
    "u",
  );
