export const DAY_MS = 86_400_000;

/** Matches the day of the lists, followed by a number when one day has several editions. */
export const EDITION_VERSION = /^(\d{4})\.(\d{1,2})\.(\d{1,2})(?:\.(\d{1,3}))?$/;

/** Returns a negative number when the first version is older. */
export const compareVersions = (one: string, other: string): number => {
  const numbers = (version: string) =>
    (EDITION_VERSION.exec(version) ?? [])
      .slice(1)
      .map((part: string | undefined) => Number(part ?? 0));
  const [ones, others] = [numbers(one), numbers(other)];
  for (const [at, number] of ones.entries())
    if (number !== others[at]) return number - (others[at] ?? 0);
  return 0;
};

export const getEditionDate = (version: string): Date => {
  const [, year, month, day] = EDITION_VERSION.exec(version) ?? [];
  return new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
};

export const getEditionAgeMs = (version: string, now: Date): number =>
  Math.max(0, now.getTime() - getEditionDate(version).getTime());

/** Returns the edition's age in whole days. */
export const getEditionAge = (version: string, now: Date): number =>
  Math.floor(getEditionAgeMs(version, now) / DAY_MS);
