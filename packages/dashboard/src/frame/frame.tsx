import { useLayoutEffect } from "preact/hooks";
import { toHref } from "../base.ts";
import { mayPass } from "../parts/error-panel.tsx";
import { Icon, Logo } from "../parts/icon.tsx";
import { AGAIN_MS, usePolling } from "../parts/load.tsx";
import {
  account,
  accountError,
  frameNotice,
  isOperator,
  isTestKey,
  person,
  refreshAccount,
} from "../session.ts";
import { AccountMenu, Balance } from "./account-menu.tsx";
import { CommandPalette, openPalette } from "./command-palette.tsx";
import { Connection } from "./connection.tsx";
import { Menu } from "./menu.tsx";
import { Navigation } from "./navigation.tsx";
import { announcement, Outlet } from "./outlet.tsx";

/** A link signs in once, so without another way the person is locked out when the session ends. */
const SignInNotice = () =>
  person.value && person.value.passkeys.length + person.value.identities.length === 0 ? (
    <p class="notice">
      <a href={toHref("settings/sign-ins")}>Add a passkey</a>: otherwise this sign-in ends in 7 days
      and you need a new link.
    </p>
  ) : null;

export const Frame = () => {
  useLayoutEffect(() => {
    void refreshAccount();
  }, []);
  const error = accountError.value;
  usePolling(
    { data: account.value, error, reload: refreshAccount },
    error !== null && mayPass(error) ? AGAIN_MS : null,
  );
  return (
    <>
      <a class="skip" href="#content">
        Skip to content
      </a>
      {isTestKey.value && (
        <aside class="test-bar" aria-label="Test data">
          <strong>Test data.</strong> Results are simulated, and nothing is charged.
        </aside>
      )}
      <div class="frame">
        <div class="column">
          <div class="column-inner">
            <header class="bar">
              <a class="brand" href={toHref("")}>
                <Logo />
                Mailproof
              </a>
              {account.value && <span class="account-of">{account.value.name}</span>}
              <button type="button" class="search" onClick={openPalette}>
                <Icon name="find" />
                <span>Go to</span>
                <kbd aria-hidden="true">Ctrl K</kbd>
              </button>
              {!isOperator.value && <Balance />}
              <AccountMenu />
              <Menu />
            </header>
            <div class="side">
              <Navigation />
            </div>
          </div>
        </div>
        <main id="content" tabIndex={-1}>
          <Connection />
          {frameNotice.value !== null && (
            <p class="notice" role="status">
              {frameNotice}
            </p>
          )}
          <SignInNotice />
          <Outlet />
        </main>
      </div>
      <CommandPalette />
      <p class="unseen" aria-live="polite">
        {announcement}
      </p>
    </>
  );
};
