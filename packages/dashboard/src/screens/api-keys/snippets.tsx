import { useSignal } from "@preact/signals";
import { API_URL } from "../../base.ts";
import { CopyButton } from "../../parts/copy-button.tsx";

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

export const Snippets = () => {
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
