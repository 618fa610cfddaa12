import { CopyButton } from "../../parts/copy-button.tsx";
import type { Recommendation } from "./check.ts";

type Props = Pick<Recommendation, "record" | "replaces" | "file" | "note">;

/** A record to paste, in the fields of DNS providers, and the records that it replaces. */
export const RecordBox = ({ record, replaces = [], file, note }: Props) => {
  if (!record) return null;
  const { name, type, value, strings, open = [] } = record;
  return (
    <div class="record">
      <dl>
        <div>
          <dt>Type</dt>
          <dd>{type}</dd>
        </div>
        <div>
          <dt>Name</dt>
          <dd>
            <code>{name}</code>
            <CopyButton text={name} label="Copy name" />
          </dd>
        </div>
        <div>
          <dt>Value</dt>
          <dd>
            <code class="value">{value}</code>
            <CopyButton text={value} label="Copy value" />
          </dd>
        </div>
        {replaces.length > 0 && (
          <div>
            <dt>Remove</dt>
            <dd>
              <ul class="diff">
                {replaces.map((old) => (
                  <li key={`${old.name} ${old.value}`} class="removed">
                    {old.value}
                    {old.name !== name && ` (at ${old.name})`}
                  </li>
                ))}
              </ul>
            </dd>
          </div>
        )}
      </dl>
      {open.length > 0 && (
        <p class="notice">
          Fill in: {open.join(", ")}. Your mail server or mail service knows{" "}
          {open.length === 1 ? "it" : "them"}.
        </p>
      )}
      {strings && (
        <p class="soft">
          Longer than 255 characters: one TXT record of {strings.length} strings. Most DNS providers
          split it automatically.
        </p>
      )}
      {note && <p class="soft">{note}</p>}
      {file && (
        <>
          <p>
            File at <code>{file.url}</code>
          </p>
          <pre tabIndex={0}>{file.content}</pre>
          <CopyButton text={file.content} label="Copy file" />
        </>
      )}
    </div>
  );
};
