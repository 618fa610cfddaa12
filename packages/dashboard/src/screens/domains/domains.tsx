import { useRef } from "preact/hooks";
import { toHref } from "../../base.ts";
import { formatTime } from "../../format.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { navigate } from "../../router.ts";
import { getClient } from "../../session.ts";
import "./domains.css";

const CHECKS_READ = 100;

/** The latest check of each domain. The API lists the newest first. */
const loadLatest = async (signal: AbortSignal) => {
  const { checks } = await getClient().listChecks({ limit: CHECKS_READ }, { signal });
  return [...new Map(checks.toReversed().map((check) => [check.domain, check])).values()].toSorted(
    (a, b) => b.checked_at.localeCompare(a.checked_at),
  );
};

export const Domains = () => {
  const field = useRef<HTMLInputElement>(null);
  return (
    <Screen
      title="Domains"
      lead="Whether a domain is set up to send mail that arrives, and what to publish if it is not."
    >
      <form
        class="one-line"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          const domain = field.current?.value.trim() ?? "";
          if (domain === "") field.current?.focus();
          else navigate(`domains/${encodeURIComponent(domain.toLowerCase())}`);
        }}
      >
        <label for="domain">Domain</label>
        <div class="with-button">
          <input
            ref={field}
            id="domain"
            type="text"
            inputMode="url"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            placeholder="example.com"
          />
          <button type="submit" class="primary">
            Open
          </button>
        </div>
        <p class="soft">Opening a report is free. A new check asks before it charges.</p>
      </form>
      <Loaded load={useLoad(loadLatest)} what="the checked domains">
        {(checks) =>
          checks.length === 0 ? (
            <p>No domain has been checked yet.</p>
          ) : (
            <ul class="domain-list">
              {checks.map(({ domain, domain_unicode: name, grade, score, checked_at: at }) => (
                <li key={domain}>
                  <span class={`grade is-${grade}`}>
                    <span class="unseen">Grade </span>
                    {grade}
                  </span>
                  <span>
                    <a href={toHref(`domains/${domain}`)}>{name}</a>
                    <small>
                      {score} of 100, {formatTime(at)}
                    </small>
                  </span>
                </li>
              ))}
            </ul>
          )
        }
      </Loaded>
    </Screen>
  );
};
