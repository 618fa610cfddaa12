import type { GetDomainReportsData } from "@mailproof/client";
import { formatCount } from "../../format.ts";
import { StackedBar } from "../../parts/stacked-bar.tsx";

type Tls = GetDomainReportsData["tls"];

const POLICIES: Readonly<Record<Tls["policies"][number]["policy"], string>> = {
  sts: "MTA-STS",
  tlsa: "DANE",
  "no-policy-found": "Without a policy",
};

export const TlsPanel = ({ tls }: { readonly tls: Tls }) => (
  <section class="panel wide" aria-labelledby="tls">
    <h2 id="tls">Mail to this domain over TLS</h2>
    {tls.reports === 0 ? (
      <p class="soft">
        No TLS reports in this period. The record at <code>_smtp._tls</code> requests them.
      </p>
    ) : (
      <>
        <StackedBar
          parts={[
            { name: "Succeeded", value: tls.succeeded, tone: "is-valid" },
            { name: "Failed", value: tls.failed, tone: "is-invalid" },
          ]}
          total={tls.succeeded + tls.failed}
          label="Sessions over TLS"
        />
        <ul>
          {tls.policies.map(({ policy, succeeded, failed, failures }) => (
            <li key={policy}>
              {POLICIES[policy]}: {formatCount(succeeded, "session")} succeeded, {failed} failed
              {failures.length > 0 &&
                ` (${failures.map(({ type, sessions }) => `${type}: ${sessions}`).join(", ")})`}
              .
            </li>
          ))}
        </ul>
      </>
    )}
  </section>
);
