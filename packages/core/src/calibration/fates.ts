import type { BounceKind } from "@mailproof/mail/bounce-kind";
import { toAccountKey } from "../accounts/account-items.ts";
import { getContributorTag, listAddressHashes, listDomainHashes } from "../accounts/hashes.ts";
import { CLOCK_SKEW_MS, DAY_MS } from "../lib/time.ts";
import type { Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { getItemKey, toItemId } from "../ports/writes.ts";
import {
  addToCell,
  addToElsewhere,
  addToSent,
  CALIBRATION_SHARDS,
  type CalibrationCell,
  type Fate,
  findKnownVerdict,
  type GivenVerdict,
  isGoodVerdict,
  LINKED_DAYS,
  storeFate,
  toCell,
  toFateField,
  type VerdictItem,
} from "./items.ts";

/** A delivery or a bounce of an address, as far as it is evidence about the mailbox. */
export type FateEvent = {
  readonly canonical: string;
  readonly domain: string;
  readonly shard: number;
  readonly fate: Fate;
  readonly at: Date;
};

export const toFate = (type: string, bounce: BounceKind): Fate | undefined => {
  if (type === "delivery") return "delivered";
  return type === "bounce" ? (bounce ?? undefined) : undefined;
};

/** The most writes per address in a transaction: its item, its cell, and the counts of its domain and of its list. */
export const FATE_WRITES_MAX = 4;

/**
 * Builds the writes that compare an account's deliveries and bounces with its own verdicts. A later event of an address moves
 * the address from one count to another: delivered mail may still bounce.
 */
export const buildFateWrites = async (
  world: World,
  account: string,
  events: readonly FateEvent[],
): Promise<readonly Write[]> => {
  const sums = createSums(world);
  const tag = getContributorTag(world, account);
  const ofAddress = Map.groupBy(events, ({ canonical }) => canonical);
  const items = await Promise.all(
    [...ofAddress.values()].map(async (own) => {
      const [{ canonical, domain, shard }] = own as [FateEvent, ...FateEvent[]];
      const hashes = listAddressHashes(world, account, canonical);
      const { stored, known: before } = await findKnownVerdict(world.table, hashes);
      const after = applyFates(before, own);
      if (after.fate === before?.fate && after.bouncedAt === before?.bouncedAt) return [];
      if (before?.verdict && after.fate !== before.fate)
        sums.move(before.verdict, {
          from: before.fate,
          to: after.fate,
          tag,
          shard: shard % CALIBRATION_SHARDS,
          domain: listDomainHashes(world, account, domain)[0],
        });
      return [storeFate(hashes[0], stored, { ...after, verdict: before?.verdict }, world.now())];
    }),
  );
  const hasHardBounce = events.some(({ fate }) => fate === "hard");
  const key = toAccountKey(account);
  const isFirst = hasHardBounce && (await world.table.get(key))?.["bounceFree"] === true;
  const first = { update: key, set: { bounceFree: undefined } };
  return [...items.flat(), ...sums.list(), ...(isFirst ? [first] : [])];
};

type Fates = Pick<VerdictItem, "fate" | "bouncedAt">;

/** The highest rank counts: mail may be delivered after a soft bounce, and bounce hard after a delivery. */
const RANK: Readonly<Record<Fate, number>> = { soft: 0, delivered: 1, hard: 2 };

/** The result does not depend on the order of the events, which arrive in any order. */
const applyFates = (before: VerdictItem | undefined, events: readonly FateEvent[]): Fates => {
  let { fate, bouncedAt } = before ?? {};
  for (const event of events) {
    const time = event.at.toISOString();
    if (event.fate === "hard" && (bouncedAt === undefined || bouncedAt < time)) bouncedAt = time;
    if (!before?.verdict || !isAfter(before.verdict, event.at)) continue;
    if (fate === undefined || RANK[event.fate] > RANK[fate]) fate = event.fate;
  }
  return { ...(fate && { fate }), ...(bouncedAt !== undefined && { bouncedAt }) };
};

const isAfter = ({ at: verifiedAt }: GivenVerdict, at: Date): boolean => {
  const ms = at.getTime() - Date.parse(verifiedAt);
  return ms >= -CLOCK_SKEW_MS && ms <= LINKED_DAYS * DAY_MS;
};

type FateMove = {
  readonly from: Fate | undefined;
  readonly to: Fate | undefined;
  readonly tag: number;
  readonly shard: number;
  readonly domain: string;
};

/** Sums the changes of items that several addresses share, because a transaction writes each item once. */
const createSums = ({ now }: Pick<World, "now">) => {
  const sums = new Map<
    string,
    { readonly add: Record<string, number>; readonly toWrite: ToWrite }
  >();
  const addUp = (toWrite: ToWrite, add: Readonly<Record<string, number>>): void => {
    const id = toItemId(getItemKey(toWrite({})));
    const sum = sums.get(id) ?? { add: {}, toWrite };
    sums.set(id, sum);
    for (const [name, by] of Object.entries(add)) sum.add[name] = (sum.add[name] ?? 0) + by;
  };
  return {
    move: (verdict: GivenVerdict, { from, to, tag, shard, domain }: FateMove): void => {
      const cell: CalibrationCell = toCell(verdict);
      const changes = [...(from ? [[from, -1] as const] : []), ...(to ? [[to, 1] as const] : [])];
      addUp(
        (add) => addToCell(cell, shard, add, now()),
        Object.fromEntries(
          changes.flatMap(([fate, by]) => [
            [toFateField(fate), by],
            [toFateField(fate, tag), by],
          ]),
        ),
      );
      if (verdict.elsewhere)
        addUp(
          (add) => addToElsewhere(verdict.elsewhere?.job ?? "", add, now()),
          Object.fromEntries(
            changes.flatMap(([fate, by]) =>
              listRight(verdict, fate).map((field) => [field, by] as const),
            ),
          ),
        );
      const certain = changes.filter(([fate]) => fate !== "soft");
      if (verdict.mayBeCatchAll && certain.length > 0)
        addUp((add) => addToSent(domain, add, now()), Object.fromEntries(certain));
    },
    list: (): readonly Write[] =>
      [...sums.values()].map(({ add, toWrite }) =>
        toWrite(Object.fromEntries(Object.entries(add).filter(([, by]) => by !== 0))),
      ),
  };
};

/** The counts of a list that have the address: those who said valid are right about delivered mail, and the others about a bounce. */
const listRight = ({ status, elsewhere }: GivenVerdict, fate: Fate): readonly string[] => {
  if (fate === "soft") return [];
  const isDelivered = fate === "delivered";
  return [
    fate,
    ...(isGoodVerdict(status) === isDelivered ? [`${fate}_ours`] : []),
    ...(elsewhere?.isGood === isDelivered ? [`${fate}_theirs`] : []),
  ];
};

type ToWrite = (add: Readonly<Record<string, number>>) => Write;
