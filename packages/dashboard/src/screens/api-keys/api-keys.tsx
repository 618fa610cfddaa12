import { useSignal } from "@preact/signals";
import { API_URL } from "../../base.ts";
import { useAction } from "../../parts/action.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { Answers, Dialog } from "../../parts/dialog.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { getClient, signOut } from "../../session.ts";
import { CreateKey } from "./create-key.tsx";
import { KeyTable } from "./key-table.tsx";
import { isOwnKey, type ListedKey } from "./listed-key.ts";

export const ApiKeys = () => {
  const load = useLoad((signal) => getClient().listApiKeys({ signal }));
  const isCreating = useSignal(false);
  const revoked = useSignal<ListedKey | null>(null);
  return (
    <Screen
      title="API keys"
      lead="A program sends its key with each request. A key is shown once, when it is created."
      actions={
        <button type="button" class="primary" onClick={() => (isCreating.value = true)}>
          Create a key
        </button>
      }
    >
      <Loaded load={load} what="the API keys" as="rows">
        {({ api_keys: keys }) => (
          <KeyTable
            keys={keys}
            action={(key) => (
              <button type="button" class="quiet" onClick={() => (revoked.value = key)}>
                Revoke <span class="unseen">{key.name}</span>
              </button>
            )}
          />
        )}
      </Loaded>
      <Snippets />
      <CreateKey
        isOpen={isCreating.value}
        onCreated={load.reload}
        onClose={() => (isCreating.value = false)}
      />
      <RevokeKey
        revoked={revoked.value}
        onRevoked={load.reload}
        onClose={() => (revoked.value = null)}
      />
    </Screen>
  );
};

type RevokeProps = {
  readonly revoked: ListedKey | null;
  readonly onRevoked: () => void;
  readonly onClose: () => void;
};

const RevokeKey = ({ revoked, ...others }: RevokeProps) => (
  <Dialog
    title={`Revoke ${revoked?.name ?? ""}?`}
    isOpen={revoked !== null}
    onClose={others.onClose}
  >
    {revoked && <Question revoked={revoked} {...others} />}
  </Dialog>
);

const Question = ({
  revoked,
  onRevoked,
  onClose,
}: RevokeProps & { readonly revoked: ListedKey }) => {
  const isOwn = isOwnKey(revoked);
  const revoke = useAction(async () => {
    await getClient().revokeApiKey({ id: revoked.key_id });
    if (isOwn) return signOut("You revoked the key that you were signed in with.");
    onRevoked();
    onClose();
  });
  return (
    <>
      <p>
        <code>{revoked.hint}</code> stops working immediately and permanently.
        {isOwn && " You are signed in with this key, so revoking it signs you out."}
      </p>
      <Answers
        action={revoke}
        yes="Revoke the key"
        busy="Revoking the key …"
        class="danger"
        onClose={onClose}
      />
    </>
  );
};

// The first request of a program to this host. The key comes from the environment, so nobody copies it with the snippet.

const EMAIL = "valid@example.com";

const SNIPPETS: Readonly<Record<string, string>> = {
  curl: `curl -s ${API_URL}/v1/verify \\
  -H "X-Api-Key: $MAILPROOF_KEY" \\
  -H 'Content-Type: application/json' \\
  -d '{"email": "${EMAIL}"}'`,
  Node: `const response = await fetch("${API_URL}/v1/verify", {
  method: "POST",
  headers: {
    "x-api-key": process.env.MAILPROOF_KEY,
    "content-type": "application/json",
  },
  body: JSON.stringify({ email: "${EMAIL}" }),
});
console.log(await response.json());`,
  Python: `import os
import requests

response = requests.post(
    "${API_URL}/v1/verify",
    headers={"X-Api-Key": os.environ["MAILPROOF_KEY"]},
    json={"email": "${EMAIL}"},
    timeout=60,
)
print(response.json())`,
  MCP: JSON.stringify(
    {
      mcpServers: {
        mailproof: {
          type: "http",
          url: `${API_URL}/mcp`,
          headers: { Authorization: "Bearer <the key>" },
        },
      },
    },
    null,
    2,
  ),
};

const Snippets = () => {
  const chosen = useSignal("curl");
  const text = SNIPPETS[chosen.value] ?? "";
  return (
    <section class="panel wide snippets" aria-labelledby="snippets">
      <h2 id="snippets">Use a key</h2>
      <fieldset class="choice">
        <legend class="unseen">Language</legend>
        {Object.keys(SNIPPETS).map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="snippet"
              checked={chosen.value === name}
              onChange={() => (chosen.value = name)}
            />
            {name}
          </label>
        ))}
      </fieldset>
      <pre tabIndex={0} role="region" aria-label={`${chosen.value} snippet`}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} label={`Copy ${chosen.value}`} />
    </section>
  );
};
