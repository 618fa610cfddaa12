import type { GetMailTestData, MailTest } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatClock, formatCount, formatTime } from "../../format.ts";
import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import type { Params } from "../../router.ts";
import { getClient, isTestKey } from "../../session.ts";
import { CAP_REASONS, isOpen, type MessageReport, PART_TITLES, POLL_MS } from "./mail-test.ts";
import { NewTestButton } from "./new-test-button.tsx";
import "../domains/domains.css";
import "./mail-tests.css";
import { useLayoutEffect, useState } from "preact/hooks";
import { CopyButton } from "../../parts/copy-button.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { Counting } from "../domains/counting.tsx";
import { Dial } from "../domains/dial.tsx";
import { FixList } from "../domains/fixes.tsx";
import { Cards } from "./cards.tsx";

/** The test's progress in one sentence, which screen readers read aloud when it changes. */
const toSentence = ({
  status,
  received_at: at,
  expires_at: end,
  report,
}: GetMailTestData): string => {
  if (status === "waiting") return "No mail has arrived yet.";
  if (status === "assessing")
    return "The mail has arrived. Its signatures, DNS and the blocklists are being looked up; the report follows within seconds.";
  if (status === "expired")
    return `No mail arrived by ${formatTime(end)}, so the test ended and its price was refunded.`;
  if (status === "failed")
    return "The mail could not be assessed because of an error in this service. The price was refunded.";
  const when = at === undefined ? "" : ` ${formatTime(at)}`;
  return report
    ? `The mail arrived${when}: grade ${report.grade}, ${report.score} of 100.`
    : `The mail arrived${when}. Its report was erased with the sender's address.`;
};

const NoMail = () => (
  <section class="panel main" aria-labelledby="no-mail">
    <h2 id="no-mail">Why mail may not arrive</h2>
    <ul>
      <li>It was sent to another address: copy the address instead of typing it.</li>
      <li>Your system holds it back: look for the address in its queue and in its log.</li>
      <li>
        The receiver refused it: the log has the reply, such as 550 5.7.1, followed by the reason.
      </li>
    </ul>
    <NewTestButton />
  </section>
);

const Content = ({ test }: { readonly test: GetMailTestData }) => {
  if (test.status === "waiting") return <Waiting test={test} />;
  if (test.status === "expired") return <NoMail />;
  if (test.status === "failed") return <NewTestButton />;
  return test.report ? <ReportView report={test.report} /> : null;
};

export const MailTestScreen = ({ params }: { readonly params: Params }) => {
  const id = params["id"] ?? "";
  const load = useLoad((signal) => getClient().getMailTest({ id }, { signal }), [id]);
  const { data } = load;
  usePolling(load, data && isOpen(data) ? POLL_MS : null);
  return (
    <Screen
      title={data?.from_domain === undefined ? "Mail test" : `Mail test: ${data.from_domain}`}
    >
      <p class="back">
        <a href={toHref("mail-tests")}>All mail tests</a>
        {data?.from_domain !== undefined && (
          <>
            {" · "}
            <a href={toHref(`domains/${data.from_domain}`)}>{data.from_domain}</a>
          </>
        )}
      </p>
      <Loaded load={load} what="the mail test">
        {(test) => (
          <>
            <p role="status">{toSentence(test)}</p>
            <Content test={test} />
          </>
        )}
      </Loaded>
    </Screen>
  );
};

type ReportProps = { readonly report: MessageReport };

const ReportView = ({ report }: ReportProps) => (
  <>
    <div class="report-head">
      <Dial score={report.score} grade={report.grade} />
      <div>
        <Summary report={report} />
        <div class="actions">
          <button type="button" onClick={() => print()}>
            Print
          </button>
        </div>
      </div>
    </div>
    <div class="panels mail-report">
      <section class="panel main wide" aria-labelledby="fixes">
        <h2 id="fixes">What to fix first</h2>
        <FixList
          parts={report.findings.map(({ advice, ...finding }) => ({ ...finding, text: advice }))}
        />
      </section>
      <Requirements requirements={report.requirements} />
      <Cards report={report} />
      <Counting scored={report} titles={PART_TITLES} capReasons={CAP_REASONS} />
    </div>
  </>
);

const Summary = ({ report: { header, envelope, missing_parts: missing } }: ReportProps) => (
  <>
    <p class="mail-subject">
      <b>{header.subject ?? "No subject"}</b>
      <br />
      {header.from ? `From ${header.from.name} <${header.from.address}>` : "No single author"}
      {header.sent_at !== undefined && `, dated ${formatTime(header.sent_at)}`}
    </p>
    {missing.length > 0 && (
      <p>
        Not measured, because DNS did not answer:{" "}
        {missing.map((part) => PART_TITLES[part] ?? part).join(", ")}. That counts neither for nor
        against the mail.
      </p>
    )}
    <p class="soft">
      Envelope: from {envelope.mail_from === "" ? "<>" : envelope.mail_from}, received{" "}
      {formatTime(envelope.received_at)} from {envelope.ip}.
    </p>
  </>
);

const TICK_MS = 5_000;
const MINUTE_MS = 60_000;

const useRemainingMs = (until: string): number => {
  const [now, setNow] = useState(Date.now());
  useLayoutEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Date.parse(until) - now);
};

const toRemaining = (ms: number): string =>
  ms < MINUTE_MS ? "less than a minute" : formatCount(Math.floor(ms / MINUTE_MS), "minute");

const Waiting = ({ test }: { readonly test: MailTest }) => {
  const remainingMs = useRemainingMs(test.expires_at);
  return (
    <section class="panel main" aria-labelledby="send-mail">
      <h2 id="send-mail">Send one mail to this address</h2>
      <p class="test-address">
        <code>{test.address}</code>
        <CopyButton text={test.address} label="Copy address" />
      </p>
      <p>
        It accepts one mail until {formatClock(test.expires_at)}:{" "}
        <b>{remainingMs === 0 ? "time is up" : `${toRemaining(remainingMs)} left`}</b>.
      </p>
      <ol>
        <li>
          Send it the way your customers get theirs: from the shop, the newsletter tool or the
          program, not from your own mailbox.
        </li>
        <li>
          Use real content. Its links, its unsubscribe fields and its size are part of the report.
        </li>
        <li>
          Leave this page open, or come back to it: it shows the report within seconds of the mail's
          arrival.
        </li>
      </ol>
      <p class="soft">
        {isTestKey.value
          ? "This is a test key: a simulated mail arrives within seconds."
          : "How long your mail takes depends on the system that sends it; greylisting and queues can take minutes. If no mail arrives, the credits are refunded."}
      </p>
    </section>
  );
};

type Requirement = MessageReport["requirements"][number];
type Receiver = Requirement["receivers"][number];

const RECEIVERS: Readonly<Record<Receiver, string>> = {
  gmail: "Gmail",
  yahoo: "Yahoo",
  microsoft: "Microsoft",
};

/** An unknown result is never red. */
const WORDS: Readonly<
  Record<Requirement["status"], { readonly word: string; readonly tone: string }>
> = {
  met: { word: "met", tone: "good" },
  unmet: { word: "not met", tone: "bad" },
  unknown: { word: "not measured", tone: "grey" },
};

const COLUMNS: readonly Column<Requirement>[] = [
  {
    title: "Requirement",
    isHeader: true,
    cell: ({ text, bulk_only: isForBulk }) => (
      <>
        {text}
        {isForBulk && <small>Bulk senders only</small>}
      </>
    ),
  },
  ...Object.entries(RECEIVERS).map(
    ([receiver, title]): Column<Requirement> => ({
      title,
      cell: ({ receivers, status }) =>
        receivers.includes(receiver as Receiver) ? (
          <b class={WORDS[status].tone}>{WORDS[status].word}</b>
        ) : (
          <span class="soft">not required</span>
        ),
    }),
  ),
];

const Requirements = ({ requirements }: { readonly requirements: readonly Requirement[] }) => (
  <section class="panel wide requirements" aria-labelledby="requirements">
    <h2 id="requirements">What receivers require</h2>
    <RowTable
      label="Requirements by receiver"
      columns={COLUMNS}
      rows={requirements}
      getKey={({ id }) => id}
    />
    <p class="soft">Bulk senders send more than about 5,000 messages a day to one receiver.</p>
  </section>
);
