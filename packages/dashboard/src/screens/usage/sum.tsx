import { formatNumber } from "../../format.ts";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Waiting } from "../../parts/shape.tsx";
import { account, accountError, refreshAccount } from "../../session.ts";

/** The sum is granted − used + refunded − held = balance, since the account was created. */
export const BalanceSum = () => {
  const credits = account.value?.credits;
  if (!credits)
    return accountError.value === null ? (
      <Waiting what="the balance" shape="figure" />
    ) : (
      <ErrorPanel error={accountError.value} onRetry={() => void refreshAccount()} />
    );
  const { granted, used, refunded, held, available } = credits;
  const terms = [
    ["", "Granted", granted],
    ["−", "Used", used],
    ["+", "Refunded", refunded],
    ["−", "Held", held],
    ["=", "Balance", available],
  ] as const;
  return (
    <dl class="sum" aria-label="How the balance adds up, in credits">
      {terms.map(([sign, name, value]) => (
        <div key={name} class={name === "Balance" ? "term result" : "term"}>
          <dt>
            {sign} {name}
          </dt>
          <dd>{formatNumber(value)}</dd>
        </div>
      ))}
    </dl>
  );
};
