import { toHref } from "../../base.ts";
import { formatTime } from "../../format.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { getClient } from "../../session.ts";

const CHECKS_READ = 100;
const DOMAINS_SHOWN = 8;

type Graded = { domain: string; grade: string; score: number; checked_at: string };

/** The latest check of each domain, whether a monitor or a person started it. The API lists the newest first. */
const loadDomains = async (signal: AbortSignal): Promise<readonly Graded[]> => {
  const { checks } = await getClient().listChecks({ limit: CHECKS_READ }, { signal });
  const latest = new Map<string, Graded>();
  for (const { domain_unicode: domain, grade, score, checked_at } of checks)
    if (!latest.has(domain)) latest.set(domain, { domain, grade, score, checked_at });
  return [...latest.values()].slice(0, DOMAINS_SHOWN);
};

export const DomainsPanel = () => (
  <section class="panel" aria-labelledby="domains">
    <h2 id="domains">Domains</h2>
    <Loaded load={useLoad(loadDomains)} what="the checks of domains">
      {(domains) =>
        domains.length === 0 ? (
          <p class="soft">
            No domain has been checked yet.{" "}
            <a href={toHref("domains")}>Check the one you send from</a>
          </p>
        ) : (
          <ul class="plain domains">
            {domains.map(({ domain, grade, score, checked_at }) => (
              <li key={domain}>
                <span class={`grade is-${grade}`}>
                  <span class="unseen">Grade </span>
                  {grade}
                </span>
                <span>
                  <a href={toHref(`domains/${encodeURIComponent(domain)}`)}>{domain}</a>
                  <small>
                    {score} of 100, {formatTime(checked_at)}
                  </small>
                </span>
              </li>
            ))}
          </ul>
        )
      }
    </Loaded>
  </section>
);
