import type { FunctionComponent } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { toDocsHref } from "../base.ts";
import { formatCount, formatNumber } from "../format.ts";
import { useAction } from "../parts/action.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Icon } from "../parts/icon.tsx";
import { MenuButton } from "../parts/menu-button.tsx";
import {
  account,
  accountError,
  endSession,
  isOperator,
  isTestKey,
  person,
  refreshAccount,
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
  if (!data) return person.value ? null : <p>This key cannot read the account.</p>;
  const { name, plan, credits } = data;
  return (
    <>
      <p class="account-name">{name}</p>
      <p class="soft">
        Plan {plan.id}
        {!person.value && `, ${isTestKey.value ? "test" : "live"} key`}
        <br />
        {formatCount(credits.available, "credit")} available, {formatNumber(credits.held)} held
      </p>
    </>
  );
};

const SignOut = () => {
  const leave = useAction((everywhere: boolean) => endSession(everywhere));
  return (
    <>
      {leave.error !== undefined && <ErrorPanel error={leave.error} />}
      <div class="actions">
        <button type="button" onClick={() => void leave.run(false)}>
          Sign out
        </button>
        {person.value && (
          <button type="button" onClick={() => void leave.run(true)}>
            Sign out everywhere
          </button>
        )}
      </div>
    </>
  );
};

/** A key has none of it, so its code loads for a person only. */
const PersonPart = () => {
  const [Content, setContent] = useState<FunctionComponent>();
  useLayoutEffect(() => {
    if (person.peek() === null) return;
    import("../people/person-menu.tsx").then(
      ({ PersonMenu }) => setContent(() => PersonMenu),
      () => {},
    );
  }, []);
  return Content ? <Content /> : null;
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
        <PersonPart />
        <AccountSummary />
        <ThemeChoice />
        <p>
          <a href={toDocsHref()}>API documentation</a>
        </p>
        <SignOut />
      </div>
    )}
  </MenuButton>
);
