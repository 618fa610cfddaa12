import * as v from "valibot";
import { createUnavailableFailure } from "../../lib/failure.ts";
import type { Payer } from "../../money/payer.ts";
import { findItem, type Item, type Key, type Table } from "../../ports/table.ts";
import type { World } from "../../ports/world.ts";

// Layout. An account has one address for receivers' reports, created at the account's first request for it. The address is
// permanent, because DNS records contain it.
//
//   pk                       sk       list_pk                 list_sk    content
//   REPORTADDRESS#<account>  ADDRESS  REPORTTOKEN#<token>     <account>  the token of the address

export const REPORTS_PREFIX = "reports-";

const StoredAddress = v.object({ account: v.string(), token: v.string() });

const toAddressKey = (account: string): Key => ({ pk: `REPORTADDRESS#${account}`, sk: "ADDRESS" });
const toTokenKey = (token: string): string => `REPORTTOKEN#${token}`;

const toAddressItem = (account: string, token: string): Item => ({
  ...toAddressKey(account),
  list_pk: toTokenKey(token),
  list_sk: account,
  account,
  token,
});

const findToken = (table: Table, account: string): Promise<string | undefined> =>
  findItem(table, toAddressKey(account), (item) => v.parse(StoredAddress, item).token);

/**
 * Returns the address to which receivers send the reports of an account, the same for all of its domains. Undefined when the
 * service receives no mail, and for test keys: their domains do not exist, so nobody reports about them.
 */
export const findReportsAddress = async (
  world: Pick<World, "table" | "randomBytes" | "settings">,
  { account, mode }: Pick<Payer, "account" | "mode">,
): Promise<string | undefined> => {
  const { mailDomain } = world.settings;
  if (mailDomain === null || mode === "test") return undefined;
  const token = (await findToken(world.table, account)) ?? (await createToken(world, account));
  return `${REPORTS_PREFIX}${token}@${mailDomain}`;
};

/** Advice uses a mailbox of the domain when this address cannot be read. */
export const findAdvisedMailbox: typeof findReportsAddress = (world, payer) =>
  findReportsAddress(world, payer).catch(() => undefined);

/** The token has 128 random bits in lower case, because senders may change the case of a local part. */
const createToken = async (
  { table, randomBytes }: Pick<World, "table" | "randomBytes">,
  account: string,
): Promise<string> => {
  const token = Buffer.from(randomBytes(16)).toString("hex");
  const { outcome } = await table.write({ create: toAddressItem(account, token) });
  if (outcome === "committed") return token;
  // Another request created the token, or the reply was lost.
  const stored = await findToken(table, account);
  if (stored === undefined)
    throw createUnavailableFailure("It is not known whether the address for reports was made.");
  return stored;
};

export const findReportsAccount = async (
  table: Table,
  token: string,
): Promise<string | undefined> => {
  const { items } = await table.query({ index: "list", pk: toTokenKey(token), limit: 1 });
  const [item] = items;
  return item && v.parse(StoredAddress, item).account;
};
