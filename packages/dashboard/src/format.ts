const whole = new Intl.NumberFormat("en");
const share = new Intl.NumberFormat("en", { style: "percent", maximumFractionDigits: 1 });
const dateTime = new Intl.DateTimeFormat("en", {
  dateStyle: "medium",
  timeStyle: "short",
  hourCycle: "h23",
});
const day = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const date = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeZone: "UTC" });
const clock = new Intl.DateTimeFormat("en", {
  hour: "2-digit",
  minute: "2-digit",
  hourCycle: "h23",
});

export const formatNumber = (value: number): string => whole.format(value);

const compact = new Intl.NumberFormat("en", { notation: "compact" });

export const formatCompact = (value: number): string => compact.format(value);

const change = new Intl.NumberFormat("en", { signDisplay: "exceptZero" });

export const formatChange = (value: number): string => change.format(value);

/** Rounds down to a tenth of a percent, as the API's own sentences do: 97.99% is not 98%, and a list is done only with its last row. */
export const formatShare = (value: number): string =>
  share.format(Math.floor(value * 1_000 + CUT_SLACK) / 1_000);

export const formatShares = (parts: readonly number[], total: number): readonly string[] => {
  const exact = parts.map((part) => (part / total) * 1_000 + CUT_SLACK);
  const cut = exact.map(Math.floor);
  const sum = (values: readonly number[]) => values.reduce((all, value) => all + value, 0);
  const missing = Math.floor((sum(parts) / total) * 1_000 + CUT_SLACK) - sum(cut);
  const raised = exact
    .map((value, at) => ({ at, lost: value - Math.floor(value) }))
    .toSorted((one, other) => other.lost - one.lost)
    .slice(0, missing)
    .map(({ at }) => at);
  return cut.map((tenths, at) => share.format((tenths + (raised.includes(at) ? 1 : 0)) / 1_000));
};

/** 0.57 × 1,000 may be 569.9999999. */
const CUT_SLACK = 1e-6;

export const formatCount = (value: number, one: string, many = `${one}s`): string =>
  `${formatNumber(value)} ${value === 1 ? one : many}`;

export const formatTime = (iso: string): string => dateTime.format(new Date(iso));

export const formatClock = (iso: string): string => clock.format(new Date(iso));

/** Formats a day of the API, which is a day in UTC. */
export const formatDay = (text: string): string => day.format(new Date(text));

/** Formats a day of the API with its year, where it may be of another one. */
export const formatDate = (text: string): string => date.format(new Date(text));
