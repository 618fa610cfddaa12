import type { GetMailTestData } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatTime } from "../../format.ts";
import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import type { Params } from "../../router.ts";
import { getClient } from "../../session.ts";
import { isOpen, POLL_MS } from "./mail-test.ts";
import { NewTestButton } from "./new-test-button.tsx";
import { ReportView } from "./report-view.tsx";
import { Waiting } from "./waiting.tsx";
import "../domains/domains.css";
import "./mail-tests.css";

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
