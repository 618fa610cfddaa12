import { Screen } from "../../parts/screen.tsx";
import { type Params, path, query } from "../../router.ts";
import { DomainTabs } from "../domains/tabs.tsx";
import { NewTestButton } from "./new-test-button.tsx";
import "../domains/domains.css";
import "./mail-tests.css";
import type { MailTest } from "@mailproof/client";
import { toHref } from "../../base.ts";
import { formatCount, formatTime } from "../../format.ts";
import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { type Column, RowTable } from "../../parts/row-table.tsx";
import { Empty } from "../../parts/shape.tsx";
import { getClient } from "../../session.ts";
import { isOpen, POLL_MS, STATUS_TONES, STATUS_WORDS } from "./mail-test.ts";

export const MailTests = () => (
  <Screen
    title="Mail tests"
    lead="Send one mail to a one-time address and see how it arrived: signatures, alignment, server, content."
    actions={<NewTestButton />}
  >
    <TestList />
  </Screen>
);

export const DomainMailTests = ({ params }: { readonly params: Params }) => {
  const domain = params["domain"] ?? "";
  return (
    <Screen title={`${domain}: mail tests`} lead="How mail from this domain arrived.">
      <DomainTabs domain={domain} />
      <TestList domain={domain} />
      <p class="soft">
        A test belongs to the domain in the From field of its mail, so it is listed here once its
        mail has arrived.
      </p>
      <NewTestButton />
    </Screen>
  );
};

const LISTED = 20;

const COLUMNS: readonly Column<MailTest>[] = [
  {
    title: "Created",
    isHeader: true,
    cell: ({ test_id: id, created_at: at }) => (
      <a href={toHref(`mail-tests/${id}`)}>{formatTime(at)}</a>
    ),
  },
  {
    title: "Mail",
    cell: ({ status }) => <b class={STATUS_TONES[status]}>{STATUS_WORDS[status]}</b>,
  },
  { title: "From", cell: ({ from_domain: domain }) => domain },
  {
    title: "Charged",
    isNumber: true,
    cell: ({ credits_charged: credits }) => formatCount(credits, "credit"),
  },
];

type Props = {
  /** Absent for the tests of every domain, including those without a mail. */
  readonly domain?: string;
};

/** The tests, newest first. While a test is open, the list reads all again. */
const TestList = ({ domain }: Props) => {
  const offset = query.value.get("offset") ?? undefined;
  const load = useLoad(
    (signal) =>
      getClient().listMailTests(
        { limit: LISTED, ...(domain !== undefined && { domain }), ...(offset && { offset }) },
        { signal },
      ),
    [domain, offset],
  );
  usePolling(load, load.data?.tests.some(isOpen) ? POLL_MS : null);
  return (
    <Loaded load={load} what="the mail tests" as="rows">
      {({ tests, next_offset: next }) => (
        <>
          {tests.length === 0 ? (
            <Empty shape="rows">
              {domain === undefined
                ? "You have no mail tests yet."
                : `No test mail has arrived from ${domain} yet.`}
            </Empty>
          ) : (
            <RowTable
              label="Mail tests"
              columns={COLUMNS}
              rows={tests}
              getKey={({ test_id: id }) => id}
            />
          )}
          {(offset !== undefined || next !== undefined) && (
            <nav class="pages" aria-label="Pages of mail tests">
              {offset !== undefined && <a href={toHref(path.value)}>Newest mail tests</a>}
              {next !== undefined && (
                <a href={toHref(`${path.value}?${new URLSearchParams({ offset: next })}`)}>
                  Older mail tests
                </a>
              )}
            </nav>
          )}
        </>
      )}
    </Loaded>
  );
};
