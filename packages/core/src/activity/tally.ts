import { dayOf } from "../moments.ts";
import { daysBetween } from "./days.ts";
import type { Kind } from "./events.ts";
import { DAYS_KEPT, type Known, NOTHING_KNOWN, type Sum } from "./items.ts";

/** An event in time, of which nothing is left but what it adds to. */
export type Counted = { readonly kind: Kind; readonly at: Date };

/** What comes to the days of a domain. */
export type DayChange = { readonly day: string; readonly sum: Sum; readonly by: 1 | -1 };

export type Tally = { readonly known: Known; readonly changes: readonly DayChange[] };

/** The record of an address with one more event in it. The order in which events come makes no difference. */
export const tally = (before: Known | undefined, { kind, at }: Counted, today: string): Tally => {
  const day = dayOf(at);
  const moment = at.toISOString();
  const known: Known = before ?? { ...NOTHING_KNOWN, since: moment, lastDay: day };
  const lastDay = latest(known.lastDay, day) ?? day;
  const [events, opens, clicks] = known.days[day] ?? [0, 0, 0];
  const isOpen = kind === "open";
  const isClick = kind === "click";
  const counter = COUNTER[kind];

  const changes: (DayChange | false | undefined)[] = [
    BY_KIND[kind] && { day, sum: BY_KIND[kind], by: 1 },
    events === 0 && { day, sum: "heard", by: 1 },
    (isOpen || isClick) && opens + clicks === 0 && { day, sum: "engaged", by: 1 },
    (!before || lastDay !== before.lastDay) && { day: lastDay, sum: "people", by: 1 },
    before && lastDay !== before.lastDay && { day: before.lastDay, sum: "people", by: -1 },
  ];
  return {
    known: {
      ...known,
      since: known.since < moment ? known.since : moment,
      lastDay,
      lastOpen: isOpen ? latest(known.lastOpen, moment) : known.lastOpen,
      lastClick: isClick ? latest(known.lastClick, moment) : known.lastClick,
      [counter]: known[counter] + 1,
      days: recent(
        { ...known.days, [day]: [events + 1, opens + Number(isOpen), clicks + Number(isClick)] },
        today,
      ),
    },
    changes: changes
      .filter((one) => one !== undefined && one !== false)
      .filter((one) => isKept(one.day, today)),
  };
};

const COUNTER = {
  delivery: "delivered",
  bounce: "bounced",
  complaint: "complained",
  open: "opens",
  click: "clicks",
  machine: "machine",
  reject: "rejected",
  delay: "delayed",
} as const satisfies Record<Kind, keyof Known>;

const BY_KIND: Partial<Record<Kind, Sum>> = {
  delivery: "delivered",
  bounce: "bounced",
  complaint: "complained",
};

const latest = (a: string | null, b: string): string | null => (a !== null && a > b ? a : b);

const isKept = (day: string, today: string): boolean => daysBetween(day, today) <= DAYS_KEPT;

const recent = (days: Known["days"], today: string): Known["days"] =>
  Object.fromEntries(Object.entries(days).filter(([day]) => isKept(day, today)));
