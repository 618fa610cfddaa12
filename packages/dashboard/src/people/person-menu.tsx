import { toHref } from "../base.ts";
import { formatCount, formatDay, formatNumber } from "../format.ts";
import { navigate } from "../router.ts";
import {
  account,
  chooseAccount,
  isTestKey,
  type Membership,
  membership,
  person,
} from "../session.ts";

/** Nothing of one account may stay on the screen of another. */
const open = (id: string, isTest: boolean): void => {
  navigate("");
  chooseAccount(id, isTest);
};

const AccountChoice = ({ accounts }: { readonly accounts: readonly Membership[] }) => {
  const here = membership.value?.account_id;
  return (
    <fieldset class="choice account-choice">
      <legend>Account</legend>
      {accounts.map(({ account_id: id, name, role }) => (
        <label key={id}>
          <input
            type="radio"
            name="account"
            checked={id === here}
            onChange={() => open(id, false)}
          />
          <span>
            {name} <small>{role}</small>
          </span>
        </label>
      ))}
    </fieldset>
  );
};

const DataChoice = () => {
  const here = membership.value?.account_id ?? "";
  return (
    <fieldset class="choice">
      <legend>Data</legend>
      {[false, true].map((isTest) => (
        <label key={String(isTest)}>
          <input
            type="radio"
            name="data"
            checked={isTestKey.value === isTest}
            onChange={() => open(here, isTest)}
          />
          {isTest ? "Test, simulated" : "Live"}
        </label>
      ))}
    </fieldset>
  );
};

const OwnLimit = () => {
  const monthly = account.value?.limit?.monthly;
  return monthly ? (
    <p>
      You may spend {formatNumber(monthly.left)} of {formatCount(monthly.credits, "credit")} until{" "}
      {formatDay(monthly.resets_at)}.
    </p>
  ) : null;
};

/** The part of the account's menu that a person has. */
export const PersonMenu = () =>
  person.value && (
    <>
      <p class="account-name">{person.value.name}</p>
      <p>
        <a href={toHref("settings/sign-ins")}>Your sign-ins</a>
      </p>
      <AccountChoice accounts={person.value.accounts} />
      <DataChoice />
      <OwnLimit />
    </>
  );
