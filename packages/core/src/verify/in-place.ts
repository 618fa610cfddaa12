import type { MailHost } from "../mail/mail-hosts.ts";
import type { Connect } from "../mail/smtp/wire.ts";
import type { Named } from "./daily-limits.ts";
import { type Held, hold, type SessionDoors } from "./hold-session.ts";
import { isPlace, type Place, pauseMs, type Rest, type Spot, spotOf } from "./places.ts";
import type { Waiting } from "./recipient-check.ts";
import { NOTHING_MET } from "./rest.ts";

/** `told`: what others of ours say of the operator. `full`: nothing was asked, for want of a place. */
export type HeldInPlace = Held & { readonly told: Rest | null; readonly full: boolean };

/** A second host of somebody else's is waited for so long: the session has places and people waiting for it. */
const ELSEWHERE_MS = 20_000;

/**
 * A session within what its operator bears of all processes together. Who could not be asked comes back. The others
 * are told when the place is given back, and not before: a Lambda is frozen when the last of them has his answer, and
 * would keep the place for as long as a session may last.
 */
export const holdInPlace = async (
  doors: SessionDoors,
  spot: Spot,
  batch: readonly Waiting[],
): Promise<HeldInPlace> => {
  const held = await placeAndHold(doors, spot, batch);
  await doors.quota.add(held.answered.flatMap(countsOf));
  for (const { one, answer } of held.answered) one.answer(answer);
  return held;
};

const countsOf = ({ one, answer, isNamed }: Held["answered"][number]): readonly Named[] => {
  const { requester, domain, hosts } = one;
  const guesses = answer.nobody.length;
  if (!isNamed && guesses === 0) return [];
  const at = hosts.find(({ host }) => host === answer.host);
  const isUnknown = isNamed && answer.finding.verdict === "invalid";
  const unknown = guesses + Number(isUnknown);
  return [
    { account: requester.account, domain, at, unknown, recipients: guesses + Number(isNamed) },
  ];
};

const placeAndHold = async (
  doors: SessionDoors,
  spot: Spot,
  batch: readonly Waiting[],
): Promise<HeldInPlace> => {
  const taken = await doors.places.take(spot);
  if (taken === "full") return { ...notHeld(batch), full: true };
  if (!isPlace(taken)) return { ...notHeld(batch), told: taken };

  const hosts = batch[0]?.hosts ?? [];
  const elsewhere = new Map<string, Place>();
  const account = batch[0]?.requester.account ?? "";
  const connect = connectBeyond(doors, { hosts, account }, spot, elsewhere);
  const held = await hold({ ...doors, connect }, batch);
  if (elsewhere.size === 0) return { ...held, told: await taken.give(held), full: false };

  // Whoever was not there, or was left for another, is not to blame for what the other said.
  const talkedTo = spotAt(hosts, held.host).operator;
  const [told = null] = await Promise.all(
    [[spot.operator, taken] as const, ...elsewhere].map(([operator, place]) =>
      place.give(operator === talkedTo ? held : null),
    ),
  );
  return { ...held, told, full: false };
};

const notHeld = (batch: readonly Waiting[]): HeldInPlace => ({
  ...NOTHING_MET,
  answered: [],
  unasked: batch,
  host: "",
  told: null,
  full: false,
});

/**
 * A session whose first host is not there goes on to the next, and that may be another operator's: many domains name
 * one host as their second. It needs a place there, too.
 */
const connectBeyond =
  (
    doors: SessionDoors,
    { hosts, account }: { readonly hosts: readonly MailHost[]; readonly account: string },
    own: Spot,
    elsewhere: Map<string, Place>,
  ): Connect =>
  async (target, options) => {
    if (target.host === own.host) return doors.connect(target, options);
    const at = hosts.find(({ host }) => host === target.host);
    if (doors.quota.isReached(account, "", at)) return "deadline";
    const spot = spotOf(at);
    if (spot.operator !== own.operator && !elsewhere.has(spot.operator)) {
      const place = await placeAt(doors, spot);
      if (!place) return "deadline";
      elsewhere.set(spot.operator, place);
    }
    return doors.connect(target, options);
  };

const placeAt = async (
  { places, random, sleep }: SessionDoors,
  spot: Spot,
): Promise<Place | null> => {
  for (let waitedMs = 0; waitedMs < ELSEWHERE_MS; ) {
    const taken = await places.take(spot);
    if (taken !== "full") return isPlace(taken) ? taken : null;
    const ms = pauseMs(random);
    await sleep(ms);
    waitedMs += ms;
  }
  return null;
};

const spotAt = (hosts: readonly MailHost[], name: string): Spot =>
  spotOf(hosts.find(({ host }) => host === name));
