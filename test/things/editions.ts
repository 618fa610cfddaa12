import { generateKeyPairSync, hash, sign } from "node:crypto";
import {
  type Edition,
  formatEdition,
  LIST_NAMES,
  type ListName,
} from "@mailproof/mail/lists/edition-file";
import { readDomains } from "@mailproof/mail/lists/pack";
import { WHOLE_EDITION } from "@mailproof/mail/lists/whole-edition";

// Editions of the lists, signed by a pair of keys that only the tests have.

const createPair = () => {
  const { publicKey, privateKey } = generateKeyPairSync("ed25519");
  return {
    publicKey: publicKey.export({ format: "der", type: "spki" }).toString("base64"),
    privateKey: privateKey.export({ format: "pem", type: "pkcs8" }).toString(),
  };
};

export const KEYS = createPair();
export const OTHER_KEYS = createPair();

type Domains = Readonly<Record<ListName, readonly string[]>>;

const listShipped = (name: ListName): readonly string[] => readDomains(WHOLE_EDITION.lists[name]);

export const SHIPPED: Domains = {
  disposable: listShipped("disposable"),
  broad: listShipped("broad"),
  free: listShipped("free"),
  rareEndings: listShipped("rareEndings"),
};

type MadeEdition = {
  readonly version?: string;
  readonly domains?: Partial<Domains>;
  readonly privateKey?: string;
  /** Changes what is signed. */
  readonly edit?: (body: string) => string;
};

/** The shipped lists with a new version, and some of them replaced. */
export const createEdition = ({
  version = "2026.12.1",
  domains = {},
  privateKey = KEYS.privateKey,
  edit = (body) => body,
}: MadeEdition = {}): Buffer => {
  const body = edit(
    formatEdition(
      version,
      LIST_NAMES.map((list) => {
        const sorted = (domains[list] ?? SHIPPED[list]).toSorted();
        const sha256 = hash("sha256", sorted.join("\n"));
        return {
          list,
          source: list,
          version: "1.0.0",
          entries: sorted.length,
          sha256,
          domains: sorted,
        };
      }),
    ),
  );
  const signature = sign(null, Buffer.from(body, "latin1"), privateKey).toString("base64");
  return Buffer.from(`${body}${signature}\n`, "latin1");
};

/** A domain that no shipped list has. */
export const NEW_DOMAIN = "brand-new-throwaway.example";
export const WITH_NEW_DOMAIN = {
  domains: { disposable: [...SHIPPED.disposable, NEW_DOMAIN] },
} as const;

export const getEntries = ({ lists }: Edition): readonly number[] =>
  LIST_NAMES.map((name) => lists[name].entries);
