import { Screen } from "../../parts/screen.tsx";
import { account, accountError, isForbidden } from "../../session.ts";
import { BalancePanel, useUsage } from "./credits.tsx";
import { DomainsPanel } from "./domains.tsx";
import "./overview.css";
import { QuickVerify } from "./quick-verify.tsx";
import { RunningLists } from "./running-lists.tsx";
import { countVerdicts, VerdictsPanel } from "./verdicts.tsx";
import { FailingWebhooks } from "./webhooks.tsx";

export const Overview = () => {
  const usage = useUsage();
  const isNew =
    account.value?.credits.spent === 0 &&
    usage.data !== undefined &&
    countVerdicts(usage.data.totals.verdicts) === 0;
  return (
    <Screen title="Overview">
      <QuickVerify isNew={isNew} />
      <div class="panels overview">
        <BalancePanel usage={usage} />
        <VerdictsPanel usage={usage} />
        <RunningLists />
        <DomainsPanel />
        <FailingWebhooks />
      </div>
      {isForbidden(accountError.value) && (
        <p class="soft">This key has some scopes only. What it may not read is left out here.</p>
      )}
    </Screen>
  );
};
