import type { MessageReport, ReportedFinding } from "@mailproof/mail/message/assess";
import type { DkimResult } from "@mailproof/mail/message/dkim/verify";
import type { Alignment } from "@mailproof/mail/message/dmarc";
import type { MessageReportBody } from "./message-report.ts";
import { omitNull } from "./omit-null.ts";
import { toProposalFields } from "./to-check-result.ts";

const toTlsFields = (tls: MessageReport["envelope"]["tls"]) => {
  if (!tls) return { tls_status: "none" as const };
  if (tls === "unknown") return { tls_status: "unknown" as const };
  return { tls_status: "encrypted" as const, tls_version: tls.version, tls_cipher: tls.cipher };
};

export const toMessageReport = (report: MessageReport): MessageReportBody => {
  const { scored, envelope, header, arc, dmarc } = report;
  return {
    score: scored.score,
    grade: scored.grade,
    model_version: report.modelVersion,
    score_parts: {
      components: scored.parts.map(({ part, ...one }) => ({ component: part, ...one })),
      before_cap: scored.uncapped,
      ...omitNull({ capped_by: scored.cappedBy }),
    },
    missing_parts: [...report.openParts],
    envelope: {
      mail_from: envelope.mailFrom,
      helo: envelope.helo,
      ip: envelope.ip,
      ...toTlsFields(envelope.tls),
      received_at: envelope.receivedAt,
    },
    header: omitNull({
      subject: header.subject,
      from: header.from,
      sent_at: header.date,
      message_id: header.messageId,
    }),
    ...omitNull({ spf: toSpf(report.spf) }),
    dkim: report.dkim.map(toSignature),
    arc: {
      result: arc.result,
      ...omitNull({ reason: arc.reason }),
      sets: arc.sets.map(({ instance, ...one }) => ({ instance, ...omitNull(one) })),
    },
    dmarc: {
      result: dmarc.result,
      disposition: dmarc.disposition,
      ...omitNull({
        domain: dmarc.domain,
        organisation: dmarc.organisation,
        record: dmarc.record,
        record_domain: dmarc.recordDomain,
        policy: dmarc.policy,
      }),
      spf: toAlignment(dmarc.spf),
      dkim: toAlignment(dmarc.dkim),
    },
    server: toServer(report),
    reputation: toReputation(report),
    unsubscribe: toUnsubscribe(report),
    content: toContent(report),
    requirements: report.requirements.map(({ id, text, receivers, isForBulk, status }) => ({
      id,
      text,
      receivers: [...receivers],
      bulk_only: isForBulk,
      status,
    })),
    findings: report.findings.map(toFinding),
  };
};

const toSpf = (spf: MessageReport["spf"]) =>
  spf && {
    result: spf.result,
    domain: spf.domain,
    identity: spf.identity,
    matched: [...spf.matched],
    ...omitNull({
      problem: spf.problem && {
        reason: spf.problem.reason,
        domain: spf.problem.domain,
        ...omitNull({ term: spf.problem.term }),
      },
    }),
    lookups: spf.lookups,
    helo_result: spf.helo,
  };

const toSignature = (one: DkimResult) => ({
  result: one.result,
  ...omitNull({
    reason: one.reason,
    domain: one.domain,
    selector: one.selector,
    algorithm: one.algorithm,
    key_bits: one.keyBits,
    canonicalization: one.canonicalisation,
    signed_at: one.signedAt,
    expires_at: one.expiresAt,
  }),
  signed_fields: [...one.signedFields],
  unsigned_bytes: one.unsignedBytes,
  testing: one.isTesting,
});

const toAlignment = ({ mode, isAligned, domain }: Alignment) => ({
  mode,
  ...omitNull({ aligned: isAligned, domain }),
});

const toServer = ({ client: { reverseDns, helo } }: MessageReport) => ({
  helo_kind: helo.kind,
  ...omitNull({
    reverse_dns: reverseDns.name,
    reverse_dns_confirmed: reverseDns.isConfirmed,
    helo_resolves: helo.resolves,
    helo_confirmed: helo.isConfirmed,
  }),
});

const toReputation = ({ reputation, listedLinks }: MessageReport) => ({
  blacklists_checked: reputation.checked,
  blacklists_listed: reputation.listed,
  listed_on: [...reputation.listedOn, ...listedLinks].map(({ removal, codes, ...listing }) => ({
    ...listing,
    codes: [...codes],
    removal_url: removal,
  })),
});

const toUnsubscribe = ({ unsubscribe: one }: MessageReport) => ({
  one_click: one.isOneClick,
  post: one.hasPost,
  ...omitNull({ https_uri: one.httpsUri, mailto_uri: one.mailtoUri, signed: one.isSigned }),
});

const toContent = ({ body, sizeBytes }: MessageReport) => ({
  size_bytes: sizeBytes,
  html_bytes: body.htmlBytes,
  html: body.hasHtml,
  text: body.hasText,
  images: body.images,
  parts: body.parts.map(({ charset, ...part }) => ({
    ...part,
    ...(charset !== "" && { charset }),
  })),
  attachments: body.attachments.map(({ filename, ...file }) => ({
    ...file,
    ...omitNull({ filename }),
  })),
  links: body.links.count,
  link_hosts: body.links.hosts.map(({ host, count, isShortener, isPlain }) => ({
    host,
    links: count,
    shortener: isShortener,
    plain_http: isPlain,
  })),
});

const toFinding = ({ pointsRegained, proposal, costPoints, ...one }: ReportedFinding) => ({
  ...one,
  detail: { ...one.detail },
  cost_points: costPoints,
  points_regained: pointsRegained,
  ...(proposal && toProposalFields(proposal)),
});
