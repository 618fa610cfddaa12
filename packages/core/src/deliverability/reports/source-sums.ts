import type { Disposition, OverrideReason, SourceSums, Sums } from "./report.ts";

export type ReportRow = {
  readonly ip: string;
  readonly messages: number;
  readonly isSpfAligned: boolean;
  readonly isDkimAligned: boolean;
  readonly disposition: Disposition;
  readonly reasons: readonly OverrideReason[];
  /** By a reason of the receiver. */
  readonly isForwarded: boolean;
  readonly authenticated: readonly string[];
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };
type Tally<K extends string = string> = Partial<Record<K, number>>;
type OpenSums = Mutable<Omit<SourceSums, "dispositions" | "reasons" | "authenticated">> & {
  readonly dispositions: Tally<Disposition>;
  readonly reasons: Tally<OverrideReason>;
  readonly authenticated: Tally;
};

/** A message may have many signatures; ten show its sender. */
const AUTHENTICATED_MAX = 10;

export const createSourceSums = (sourcesMax = Number.POSITIVE_INFINITY) => {
  const sources = new Map<string | null, OpenSums>();
  const find = (ip: string | null): OpenSums => {
    const found = sources.get(ip);
    if (found) return found;
    const key = sources.size < sourcesMax ? ip : null;
    const created = sources.get(key) ?? createEmpty(key);
    sources.set(key, created);
    return created;
  };
  return {
    add: (row: ReportRow): void => {
      if (row.messages > 0) addSums(find(row.ip), toSums(row));
    },
    /** Returns the address that received the sums: null beyond the limit of sources. */
    addSums: (sums: SourceSums): string | null => {
      const source = find(sums.ip);
      addSums(source, sums);
      return source.ip;
    },
    list: (): readonly SourceSums[] =>
      [...sources.values()].toSorted(
        (a, b) => b.messages - a.messages || ((a.ip ?? "~") < (b.ip ?? "~") ? -1 : 1),
      ),
  };
};

export const mergeSources = (sources: readonly SourceSums[], ip: string | null): SourceSums => {
  const merged = createEmpty(ip);
  for (const source of sources) addSums(merged, source);
  return merged;
};

export const countUnaligned = ({
  messages,
  aligned,
  forwarded,
}: Pick<SourceSums, "messages" | "aligned" | "forwarded">): number =>
  messages - aligned - forwarded;

const createEmpty = (ip: string | null): OpenSums => ({
  ip,
  messages: 0,
  aligned: 0,
  spfAligned: 0,
  dkimAligned: 0,
  forwarded: 0,
  dispositions: {},
  reasons: {},
  authenticated: {},
});

const toSums = (row: ReportRow): SourceSums => {
  const { ip, messages, isSpfAligned, isDkimAligned, disposition, reasons, authenticated } = row;
  const isAligned = isSpfAligned || isDkimAligned;
  const countIf = (holds: boolean): number => (holds ? messages : 0);
  const countEach = <K extends string>(keys: readonly K[]): Sums<K> =>
    Object.fromEntries(keys.map((key) => [key, messages])) as Sums<K>;
  return {
    ip,
    messages,
    aligned: countIf(isAligned),
    spfAligned: countIf(isSpfAligned),
    dkimAligned: countIf(isDkimAligned),
    forwarded: countIf(!isAligned && row.isForwarded),
    dispositions: countEach([disposition]),
    reasons: countEach(reasons),
    authenticated: countEach(authenticated),
  };
};

const addSums = (to: OpenSums, more: SourceSums): void => {
  if (more.host !== undefined && to.ip !== null) to.host ??= more.host;
  to.messages += more.messages;
  to.aligned += more.aligned;
  to.spfAligned += more.spfAligned;
  to.dkimAligned += more.dkimAligned;
  to.forwarded += more.forwarded;
  if (more.unauthenticated !== undefined)
    to.unauthenticated = (to.unauthenticated ?? 0) + more.unauthenticated;
  addTally(to.dispositions, more.dispositions);
  addTally(to.reasons, more.reasons);
  addTally(to.authenticated, more.authenticated, AUTHENTICATED_MAX);
};

const addTally = (to: Tally, more: Sums, keysMax = Number.POSITIVE_INFINITY): void => {
  let size = Object.keys(to).length;
  for (const [key, count = 0] of Object.entries(more)) {
    if (!Object.hasOwn(to, key)) {
      if (size >= keysMax) continue;
      size++;
    }
    to[key] = (to[key] ?? 0) + count;
  }
};
