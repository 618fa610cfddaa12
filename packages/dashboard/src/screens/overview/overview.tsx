import { toHref } from "../../base.ts";
import { useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { account, accountError, isForbidden, may } from "../../session.ts";
import { loadLatest } from "../domains/domain-list.tsx";
import { BalancePanel, useUsage } from "./credits.tsx";
import { DecisionsPanel } from "./decisions.tsx";
import { DomainsPanel } from "./domains.tsx";
import "./overview.css";
import { ListsPanel } from "./lists.tsx";
import { QuickVerify } from "./quick-verify.tsx";
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
