import type { FindEmailData } from "@mailproof/client";
import { useState } from "preact/hooks";
import { formatCount } from "../../format.ts";
import { handleSubmit, useAction } from "../../parts/action.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { usePrices } from "../../parts/price.ts";
import { Screen } from "../../parts/screen.tsx";
import { StatusBadge } from "../../parts/status-badge.tsx";
import { getClient, isTestKey, refreshAccount } from "../../session.ts";
import "./find.css";

const FIELDS = [
  { name: "first_name", label: "First name", placeholder: "Ada" },
  { name: "last_name", label: "Last name", placeholder: "Lovelace" },
  { name: "domain", label: "Company's domain", placeholder: "example.com" },
] as const;

type Search = Record<(typeof FIELDS)[number]["name"], string>;

const EMPTY: Search = { first_name: "", last_name: "", domain: "" };

export const Find = () => {
  const [search, setSearch] = useState(EMPTY);
  const [found, setFound] = useState<FindEmailData | null>(null);
  const { find: price } = usePrices();
  const { isRunning, error, run } = useAction(async () => {
    setFound(await getClient().findEmail(search));
    void refreshAccount();
  });
  return (
    <Screen title="Find" lead="A person's work address, from the name and the company's domain.">
      <form class="find" noValidate onSubmit={handleSubmit(run)}>
        {FIELDS.map(({ name, label, placeholder }) => (
          <div key={name}>
            <label for={name}>{label}</label>
            <input
              id={name}
              type="text"
              autocomplete="off"
              spellcheck={false}
              placeholder={placeholder}
              value={search[name]}
              onInput={({ currentTarget }) => setSearch({ ...search, [name]: currentTarget.value })}
            />
          </div>
        ))}
        <button type="submit" class="primary" aria-disabled={isRunning}>
          Find
        </button>
        <p class="soft">
          {isTestKey.value
            ? "Free with a test key."
            : `${price === undefined ? "" : `${formatCount(price, "credit")}, even when nothing is found. `}Repeating a search within two minutes is free.`}
        </p>
      </form>
      <div aria-live="polite" aria-busy={isRunning}>
        {isRunning && <p class="waiting">Asking the mail server of {search.domain} …</p>}
        {!isRunning && error !== undefined && (
          <ErrorPanel error={error} onRetry={() => void run()} />
        )}
        {!isRunning && error === undefined && found && <Found found={found} />}
      </div>
    </Screen>
  );
};

const Found = ({ found }: { readonly found: FindEmailData }) => (
  <section class="panel main found" aria-labelledby="found">
    <h2 id="found">
      {found.email ?? `No address found for ${found.first_name} ${found.last_name}`}
    </h2>
    <p>
      <StatusBadge status={found.status} /> {found.message}{" "}
      {found.email !== null && <CopyButton text={found.email} />}
    </p>
    <dl>
      <dt>Confidence</dt>
      <dd>{found.confidence} of 100</dd>
      <dt>Pattern of the domain</dt>
      <dd>{found.pattern ?? "not known"}</dd>
      <dt>Proven to exist</dt>
      <dd>{found.verified ? "yes" : "no"}</dd>
      <dt>Price</dt>
      <dd>{toPrice(found)}</dd>
    </dl>
  </section>
);

/** `credits_used` is the price of the search, even if an earlier request paid it. */
const toPrice = ({ credits_used, idempotent_replay }: FindEmailData): string => {
  if (isTestKey.value) return "free with a test key";
  if (idempotent_replay) return "free: you paid for the same search within the last two minutes";
  return credits_used === 0 ? "free" : formatCount(credits_used, "credit");
};
