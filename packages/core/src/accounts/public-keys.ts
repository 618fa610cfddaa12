import { toNetwork } from "@mailproof/mail/ip";
import { Failure } from "../lib/failure.ts";
import { DAY_MS, toEpochSeconds } from "../lib/time.ts";
import type { Key } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { PublicUse } from "./api-key-items.ts";
import { hashVisitor } from "./hashes.ts";
import { unwrapIpv4 } from "./key-networks.ts";

// Anyone who opens a page can copy its public key, so three limits apply: the page's origin, the requests of one visitor, and
// the verifications of a day. A program can send any origin, so only the daily limit bounds the cost.

//   pk                  sk        content
//   PUBLICUSE#<key id>  <day>     n: the number of verifications of this day

/** The most requests of one visitor's network per minute: a form sends one at each change of the address. */
export const VISITOR_REQUESTS_PER_MINUTE = 20;

/** Accepts an origin that a browser can send: https, or a page on the developer's own machine. */
export const isPageOrigin = (text: string): boolean => {
  if (!URL.canParse(text)) return false;
  const { protocol, hostname, origin } = new URL(text);
  const isLocal = protocol === "http:" && LOCAL_HOSTS.includes(hostname);
  return (protocol === "https:" || isLocal) && origin === text;
};

const LOCAL_HOSTS = ["localhost", "127.0.0.1", "[::1]"];

/** Allows every origin for a secret key. For a public key, the browser's Origin must equal one of the stored origins. */
export const mayUseAt = (use: PublicUse | undefined, origin: string | undefined): boolean =>
  use === undefined || (origin !== undefined && use.origins.includes(origin));

/** Returns the id that counts a visitor. All people behind one address are one visitor, and so are all unknown addresses. */
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
 * Counts one verification and throws when the day's limit is reached. A crash afterwards counts one too many; a lost reply may
 * count one too few.
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

/** Gives back an unpaid verification. Never fails: the client must learn the first error, even if the count stays too high. */
export const giveBackDailyUse = async ({ table, now }: World, keyId: string): Promise<void> => {
  const update = toDayKey(keyId, now());
  await table
    .write({ update, add: { n: -1 }, bounds: { n: { atLeast: 0 } } })
    .catch(() => undefined);
};
