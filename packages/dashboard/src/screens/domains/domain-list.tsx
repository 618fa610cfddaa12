import type { CheckSummary } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatTime } from "../../format.ts";
import { getClient } from "../../session.ts";

const CHECKS_READ = 100;

/** Reads the latest check of each domain, started by a monitor or a person. The API lists the newest first. */
export const loadLatest = async (signal: AbortSignal): Promise<readonly CheckSummary[]> => {
  const { checks } = await getClient().listChecks({ limit: CHECKS_READ }, { signal });
  const byDomain = Map.groupBy(checks, ({ domain }) => domain);
  return [...byDomain.values()].flatMap(([latest]) => latest ?? []);
};

type Props = {
  readonly checks: readonly CheckSummary[];
  readonly tab?: "/reports";
};

export const DomainList = ({ checks, tab }: Props) => (
  <ul class="plain domain-list">
    {checks.map(({ domain, domain_unicode: name, grade, score, checked_at: at }) => (
      <li key={domain}>
        <span class={`grade is-${grade}`}>
          <span class="unseen">Grade </span>
          {grade}
        </span>
        <span>
          <a href={toHref(`domains/${encodeURIComponent(domain)}${tab ?? ""}`)}>{name}</a>
          <small>
            {score} of 100, {formatTime(at)}
          </small>
        </span>
      </li>
    ))}
  </ul>
);
