import { formatCount, formatNumber } from "../../format.ts";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { toListing } from "../domains/sections.tsx";
import { ArcCard, DkimCard, DmarcCard, SpfCard } from "./authentication-cards.tsx";
import {
  Card,
  Detail,
  getScore,
  NOT_MEASURED,
  type ReportProps,
  type State,
  StateWord,
  toYesNo,
} from "./card.tsx";
import type { MessageReport } from "./mail-test.ts";

const HELO_KINDS = {
  name: null,
  literal: { tone: "warn", word: "an address, not a name" },
  invalid: { tone: "bad", word: "not a host name" },
} as const;

const ServerCard = ({ report }: ReportProps) => {
  const { server, envelope, missing_parts: missing } = report;
  const helo =
    HELO_KINDS[server.helo_kind] ?? toYesNo(server.helo_resolves, "resolves", "does not resolve");
  const hasNoName = server.reverse_dns === undefined && !missing.includes("server");
  return (
    <Card
      title="Sending server"
      state={missing.includes("server") ? NOT_MEASURED : null}
      score={getScore(report, "server")}
    >
      <dl class="mail-details">
        <Detail name="Address">
          <code>{envelope.ip}</code>
        </Detail>
        <Detail name="Name (PTR)">
          {server.reverse_dns !== undefined && (
            <>
              <code>{server.reverse_dns}</code>{" "}
            </>
          )}
          <StateWord
            {...(hasNoName
              ? { tone: "bad", word: "none" }
              : toYesNo(server.reverse_dns_confirmed, "resolves back", "does not resolve back"))}
          />
        </Detail>
        <Detail name="HELO">
          <code>{envelope.helo}</code> <StateWord {...helo} />
        </Detail>
        <Detail name="TLS">
          {envelope.tls_status === "none" && <StateWord tone="bad" word="not encrypted" />}
          {envelope.tls_status === "unknown" && <StateWord tone="grey" word="unknown" />}
          {envelope.tls_version !== undefined && (
            <>
              <StateWord tone="good" word={envelope.tls_version} />, {envelope.tls_cipher}
            </>
          )}
        </Detail>
      </dl>
    </Card>
  );
};

const BlocklistCard = ({ report }: ReportProps) => {
  const { blacklists_checked: checked, listed_on: listed } = report.reputation;
  const state: State =
    listed.length > 0
      ? { tone: "bad", word: "listed" }
      : checked === 0
        ? { tone: "grey", word: "no answer" }
        : { tone: "good", word: "not listed" };
  return (
    <Card title="Blocklists" state={state} score={getScore(report, "reputation")}>
      <p>{formatCount(checked, "list")} answered.</p>
      <ul class="plain">
        {listed.map((one) => (
          <li key={`${one.id} ${one.listed}`}>
            {toListing(one)}.{" "}
            {one.removal_url !== "" && (
              <a href={one.removal_url} target="_blank" rel="noreferrer">
                Request removal from {one.name}
              </a>
            )}
          </li>
        ))}
      </ul>
    </Card>
  );
};

const UnsubscribeCard = ({ report: { unsubscribe } }: ReportProps) => (
  <Card
    title="Unsubscribing"
    state={
      unsubscribe.one_click
        ? { tone: "good", word: "one click" }
        : { tone: "grey", word: "not one-click" }
    }
  >
    <dl class="mail-details">
      <Detail name="Link">
        {unsubscribe.https_uri === undefined ? "none" : <code>{unsubscribe.https_uri}</code>}
      </Detail>
      <Detail name="Address">
        {unsubscribe.mailto_uri === undefined ? "none" : <code>{unsubscribe.mailto_uri}</code>}
      </Detail>
      {unsubscribe.https_uri !== undefined && (
        <Detail name="Signed">
          <StateWord {...toYesNo(unsubscribe.signed, "yes", "no")} />, by a valid DKIM signature
        </Detail>
      )}
    </dl>
    <p class="soft">Gmail and Yahoo require it only for marketing mail.</p>
  </Card>
);

const ContentCard = ({ report }: ReportProps) => {
  const { content } = report;
  return (
    <Card title="Content" state={null} score={getScore(report, "content")}>
      <dl class="mail-details">
        <Detail name="Size">{formatCount(content.size_bytes, "byte")}</Detail>
        <Detail name="Text">
          {[content.html && "HTML", content.text && "plain text"].filter(Boolean).join(" and ") ||
            "none"}
        </Detail>
        <Detail name="Pictures">{content.images}</Detail>
        <Detail name="Attachments">
          {content.attachments.length === 0
            ? "none"
            : content.attachments.map(({ filename, type }) => filename ?? type).join(", ")}
        </Detail>
      </dl>
      <details>
        <summary>{formatCount(content.parts.length, "MIME part")}</summary>
        <ul class="parts">
          {content.parts.map(({ depth, type, charset, encoding, bytes }, at) => (
            <li key={at}>
              {"– ".repeat(depth)}
              <code>{type}</code>
              {charset !== undefined && `, ${charset}`}, {encoding}, {formatCount(bytes, "byte")}
            </li>
          ))}
        </ul>
      </details>
    </Card>
  );
};

export const Cards = ({ report }: ReportProps) => (
  <>
    <SpfCard report={report} />
    <DkimCard report={report} />
    <DmarcCard report={report} />
    <ArcCard report={report} />
    <ServerCard report={report} />
    <BlocklistCard report={report} />
    <UnsubscribeCard report={report} />
    <ContentCard report={report} />
    <Links report={report} />
  </>
);

type Host = MessageReport["content"]["link_hosts"][number];

const Links = ({ report: { content, reputation } }: { readonly report: MessageReport }) => {
  if (content.link_hosts.length === 0) return null;
  const listed = new Map(reputation.listed_on.map((one) => [one.listed, one.name]));
  const columns: readonly Column<Host>[] = [
    { title: "Host", isHeader: true, cell: ({ host }) => host },
    { title: "Links", isNumber: true, cell: ({ links }) => formatNumber(links) },
    {
      title: "What stands out",
      cell: ({ host, shortener, plain_http: isPlain }) => {
        const listing = findListing(listed, host);
        return (
          <>
            {listing !== undefined && <b class="bad">on the blocklist {listing} </b>}
            {[shortener && "a shortener", isPlain && "not encrypted (http)"]
              .filter(Boolean)
              .join(", ")}
          </>
        );
      },
    },
  ];
  return (
    <section class="panel wide" aria-labelledby="links">
      <h2 id="links">Links</h2>
      <RowTable
        label="Hosts of the links"
        columns={columns}
        rows={content.link_hosts}
        getKey={({ host }) => host}
      />
    </section>
  );
};

/** A blocklist lists a host, or the domain above it. */
const findListing = (listed: ReadonlyMap<string, string>, host: string): string | undefined =>
  [...listed].find(([name]) => host === name || host.endsWith(`.${name}`))?.[1];
