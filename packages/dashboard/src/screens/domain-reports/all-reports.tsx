import { toHref } from "../../base.ts";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { Empty } from "../../parts/shape.tsx";
import { query } from "../../router.ts";
import { getClient } from "../../session.ts";
import { DomainList, loadLatest } from "../domains/domain-list.tsx";
import { ReportedDomains } from "./reported-domains.tsx";
import { Upload } from "./upload.tsx";
import "../domains/domains.css";
import "./reports.css";

const loadAll = async (signal: AbortSignal, offset: string | undefined) => {
  const [reported, checks] = await Promise.all([
    getClient().listDomains({ ...(offset !== undefined && { offset }) }, { signal }),
    loadLatest(signal),
  ]);
  const names = new Set(reported.domains.map(({ domain }) => domain));
  return { reported, checks: checks.filter(({ domain }) => !names.has(domain)) };
};

export const AllReports = () => {
  const offset = query.value.get("offset") ?? undefined;
  const load = useLoad((signal) => loadAll(signal, offset), [offset]);
  return (
    <Screen
      title="DMARC reports"
      lead="What receivers report about your domains: who sends as them, and how much of it is aligned."
    >
      <Loaded load={load} what="the domains" as="rows">
        {({ reported, checks }) => (
          <>
            {reported.domains.length > 0 && <ReportedDomains data={reported} />}
            {reported.domains.length + checks.length === 0 && (
              <Empty
                shape="bars"
                action={
                  <a class="button" href={toHref("domains")}>
                    Check a domain
                  </a>
                }
              >
                Upload a report, or check a domain to see how to receive its reports automatically.
              </Empty>
            )}
            {/* A domain of another page may have reports, so only a complete list shows which have none. */}
            {checks.length > 0 && offset === undefined && !reported.has_more && (
              <section class="panel" aria-labelledby="unreported">
                <h2 id="unreported">Checked domains without reports</h2>
                <DomainList checks={checks} tab="/reports" />
              </section>
            )}
          </>
        )}
      </Loaded>
      <Upload onStored={load.reload} />
    </Screen>
  );
};
