import { toUtcDay } from "../lib/time.ts";
import { countDaysBetween } from "./days.ts";
import type { MailEventKind } from "./events.ts";
import { type AddressRecord, DAYS_RETAINED, type DaySum, EMPTY_RECORD } from "./items.ts";

export type TallyEvent = { readonly kind: MailEventKind; readonly at: Date };

export type DayChange = { readonly day: string; readonly sum: DaySum; readonly by: 1 | -1 };

export type Tally = { readonly record: AddressRecord; readonly changes: readonly DayChange[] };

/** Adds an event to the record of an address. The order of events does not matter. */
export const tallyEvent = (
  before: AddressRecord | undefined,
  { kind, at }: TallyEvent,
  today: string,
): Tally => {
  const day = toUtcDay(at);
  const time = at.toISOString();
  const record: AddressRecord = before ?? { ...EMPTY_RECORD, since: time, lastDay: day };
  const lastDay = pickLatest(record.lastDay, day) ?? day;
  const [events, opens, clicks] = record.days[day] ?? [0, 0, 0];
  const isOpen = kind === "open";
  const isClick = kind === "click";
  const counter = COUNTER_BY_KIND[kind];

  const changes: (DayChange | false | undefined)[] = [
    SUM_BY_KIND[kind] && { day, sum: SUM_BY_KIND[kind], by: 1 },
    events === 0 && { day, sum: "active", by: 1 },
    (isOpen || isClick) && opens + clicks === 0 && { day, sum: "engaged", by: 1 },
    (!before || lastDay !== before.lastDay) && { day: lastDay, sum: "people", by: 1 },
    before && lastDay !== before.lastDay && { day: before.lastDay, sum: "people", by: -1 },
  ];
  return {
    record: {
      ...record,
      since: record.since < time ? record.since : time,
      lastDay,
      lastOpen: isOpen ? pickLatest(record.lastOpen, time) : record.lastOpen,
      lastClick: isClick ? pickLatest(record.lastClick, time) : record.lastClick,
      [counter]: record[counter] + 1,
      days: omitOldDays(
        { ...record.days, [day]: [events + 1, opens + Number(isOpen), clicks + Number(isClick)] },
        today,
      ),
    },
    changes: changes
      .filter((one) => one !== undefined && one !== false)
      .filter((one) => isRetained(one.day, today)),
  };
};

const COUNTER_BY_KIND = {
  delivery: "delivered",
  bounce: "bounced",
  complaint: "complained",
  open: "opens",
  click: "clicks",
  machine: "machine",
  reject: "rejected",
  delay: "delayed",
} as const satisfies Record<MailEventKind, keyof AddressRecord>;

const SUM_BY_KIND: Partial<Record<MailEventKind, DaySum>> = {
  delivery: "delivered",
  bounce: "bounced",
  complaint: "complained",
};

const pickLatest = (a: string | null, b: string): string | null => (a !== null && a > b ? a : b);

const isRetained = (day: string, today: string): boolean =>
  countDaysBetween(day, today) <= DAYS_RETAINED;

const omitOldDays = (days: AddressRecord["days"], today: string): AddressRecord["days"] =>
  Object.fromEntries(Object.entries(days).filter(([day]) => isRetained(day, today)));
