import { toDocsHref, toHref } from "../../base.ts";
import { type Load, Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { account, accountError, isForbidden, may } from "../../session.ts";
import { DomainList, loadLatest } from "../domains/domain-list.tsx";
import { BalancePanel, useUsage } from "./credits.tsx";
import { DecisionsPanel } from "./decisions.tsx";
import "./overview.css";
import type { CheckSummary } from "@mailproof/client";
import { OneLineForm } from "../../parts/one-line-form.tsx";
import { navigate } from "../../router.ts";
import { ListsPanel } from "./lists.tsx";
import { Part } from "./part.tsx";
import { countVerdicts, VerdictsPanel } from "./verdicts.tsx";

export const Overview = () => {
  const usage = useUsage();
  const domains = useLoad(loadLatest);
  const isNew =
    account.value?.credits.spent === 0 &&
    usage.data !== undefined &&
    countVerdicts(usage.data.totals.verdicts) === 0;
  return (
    <Screen
      title="Overview"
      actions={
        may("verification:write") && (
          <a class="button" href={toHref("lists/new")}>
            New list
          </a>
        )
      }
    >
      <div class="overview">
        <div class="panels">
          {may("verification:write") && <QuickVerify isNew={isNew} />}
          <ListsPanel />
          <VerdictsPanel usage={usage} />
        </div>
        <div class="panels">
          <DecisionsPanel domains={domains} />
          <BalancePanel usage={usage} />
          <DomainsPanel load={domains} />
        </div>
      </div>
      {isForbidden(accountError.value) && (
        <p class="soft">This key has some scopes only. What it may not read is left out here.</p>
      )}
    </Screen>
  );
};

const SHOWN = 6;

const DomainsPanel = ({ load }: { readonly load: Load<readonly CheckSummary[]> }) => (
  <Part
    id="domains"
    title="Domains"
    error={load.error}
    action={<a href={toHref("domains")}>Check a domain</a>}
  >
    <Loaded load={load} what="the checks of domains" as="grades">
      {(domains) =>
        domains.length === 0 ? (
          <p class="soft">No domain has been checked yet.</p>
        ) : (
          <DomainList checks={domains.slice(0, SHOWN)} />
        )
      }
    </Loaded>
  </Part>
);

type QuickVerifyProps = { readonly isNew: boolean };

/**
 * A new account gets instructions above the field. The account loads after the field is shown, so the field element must stay the same, or
 * the text typed meanwhile is lost.
 */
const QuickVerify = ({ isNew }: QuickVerifyProps) => (
  <section
    class={isNew ? "panel first-steps" : undefined}
    aria-label={isNew ? "Your first verdict" : "Verify one address"}
  >
    {isNew && (
      <>
        <h2>Your first verdict</h2>
        <p>Enter any address and press Verify. You see whether to send to it, and why.</p>
      </>
    )}
    <OneLineForm
      key="form"
      id="quick-email"
      label="Verify an address"
      inputMode="email"
      placeholder="ada@example.com"
      action="Verify"
      onText={(email) => navigate("verify", { state: { email } })}
    />
    {isNew && (
      <p class="soft">
        From a program it is one request: <a href={toDocsHref("/quick-start")}>Quick start</a>.
      </p>
    )}
  </section>
);
