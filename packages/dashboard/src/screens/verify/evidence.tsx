import { formatTime } from "../../format.ts";
import { Head } from "../../parts/row-table.tsx";

/** The evidence of POST /v1/verify with include_evidence. A later release may add to it. */
export type Evidence = {
  readonly dns?: readonly {
    readonly type: string;
    readonly name: string;
    readonly kind: string;
    readonly records: readonly unknown[];
    readonly count: number;
  }[];
  readonly mail_host?: string | null;
  readonly ip?: string | null;
  readonly receiver?: string;
  readonly transcript?: readonly {
    readonly ms: number;
    readonly who: "client" | "server" | "wire";
    readonly text: string;
  }[];
  readonly rule?: string | null;
  readonly reply?: {
    readonly code: number;
    readonly enhanced?: string | null;
    readonly text: string;
  } | null;
  readonly catch_all?: string;
  readonly bounced_at?: string | null;
  readonly score?: readonly { readonly part: string; readonly points: number }[];
  readonly lists?: readonly {
    readonly list: string;
    readonly source: string;
    readonly version: string;
  }[];
};

const formatRecord = (record: unknown): string =>
  typeof record === "object" && record !== null
    ? Object.values(record).flat().join(" ")
    : String(record);

const Dns = ({ dns = [] }: Pick<Evidence, "dns">) => (
  <section>
    <h3>DNS</h3>
    {dns.length === 0 && <p class="soft">No DNS query was made.</p>}
    {dns.map(({ type, name, kind, records, count }) => (
      <div class="answer" key={`${type} ${name}`}>
        <p>
          <b>{type}</b> <code>{name}</code>
          {kind !== "ok" && <span class="soft"> {kind}</span>}
        </p>
        {records.length > 0 && (
          <ul>
            {records.map((record) => (
              <li key={formatRecord(record)}>
                <code>{formatRecord(record)}</code>
              </li>
            ))}
            {count > records.length && <li class="soft">and {count - records.length} more</li>}
          </ul>
        )}
      </div>
    ))}
  </section>
);

const SPEAKERS = { client: "client", server: "server", wire: "connection" } as const;

const CATCH_ALL: Readonly<Record<string, string>> = {
  yes: "The server accepted a random recipient",
  no: "The server refused a random recipient",
  undecided: "No clear reply about a random recipient",
  not_tested: "Not made",
};

const Transcript = ({ transcript = [], mail_host, ip }: Evidence) => (
  <section>
    <h3>SMTP</h3>
    {transcript.length === 0 ? (
      <p class="soft">No mail server was contacted.</p>
    ) : (
      <>
        <p>
          {mail_host && <code>{mail_host}</code>} {ip && <span class="soft">at {ip}</span>}
        </p>
        <div class="scroll" tabIndex={0} role="region" aria-label="SMTP transcript">
          <table class="transcript">
            <Head titles={["ms", "who", "text"]} numbers={["ms"]} />
            <tbody>
              {transcript.map(({ ms, who, text }, at) => (
                <tr key={at} class={`by-${who}`}>
                  <td class="number">{ms}</td>
                  <td>{SPEAKERS[who]}</td>
                  <td>
                    <code>{text}</code>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </>
    )}
  </section>
);

const Rule = ({ rule, reply, catch_all, bounced_at }: Evidence) => (
  <section>
    <h3>Rule</h3>
    <dl>
      {rule && (
        <>
          <dt>Rule that matched the reply</dt>
          <dd>
            <code>{rule}</code>
          </dd>
        </>
      )}
      {reply && (
        <>
          <dt>Reply</dt>
          <dd>
            <code>{[reply.code, reply.enhanced, reply.text].filter(Boolean).join(" ")}</code>
          </dd>
        </>
      )}
      <dt>Catch-all probe</dt>
      <dd>{CATCH_ALL[catch_all ?? "not_tested"] ?? catch_all}</dd>
      {bounced_at && (
        <>
          <dt>Your mail bounced</dt>
          <dd>{formatTime(bounced_at)}</dd>
        </>
      )}
    </dl>
  </section>
);

const Lists = ({ lists = [] }: Evidence) => (
  <section>
    <h3>Lists consulted</h3>
    <ul>
      {lists.map(({ list, source, version }) => (
        <li key={list}>
          {list} <span class="soft">{source === list ? version : `${source}, ${version}`}</span>
        </li>
      ))}
    </ul>
  </section>
);

export const EvidencePanel = ({ evidence }: { readonly evidence: Evidence }) => (
  <section class="panel history wide evidence" aria-labelledby="evidence">
    <h2 id="evidence">Evidence</h2>
    <Transcript {...evidence} />
    <div class="beside">
      <Dns {...evidence} />
      <Rule {...evidence} />
      <Lists {...evidence} />
    </div>
  </section>
);
