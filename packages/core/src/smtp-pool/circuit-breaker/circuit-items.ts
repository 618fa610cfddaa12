import { parseIp } from "@mailproof/mail/ip";
import * as v from "valibot";
import type { Fields, Item, Key, Table } from "../../ports/table.ts";
import { StoredRefusal, toRefusal, toStoredRefusal } from "../refusal.ts";
import { type Circuit, getCircuitState, getForgottenAtMs } from "./circuit.ts";

// Layout. All processes share one item per mail provider and exit, from the first refusal of us on. It is removed when
// the provider accepts us again, and expires when its circuit is forgotten.
//
//   pk               sk              what
//   PROVIDER#<name>  CIRCUIT#<exit>  refusals, domains: of the row; refusal: the latest; at (ms)
//                                    openings, open_until (ms): the pauses in a row and the end of the last one
//                                    trial_until (ms): a process has the one session after the pause
//                                    version: grows with each write
//                                    list_pk, list_sk: set for a large mail provider while a pause may last

/** A circuit as the table stores it; `version` 0 when the table has no item. */
export type SharedCircuit = {
  readonly circuit: Circuit;
  readonly version: number;
  readonly trialUntilMs: number;
};

export type CircuitName = { readonly providerKey: string; readonly exit: string };

export const formatCircuitName = ({ providerKey, exit }: CircuitName): string =>
  `${providerKey} ${exit}`;

export const toCircuitKey = ({ providerKey, exit }: CircuitName): Key => ({
  pk: `PROVIDER#${providerKey}`,
  sk: `${SK_PREFIX}${exit}`,
});

const SK_PREFIX = "CIRCUIT#";
const LIST_PK = "CIRCUITS";
/** One page of a query; there are far fewer pairs of a large mail provider and an exit. */
const LISTED_MAX = 500;

const CircuitItem = v.object({
  refusals: v.optional(v.number(), 0),
  domains: v.optional(v.array(v.string()), []),
  refusal: v.optional(StoredRefusal),
  at: v.optional(v.number(), 0),
  openings: v.optional(v.number(), 0),
  open_until: v.optional(v.number(), 0),
  trial_until: v.optional(v.number(), 0),
  version: v.optional(v.number(), 0),
});

export const parseCircuit = (item: Item | undefined): SharedCircuit => {
  const stored = v.parse(CircuitItem, item ?? {});
  const refusal = stored.refusal ? toRefusal(stored.refusal) : null;
  return {
    // A circuit without a refusal counts as closed, because recipients get the refusal as their result.
    circuit: {
      refusals: stored.refusals,
      domains: stored.domains,
      refusal,
      atMs: stored.at,
      openings: refusal ? stored.openings : 0,
      openUntilMs: stored.open_until,
    },
    version: stored.version,
    trialUntilMs: stored.trial_until,
  };
};

/** Builds the fields of an item; the end of a session also ends its trial. */
export const toCircuitFields = (name: CircuitName, circuit: Circuit): Fields => ({
  refusals: circuit.refusals,
  domains: circuit.domains,
  refusal: circuit.refusal ? toStoredRefusal(circuit.refusal) : undefined,
  at: circuit.atMs,
  openings: circuit.openings,
  open_until: circuit.openUntilMs,
  trial_until: undefined,
  expires_at: Math.ceil(getForgottenAtMs(circuit) / 1000),
  // An operator needs no alarm about a block by one small server.
  ...(circuit.openings > 0 && isLargeProvider(name.providerKey)
    ? { list_pk: LIST_PK, list_sk: formatCircuitName(name) }
    : {}),
});

/** The key of any other server is its IP address. */
export const isLargeProvider = (providerKey: string): boolean =>
  providerKey !== "" && parseIp(providerKey) === undefined;

/** A mail provider that refuses sessions from one of our exits. */
export type ProviderBlock = {
  readonly provider: string;
  readonly exit: string;
  readonly until: Date;
  /** The code and first line of the refusal. */
  readonly reply: string;
};

/** Lists the large mail providers whose circuits are open. Only reads. */
export const listProviderBlocks = async ({
  table,
  now,
}: {
  readonly table: Pick<Table, "query">;
  readonly now: () => Date;
}): Promise<readonly ProviderBlock[]> => {
  const { items } = await table.query({ index: "list", pk: LIST_PK, limit: LISTED_MAX });
  return items.flatMap((item) => {
    const { circuit } = parseCircuit(item);
    if (getCircuitState(circuit, now().getTime()) !== "open") return [];
    const { code, text } = circuit.refusal?.reply ?? { code: 0, text: "" };
    return [
      {
        provider: item.pk.slice(item.pk.indexOf("#") + 1),
        exit: item.sk.slice(SK_PREFIX.length),
        until: new Date(circuit.openUntilMs),
        reply: `${code} ${text.split("\n")[0]}`,
      },
    ];
  });
};
