import { toHref } from "../base.ts";
import { query } from "../router.ts";

const PERIODS = [7, 30, 90, 365] as const;
const DEFAULT = 30;
const DAY_MS = 86_400_000;

export type Period = { readonly days: number; readonly from: string; readonly to: string };

const toUtcDay = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** Reads the number of days from the URL, up to today. A day of usage is a day in UTC. */
export const readPeriod = (): Period => {
  const asked = Number(query.value.get("days"));
  const days = PERIODS.find((one) => one === asked) ?? DEFAULT;
  const now = Date.now();
  return { days, from: toUtcDay(now - (days - 1) * DAY_MS), to: toUtcDay(now) };
};

type Props = { readonly path: string; readonly chosen: Period["days"] };

export const PeriodTabs = ({ path, chosen }: Props) => (
  <nav class="screen-tabs" aria-label="Period">
    {PERIODS.map((one) => (
      <a
        key={one}
        href={toHref(`${path}?days=${one}`)}
        aria-current={one === chosen ? "true" : undefined}
      >
        {one} days
      </a>
    ))}
  </nav>
);
