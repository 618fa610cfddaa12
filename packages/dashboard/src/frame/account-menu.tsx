import { toDocsHref } from "../base.ts";
import { formatCount, formatNumber } from "../format.ts";
import { Icon } from "../parts/icon.tsx";
import { MenuButton } from "../parts/menu-button.tsx";
import {
  account,
  accountError,
  isOperator,
  isTestKey,
  refreshAccount,
  signOut,
} from "../session.ts";
import { chooseTheme, THEMES, theme } from "./theme.ts";

export const Balance = () => {
  const credits = account.value?.credits;
  if (credits)
    return (
      <span class="balance">
        <b>{formatNumber(credits.available)}</b> credits
      </span>
    );
  return accountError.value === null ? (
    <span class="balance">Balance …</span>
  ) : (
    <button type="button" class="balance quiet" onClick={() => void refreshAccount()}>
      Balance not loaded. Retry
    </button>
  );
};

const THEME_NAMES = { system: "System", light: "Light", dark: "Dark" } as const;

const ThemeChoice = () => (
  <fieldset class="choice">
    <legend>Theme</legend>
    {THEMES.map((one) => (
      <label key={one}>
        <input
          type="radio"
          name="theme"
          checked={theme.value === one}
          onChange={() => chooseTheme(one)}
        />
        {THEME_NAMES[one]}
      </label>
    ))}
  </fieldset>
);

const AccountSummary = () => {
  const data = account.value;
  if (isOperator.value) return <p class="account-name">The operator of this server</p>;
  if (!data) return <p>This key cannot read the account.</p>;
  const { name, plan, credits } = data;
  return (
    <>
      <p class="account-name">{name}</p>
      <p class="soft">
        Plan {plan.id}, {isTestKey.value ? "test key" : "live key"}
        <br />
        {formatCount(credits.available, "credit")} available, {formatNumber(credits.held)} held
      </p>
    </>
  );
};

export const AccountMenu = () => (
  <MenuButton
    class="icon-button"
    label={
      <>
        <Icon name="account" />
        <span class="unseen">Account</span>
      </>
    }
  >
    {() => (
      <div class="account-menu">
        <AccountSummary />
        <ThemeChoice />
        <p>
          <a href={toDocsHref()}>API documentation</a>
        </p>
        <button type="button" onClick={() => signOut()}>
          Sign out
        </button>
      </div>
    )}
  </MenuButton>
);
