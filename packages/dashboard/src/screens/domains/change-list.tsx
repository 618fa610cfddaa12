import { formatTime } from "../../format.ts";
import type { Check } from "./check.ts";

type Props = { readonly before: Check; readonly after: Check };

export const ChangeList = ({ before, after }: Props) => {
  const changes = listChanges(before, after);
  const from = `${before.score} (${before.grade})`;
  return (
    <>
      <p>
        Since {formatTime(before.checked_at)}:{" "}
        {before.score === after.score ? (
          <>the score is the same, {from}.</>
        ) : (
          <>
            from {from} to{" "}
            <b>
              {after.score} ({after.grade})
            </b>
            .
          </>
        )}{" "}
        {changes.length === 0 && "Nothing else changed."}
      </p>
      {changes.map(({ what, removed, added }) => (
        <div key={what} class="change">
          <h3>{what}</h3>
          <ul class="diff">
            {removed.map((text) => (
              <li key={text} class="removed">
                <span class="unseen">Removed: </span>
                {text}
              </li>
            ))}
            {added.map((text) => (
              <li key={text} class="added">
                <span class="unseen">Added: </span>
                {text}
              </li>
            ))}
          </ul>
        </div>
      ))}
    </>
  );
};

type Change = {
  readonly what: string;
  readonly removed: readonly string[];
  readonly added: readonly string[];
};

const getParts = (check: Check): Readonly<Record<string, readonly string[]>> => {
  const { dns, authentication, reputation, server } = check;
  const { spf, dkim, dmarc } = authentication;
  const issues = [dns, spf, dkim, dmarc, server].flatMap((part) => part.issues);
  return {
    "SPF record": list(spf.record),
    "DMARC record": list(dmarc.record),
    "MX records": dns.mx_records.map(({ priority, host }) => `${priority} ${host}`),
    "DKIM selectors": dkim.selectors_found,
    Blocklists: reputation.listed_on.map(({ name, listed }) => `${name}: ${listed}`),
    "Reverse DNS": list(server.reverse_dns),
    Issues: issues.filter((issue) => issue.cost_points > 0).map(({ message }) => message),
  };
};

const list = (value: string | null | undefined): readonly string[] =>
  value === null || value === undefined ? [] : [value];

const listChanges = (before: Check, after: Check): readonly Change[] => {
  const [old, now] = [getParts(before), getParts(after)];
  return Object.keys(now)
    .map((what) => {
      const [then, since] = [old[what] ?? [], now[what] ?? []];
      return {
        what,
        removed: then.filter((one) => !since.includes(one)),
        added: since.filter((one) => !then.includes(one)),
      };
    })
    .filter(({ removed, added }) => removed.length + added.length > 0);
};
