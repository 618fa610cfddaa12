import { toNetwork } from "@mailproof/mail/ip";
import { Failure } from "../lib/failure.ts";
import { DAY_MS, toEpochSeconds } from "../lib/time.ts";
import type { Key } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { PublicUse } from "./api-key-items.ts";
import { hashVisitor } from "./hashes.ts";
import { unwrapIpv4 } from "./key-networks.ts";

// Public keys: anyone who opens the page has the key, so what limits its use is where it is sent from, how often one
// visitor may send it, and the sum of a day. A program can name any origin: the day's sum is what bounds the money.

//   pk                  sk        what
//   PUBLICUSE#<key id>  <day>     n: the verifications of this day

/** The most that one visitor's network sends in a minute: a form asks at each change of the address. */
export const VISITOR_REQUESTS_PER_MINUTE = 20;

/** An origin that a browser can name: of https, or of a page on the developer's own machine. */
export const isPageOrigin = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, origin } = new URL(text);
  const isLocal = protocol === "http:" && LOCAL_HOSTS.includes(hostname);
  return (protocol === "https:" || isLocal) && origin === text;
};

const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/** Other keys go anywhere. A browser names the origin of the page, in the form that the key has it. */
export const mayUseAt = (use: PublicUse | undefined, origin: string | undefined): boolean =>
  use === undefined || (origin !== undefined && use.origins.includes(origin));

/** How a visitor is counted. People behind one address are one visitor, and an unknown address is one. */
export const toVisitor = (
  world: Pick<World, "settings">,
  keyId: string,
  clientIp: string | undefined,
): string => hashVisitor(world, keyId, toNetwork(unwrapIpv4(clientIp ?? "")));

const toDayKey = (keyId: string, at: Date): Key => ({
  pk: `PUBLICUSE#${keyId}`,
  sk: at.toISOString().slice(0, 10),
});

/**
 * Throws when the verifications of this day are used up. A crash after this counts one too many; a lost reply may count
 * one too few.
 */
export const takeDailyUse = async (
  { table, now }: World,
  keyId: string,
  { dailyMax }: PublicUse,
): Promise<void> => {
  const at = now();
  const key = toDayKey(keyId, at);
  const endsAt = Date.parse(key.sk) + DAY_MS;
  const { outcome } = await table.write({
    update: key,
    add: { n: 1 },
    bounds: { n: { atMost: dailyMax } },
    set: { expires_at: toEpochSeconds(new Date(endsAt + DAY_MS)) },
    orCreate: true,
  });
  // A lost reply does not refuse a visitor; the count is at most one off.
  if (outcome !== "refused") return;
  const what = `This public key has made its ${dailyMax} verifications of today (UTC).`;
  throw new Failure("RATE_LIMITED", "nothing_charged", what, {
    retryAfterMs: endsAt - at.getTime(),
  });
};

/** For what could not be paid. It never fails: the day may lack one, and the caller learns why all the same. */
export const giveBackDailyUse = async ({ table, now }: World, keyId: string): Promise<void> => {
  const update = toDayKey(keyId, now());
  await table
    .write({ update, add: { n: -1 }, bounds: { n: { atLeast: 0 } } })
    .catch(() => undefined);
};
