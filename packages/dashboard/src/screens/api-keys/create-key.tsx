import type { CreateApiKeyData, CreateApiKeyInput } from "@mailproof/client";
import { SCOPES, type Scope } from "@mailproof/core/accounts/scopes";
import { SCRIPT_INTEGRITY, SCRIPT_PATH } from "@mailproof/guard/built";
import { useSignal } from "@preact/signals";
import { useRef } from "preact/hooks";
import { API_URL, toDocsHref } from "../../base.ts";
import { handleSubmit, readText, useAction } from "../../parts/action.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Answers, Dialog } from "../../parts/dialog.tsx";
import { getClient, isTestKey } from "../../session.ts";

type Props = {
  readonly isOpen: boolean;
  readonly onCreated: () => void;
  readonly onClose: () => void;
};

/** Shows the form, and then the key: when the dialog closes, nobody can read the key again. */
export const CreateKey = ({ isOpen, onCreated, onClose }: Props) => {
  const created = useSignal<CreateApiKeyData | null>(null);
  const keep = (data: CreateApiKeyData) => {
    created.value = data;
    onCreated();
  };
  const close = () => {
    created.value = null;
    onClose();
  };
  return (
    <Dialog
      title={created.value ? "Copy your key now" : "Create a key"}
      isOpen={isOpen}
      onClose={close}
    >
      {created.value ? (
        <NewKey created={created.value} onClose={close} />
      ) : (
        <KeyForm onCreated={keep} onClose={close} />
      )}
    </Dialog>
  );
};

const NewKey = ({
  created,
  onClose,
}: {
  readonly created: CreateApiKeyData;
  readonly onClose: () => void;
}) => (
  <>
    {created.public ? (
      <FormSnippet publicKey={created.key} />
    ) : (
      <>
        <p>This key is shown only once. Anyone who has it can spend your credits.</p>
        <p class="new-key">
          <code>{created.key}</code> <CopyButton text={created.key} />
        </p>
      </>
    )}
    <p class="actions">
      <button type="button" class="primary" onClick={onClose}>
        Done
      </button>
    </p>
  </>
);

const DAY_MS = 86_400_000;
const LIFETIMES = [0, 30, 90, 365] as const;

type FormProps = {
  readonly onCreated: (data: CreateApiKeyData) => void;
  readonly onClose: () => void;
};

const readInput = (fields: FormData): CreateApiKeyInput => {
  const days = Number(readText(fields, "days"));
  const preset = PRESETS.find(({ name }) => name === readText(fields, "preset"));
  const scopes = preset?.scopes ?? (fields.getAll("scope") as Scope[]);
  const isPublic = preset?.name === PUBLIC;
  return {
    name: readText(fields, "name"),
    mode: readText(fields, "mode") === "live" ? "live" : "test",
    ...(isPublic && {
      public: {
        origins: readText(fields, "origins").split(/\s+/).filter(Boolean),
        daily_limit: Number(readText(fields, "daily_limit")),
      },
    }),
    ...(scopes !== "all" && !isPublic && { scopes: [...scopes] }),
    ...(days > 0 && { expires_at: new Date(Date.now() + days * DAY_MS).toISOString() }),
  };
};

const KeyForm = ({ onCreated, onClose }: FormProps) => {
  const form = useRef<HTMLFormElement>(null);
  const create = useAction(async () => {
    if (form.current)
      onCreated(await getClient().createApiKey(readInput(new FormData(form.current))));
  });
  return (
    <form ref={form} method="dialog" onSubmit={handleSubmit(create.run)}>
      <label for="key-name">Name</label>
      <input
        id="key-name"
        name="name"
        required
        maxLength={64}
        autocomplete="off"
        placeholder="What uses the key, for example: shop"
      />
      <ModeChoice />
      <ScopeChoice />
      <label for="key-days">Expires</label>
      <select id="key-days" name="days">
        {LIFETIMES.map((days) => (
          <option key={days} value={days}>
            {days === 0 ? "Never" : `In ${days} days`}
          </option>
        ))}
      </select>
      <Answers
        isForm
        action={create}
        yes="Create the key"
        busy="Creating the key …"
        onClose={onClose}
      />
    </form>
  );
};

const ModeChoice = () => (
  <fieldset class="choice">
    <legend>Mode</legend>
    {!isTestKey.value && (
      <label>
        <input type="radio" name="mode" value="live" defaultChecked /> Live: real results, spends
        credits
      </label>
    )}
    <label>
      <input type="radio" name="mode" value="test" defaultChecked={isTestKey.value} /> Test:
      simulated results, free
    </label>
  </fieldset>
);

const PUBLIC = "public";

/** The smallest set for most programs comes first. Null when the user chooses scopes one by one, or none. */
const PRESETS: readonly {
  readonly name: string;
  readonly label: string;
  readonly scopes: readonly Scope[] | "all" | null;
}[] = [
  {
    name: "verify",
    label: "Verify only: addresses and lists, and the balance",
    scopes: ["verification:read", "verification:write", "account:read"],
  },
  {
    name: "read",
    label: "Read only: everything, without changing or spending anything",
    scopes: SCOPES.filter((scope) => scope.endsWith(":read")),
  },
  { name: "all", label: "Unrestricted: everything, including keys", scopes: "all" },
  { name: "chosen", label: "Only the scopes you choose", scopes: null },
  {
    name: PUBLIC,
    label: "Public: stands in a page, and verifies what visitors type into its form",
    scopes: null,
  },
];

const [LEAST] = PRESETS;

const MEANINGS: Readonly<Record<Scope, string>> = {
  "verification:read": "read jobs and download results",
  "verification:write": "verify and find addresses, cancel and delete jobs, erase data",
  "activity:read": "read engagement and the reputation of domains",
  "activity:write": "record what happened to your mail",
  "deliverability:read": "read checks, monitors, reports and mail tests",
  "deliverability:write": "check domains, watch them, test mail, upload reports",
  "webhooks:read": "read webhooks and their deliveries",
  "webhooks:write": "create, change, test and delete webhooks",
  "events:read": "read the feed of events",
  "account:read": "read balance, usage, ledger and requests",
};

const ScopeChoice = () => {
  const chosen = useSignal(LEAST?.name);
  return (
    <>
      <fieldset class="choice">
        <legend>Scopes</legend>
        {PRESETS.map(({ name, label }) => (
          <label key={name}>
            <input
              type="radio"
              name="preset"
              value={name}
              checked={chosen.value === name}
              onChange={() => (chosen.value = name)}
            />
            {label}
          </label>
        ))}
      </fieldset>
      {chosen.value === PUBLIC && <PublicUse />}
      {chosen.value === "chosen" && (
        <fieldset class="choice scopes">
          <legend class="unseen">Chosen scopes</legend>
          {SCOPES.map((scope) => (
            <label key={scope}>
              <input type="checkbox" name="scope" value={scope} />
              <span>
                <code>{scope}</code> <small>{MEANINGS[scope]}</small>
              </span>
            </label>
          ))}
        </fieldset>
      )}
    </>
  );
};

const PublicUse = () => (
  <>
    <label for="key-origins">Pages</label>
    <textarea
      id="key-origins"
      name="origins"
      rows={2}
      required
      placeholder="https://www.example.com"
      aria-describedby="key-origins-hint"
    />
    <small id="key-origins-hint">The origins of your pages, one a line, without a path.</small>
    <label for="key-daily">Verifications a day, at most</label>
    <input id="key-daily" name="daily_limit" type="number" min={1} max={1_000_000} value={1_000} />
  </>
);

/** The snippet for a page with a form. The page publishes the key, so the key is no secret here. */
const FormSnippet = ({ publicKey }: { readonly publicKey: string }) => {
  const text = `<script src="${API_URL}${SCRIPT_PATH}"
  integrity="${SCRIPT_INTEGRITY}" crossorigin="anonymous"
  data-key="${publicKey}" defer></script>`;
  return (
    <>
      <p>Put this into the page that has your form:</p>
      <pre class="snippet" tabIndex={0} role="region" aria-label="Snippet for the page">
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label="Copy the snippet" />
      <p>
        Let that page connect to your own site and this service alone, by the header{" "}
        <code>{`Content-Security-Policy: connect-src 'self' ${API_URL}`}</code>: then a fault in the
        page cannot send typed addresses anywhere else.
      </p>
      <p>
        <a href={toDocsHref("/sign-up-forms")}>Protect a sign-up form</a> has a whole example.
      </p>
    </>
  );
};
