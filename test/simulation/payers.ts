import { toSessionHeaders } from "@mailproof/api/http/session";
import { setAccountLimits } from "@mailproof/core/accounts/account-limits";
import type { Halves } from "@mailproof/core/money/credits";
import { readEntry } from "@mailproof/core/money/items";
import { buildMemberWrites, createPerson } from "@mailproof/core/people/items";
import { mintSession } from "@mailproof/core/people/sessions";
import type { Item } from "@mailproof/core/ports/table";
import type { World } from "@mailproof/core/ports/world";
import type { RequestHistory } from "./clients.ts";

/** Who pays in a history, in half-credits a month. Null: no limit. */
export type Payers = {
  /** The limit of each person. */
  readonly persons: readonly (number | null)[];
  /** The person of each client. Null: the client has the account's key. */
  readonly byClient: readonly (number | null)[];
  readonly account: number | null;
};

export const NO_PAYERS: Payers = { persons: [], byClient: [], account: null };

const toPersonId = (at: number): string => `person_${at}`;

/** Makes the persons members of the account. Returns the headers of a new session of the client's person. */
export const givenPayers = async (
  world: World,
  account: string,
  { persons, byClient, account: accountHalves }: Payers,
) => {
  const since = world.now().toISOString();
  for (const [at, halves] of persons.entries()) {
    const person = toPersonId(at);
    const limit = halves === null ? {} : { monthlyHalves: halves as Halves };
    await world.table.transact([
      createPerson({ id: person, name: person, createdAt: since }),
      ...buildMemberWrites({ account, person, role: "member", since, ...limit }),
    ]);
  }
  if (accountHalves !== null)
    await setAccountLimits(world, account, {
      monthlyHalves: accountHalves as Halves,
      area: undefined,
    });
  const startSession = async (person: string) => {
    const { token, write } = mintSession(world, person);
    await world.table.write(write);
    const [cookie = ""] = String(toSessionHeaders(token)["set-cookie"]).split(";");
    return { cookie, "sec-fetch-site": "same-origin", "mailproof-account": account };
  };
  return (client: number) => {
    const person = byClient[client] ?? null;
    return person === null ? undefined : () => startSession(toPersonId(person));
  };
};

/** Counters that exceed their limit at this moment. */
export const findOverspent = (
  items: readonly Item[],
  { persons, account }: Payers,
): readonly string[] => {
  const limits = new Map([
    ...persons.map((halves, at) => [toPersonId(at), halves] as const),
    ["ACCOUNT", account] as const,
  ]);
  return items.flatMap(({ pk, sk, spent }) => {
    const most = pk.startsWith("SPENT#") ? limits.get(sk.slice("yyyy-mm#".length)) : null;
    return most !== null && most !== undefined && Number(spent) > most
      ? [`${sk} spent ${Number(spent)} of ${most}`]
      : [];
  });
};

/** Every entry of an operation names the counters of its debit, and no key's charge names a person. */
export const checkCounters = (items: readonly Item[], { persons }: Payers): readonly string[] => {
  const entries = items.filter(({ pk }) => pk.startsWith("LEDGER#")).map(readEntry);
  const differing = [...Map.groupBy(entries, ({ operation }) => operation)]
    .filter(([, same]) => new Set(same.map(({ countedIn }) => countedIn?.join())).size > 1)
    .map(([operation]) => `the entries of ${operation} name different counters`);
  const isCounted = entries.some(({ countedIn }) =>
    countedIn?.some((one) => !one.endsWith("ACCOUNT")),
  );
  return persons.length === 0 && isCounted ? [...differing, "a key paid as a person"] : differing;
};

/** A refusal by a limit is true: at some moment a counter left too little. `mostSpent`: the most of any counter. */
export const checkLimitRefusals = (
  histories: readonly RequestHistory[],
  mostSpent: number,
): readonly string[] =>
  histories.flatMap(({ request, outcomes }) =>
    outcomes.flatMap((outcome) => {
      if (outcome === "lost" || outcome.error?.details?.limit === undefined) return [];
      const { needed, limit, spent } = outcome.error.details;
      return needed + spent > limit && spent * 2 <= mostSpent
        ? []
        : [`a ${request.kind} of ${needed} was refused with ${spent} spent of ${limit}`];
    }),
  );
