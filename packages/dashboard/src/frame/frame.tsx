import { useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { toHref } from "../base.ts";
import { mayPass } from "../parts/error-panel.tsx";
import { Icon, Logo } from "../parts/icon.tsx";
import { AGAIN_MS, usePolling } from "../parts/load.tsx";
import { path } from "../router.ts";
import { GROUPS, listScreens, type ScreenEntry } from "../screens.ts";
import {
  account,
  accountError,
  frameNotice,
  isOperator,
  isTestKey,
  may,
  person,
  refreshAccount,
} from "../session.ts";
import { AccountMenu, Balance } from "./account-menu.tsx";
import { CommandPalette, openPalette } from "./command-palette.tsx";
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

const Connection = () => {
  const isOffline = useSignal(!navigator.onLine);
  useLayoutEffect(() => {
    const update = () => {
      isOffline.value = !navigator.onLine;
    };
    addEventListener("online", update);
    addEventListener("offline", update);
    return () => {
      removeEventListener("online", update);
      removeEventListener("offline", update);
    };
  }, []);
  return (
    <div role="status">
      {isOffline.value && (
        <p class="notice">You are offline. This page may be out of date, and nothing is sent.</p>
      )}
    </div>
  );
};

/** The navigation of a small window is a native dialog, which keeps the focus inside and closes on Esc. */
const Menu = () => {
  const dialog = useRef<HTMLDialogElement>(null);
  const close = () => dialog.current?.close();
  return (
    <>
      <button
        type="button"
        class="icon-button menu"
        aria-haspopup="dialog"
        onClick={() => dialog.current?.showModal()}
      >
        <Icon name="menu" />
        <span class="unseen">Menu</span>
      </button>
      <dialog
        ref={dialog}
        class="menu-dialog"
        aria-label="Menu"
        onClick={(event) => {
          if (event.target === dialog.current) close();
        }}
      >
        <button type="button" class="icon-button" onClick={close}>
          <Icon name="close" />
          <span class="unseen">Close</span>
        </button>
        <Navigation onChoose={close} />
      </dialog>
    </>
  );
};

/** Finds the entry of the current screen. A list's screen belongs to "Lists"; a screen with its own entry, such as a new list, does not. */
const findHere = (listed: readonly ScreenEntry[]): ScreenEntry | undefined =>
  listed.find((entry) => path.value === entry.path) ??
  listed.find((entry) => entry.path !== "" && path.value.startsWith(`${entry.path}/`));

type Props = { readonly onChoose?: (() => void) | undefined };
type EntryProps = Props & { readonly entry: ScreenEntry; readonly isHere: boolean };

const Entry = ({ entry, isHere, onChoose }: EntryProps) => (
  <li>
    <a href={toHref(entry.path)} aria-current={isHere ? "page" : undefined} onClick={onChoose}>
      {entry.icon && <Icon name={entry.icon} />}
      {entry.title}
    </a>
  </li>
);

const Navigation = ({ onChoose }: Props) => {
  const listed = listScreens().filter(
    ({ icon, needs }) => icon !== undefined && (!needs || may(needs)),
  );
  const here = findHere(listed);
  const groups = [undefined, ...GROUPS].map((group) => ({
    group,
    entries: listed.filter((entry) => entry.group === group),
  }));
  return (
    <nav aria-label="Screens">
      {groups
        .filter(({ entries }) => entries.length > 0)
        .map(({ group, entries }) => (
          <div key={group ?? ""}>
            {group && <h2>{group}</h2>}
            <ul>
              {entries.map((entry) => (
                <Entry key={entry.path} entry={entry} isHere={entry === here} onChoose={onChoose} />
              ))}
            </ul>
          </div>
        ))}
    </nav>
  );
};
