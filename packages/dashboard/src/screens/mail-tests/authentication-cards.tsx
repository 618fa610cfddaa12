import { formatCount, formatTime } from "../../format.ts";
import {
  Card,
  Detail,
  getScore,
  NOT_MEASURED,
  type ReportProps,
  type State,
  StateWord,
  toState,
  toYesNo,
} from "./card.tsx";
import type { MessageReport } from "./mail-test.ts";

export const SpfCard = ({ report }: ReportProps) => {
  const { spf } = report;
  return (
    <Card
      title="SPF"
      state={spf ? toState(spf.result) : NOT_MEASURED}
      score={getScore(report, "spf")}
    >
      {spf ? (
        <dl class="mail-details">
          <Detail name="Domain">
            <code>{spf.domain}</code>, of {spf.identity === "helo" ? "HELO" : "MAIL FROM"}
          </Detail>
          {spf.matched.length > 0 && (
            <Detail name="Decided by">
              {spf.matched.map(({ domain, term }) => (
                <div key={`${domain} ${term}`}>
                  <code>{term}</code> of {domain}
                </div>
              ))}
            </Detail>
          )}
          {spf.problem && (
            <Detail name="Problem">
              {spf.problem.reason} at <code>{spf.problem.term ?? spf.problem.domain}</code>
            </Detail>
          )}
          <Detail name="Look-ups">{spf.lookups} of 10</Detail>
        </dl>
      ) : (
        <p class="soft">Without the IP address of the client, SPF has no result.</p>
      )}
    </Card>
  );
};

type Signature = MessageReport["dkim"][number];

const toDkimState = (signatures: readonly Signature[]): State => {
  const [first] = signatures;
  if (!first) return { tone: "bad", word: "no signature" };
  const results = signatures.map(({ result }) => result);
  if (results.includes("pass")) return toState("pass");
  return toState(results.find((result) => result === "temperror") ?? first.result);
};

const SignatureDetails = ({ signature }: { readonly signature: Signature }) => {
  const { result, reason, domain, selector, algorithm, key_bits: bits } = signature;
  return (
    <>
      <p class="detail">
        <StateWord {...toState(result)} />{" "}
        <code>
          {selector}._domainkey.{domain}
        </code>
        {reason !== undefined && ` (${reason})`}
      </p>
      <dl class="mail-details">
        <Detail name="Algorithm">
          {algorithm ?? "not readable"}
          {bits !== undefined && `, ${bits} bits`}
          {signature.canonicalization !== undefined && `, ${signature.canonicalization}`}
        </Detail>
        <Detail name="Signed">
          {signature.signed_fields.join(", ")}
          {signature.unsigned_bytes > 0 &&
            `; ${formatCount(signature.unsigned_bytes, "byte")} of the body are not signed (l=)`}
        </Detail>
        {signature.testing && <Detail name="Key">in test mode (t=y)</Detail>}
        {signature.expires_at !== undefined && (
          <Detail name="Expires">{formatTime(signature.expires_at)}</Detail>
        )}
      </dl>
    </>
  );
};

export const DkimCard = ({ report }: ReportProps) => (
  <Card title="DKIM" state={toDkimState(report.dkim)} score={getScore(report, "dkim")}>
    {report.dkim.map((signature, at) => (
      <SignatureDetails key={at} signature={signature} />
    ))}
    {report.dkim.length === 0 && <p class="soft">This mail has no DKIM signature.</p>}
  </Card>
);

const DISPOSITIONS = {
  none: "delivers it",
  quarantine: "treats it as suspicious",
  reject: "refuses it",
} as const;

/** One aligned name, of SPF or DKIM, is enough for DMARC. */
const toAlignment = (dmarc: MessageReport["dmarc"], name: "spf" | "dkim"): State => {
  const state = toYesNo(dmarc[name].aligned, "yes", "no");
  return state.tone === "bad" && dmarc.result === "pass" ? { ...state, tone: "warn" } : state;
};

export const DmarcCard = ({ report }: ReportProps) => {
  const { dmarc } = report;
  return (
    <Card title="DMARC" state={toState(dmarc.result)} score={getScore(report, "dmarc")}>
      {dmarc.record !== undefined && (
        <p class="detail">
          <code>{dmarc.record}</code>
        </p>
      )}
      <dl class="mail-details">
        {(["spf", "dkim"] as const).map((name) => (
          <Detail key={name} name={`${name.toUpperCase()} aligned`}>
            <StateWord {...toAlignment(dmarc, name)} />
            {dmarc[name].domain !== undefined && ` by ${dmarc[name].domain}`}, {dmarc[name].mode}
          </Detail>
        ))}
        <Detail name="Policy">
          {dmarc.policy ?? "none published"}: a receiver that follows it{" "}
          {DISPOSITIONS[dmarc.disposition]}.
        </Detail>
      </dl>
    </Card>
  );
};

export const ArcCard = ({ report: { arc } }: ReportProps) => (
  <Card
    title="ARC"
    state={arc.result === "none" ? { tone: "grey", word: "none" } : toState(arc.result)}
  >
    {arc.sets.length === 0 ? (
      <p class="soft">No forwarder or mailing list added a signature.</p>
    ) : (
      <ol>
        {arc.sets.map(({ instance, domain = "unknown", chain = "unknown" }) => (
          <li key={instance}>
            <code>{domain}</code>, chain before it: {chain}
          </li>
        ))}
      </ol>
    )}
    {arc.reason !== undefined && <p>{arc.reason}</p>}
    <p class="soft">The IETF is moving ARC to Historic (milestone November 2026).</p>
  </Card>
);
