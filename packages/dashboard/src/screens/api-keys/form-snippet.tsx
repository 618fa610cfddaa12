import { SCRIPT_INTEGRITY, SCRIPT_PATH } from "@mailproof/guard/built";
import { API_URL, toDocsHref } from "../../base.ts";
import { CopyButton } from "../../parts/copy-button.tsx";

/** The snippet for a page with a form. The page publishes the key, so the key is no secret here. */
export const FormSnippet = ({ publicKey }: { readonly publicKey: string }) => {
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
