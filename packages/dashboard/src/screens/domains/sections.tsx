import { formatCount } from "../../format.ts";
import { type Check, getTone, type Issue, STATUS_WORDS } from "./check.ts";

type Section = {
  readonly title: string;
  readonly status: string;
  readonly score: number | null | undefined;
  readonly details: readonly string[];
  readonly issues: readonly Issue[];
  readonly note?: string | undefined;
};

const listSections = (check: Check): readonly Section[] => {
  const { dns, authentication, reputation, server } = check;
  const { dkim, dmarc, spf } = authentication;
  return [
    {
      title: "Mail hosts (MX)",
      status: dns.status,
      score: dns.mx_score,
      details: dns.mx_records.map(({ priority, host, ip }) =>
        `${priority} ${host} ${ip ?? ""}`.trim(),
      ),
      issues: dns.issues,
    },
    {
      title: "SPF",
      ...spf,
      score: spf.score,
      details: spf.record === null ? [] : [spf.record],
    },
    {
      title: "DKIM",
      ...dkim,
      score: dkim.score,
      details: dkim.selectors_found.map((selector) => `Selector ${selector}`),
    },
    {
      title: "DMARC",
      ...dmarc,
      score: dmarc.score,
      details: [
        ...(dmarc.record === null ? [] : [dmarc.record]),
        ...(dmarc.record_domain === undefined || dmarc.record_domain === check.domain
          ? []
          : [`From ${dmarc.record_domain}`]),
      ],
    },
    {
      title: "Blocklists",
      status:
        reputation.score === null ? "error" : reputation.blacklists_listed > 0 ? "listed" : "pass",
      score: reputation.score,
      details: [
        `${formatCount(reputation.blacklists_checked, "list")} answered, ${reputation.blacklists_listed} with a listing`,
        ...reputation.listed_on.map(toListing),
      ],
      issues: [],
    },
    {
      title: "Reverse DNS",
      status: server.reverse_dns_status,
      score: server.reverse_dns_score,
      details: server.reverse_dns === undefined ? [] : [server.reverse_dns],
      note:
        server.reverse_dns_status === "not_checked"
          ? "Needs the IP address that you send from: enter it when you check again."
          : undefined,
      issues: server.issues,
    },
  ];
};

export const toListing = (one: Check["reputation"]["listed_on"][number]): string =>
  `${one.name} lists ${one.listed}: ${one.says}`;

const Card = ({
  section: { title, status, score, details, issues, note },
}: {
  readonly section: Section;
}) => (
  <section class="panel card" aria-label={title}>
    <h3>
      {title} <b class={`state ${getTone(status)}`}>{STATUS_WORDS[status] ?? status}</b>
      <span class="card-score">{score ?? "–"}</span>
    </h3>
    {details.map((text) => (
      <p key={text} class="detail">
        <code>{text}</code>
      </p>
    ))}
    {note !== undefined && <p class="soft">{note}</p>}
    {issues.length > 0 && (
      <ul class="issues">
        {issues.map(({ id, message, cost_points: cost }) => (
          <li key={`${id} ${message}`}>
            {message} {cost > 0 && <span class="soft">−{cost}</span>}
          </li>
        ))}
      </ul>
    )}
  </section>
);

export const Sections = ({ check }: { readonly check: Check }) => (
  <>
    {listSections(check).map((section) => (
      <Card key={section.title} section={section} />
    ))}
  </>
);
