import { EVENT_DATA, EventPayload } from "@mailproof/core/webhooks/payloads";
import { downloadJob } from "../endpoints/download-job.ts";
import { getAccount } from "../endpoints/get-account.ts";
import { verifyEmail } from "../endpoints/verify-email.ts";
import { verifyFile } from "../endpoints/verify-file.ts";
import { programEndpoints } from "../endpoints.ts";
import type { Endpoint, Schema } from "../http/endpoint.ts";
import { ActivityPart, ActivityRecord } from "../schema/activity.ts";
import { KeySummary } from "../schema/api-keys.ts";
import { Mode, ScopeName } from "../schema/common.ts";
import { CheckResult, CheckSummary } from "../schema/deliverability-check.ts";
import { ReportSource } from "../schema/domain-reports.ts";
import { UnverifiedRow, VerifiedRow } from "../schema/export-json.ts";
import { JobOptions } from "../schema/job-options.ts";
import { JobSummary, ResultRow } from "../schema/jobs.ts";
import { LimitState } from "../schema/limits.ts";
import { MonitorSummary } from "../schema/monitors.ts";
import {
  DnsRecord,
  FlattenedSpf,
  ProposedDnsRecord,
  SpfTreeNode,
} from "../schema/proposed-records.ts";
import { UploadedList } from "../schema/uploaded-list.ts";
import { VerificationResult } from "../schema/verification.ts";
import { DeliverySummary, EventName, WebhookSummary } from "../schema/webhooks.ts";
import { pascal, withoutDescription } from "./schema.ts";

// The named schemas of the document, which generated clients use for their types. The writer matches a schema by identity, not
// by structure.

const { verification, flags, enrichment, ai } = VerificationResult.entries;
const { dns, authentication, reputation, server, spam_assessment, score_parts, recommendations } =
  CheckResult.entries;
const { spf, dkim, dmarc } = authentication.entries;
const [verified, pending] = verifyEmail.output.options;
const [inline, link] = downloadJob.output.options;
const [askForUpload, process] = verifyFile.body?.options ?? [];
const [upload, accepted, preview] = verifyFile.output.options;

/** Schemas that occur more than once in the document, and parts that need a name. */
const SHARED: readonly (readonly [Schema, string])[] = [
  [withoutDescription(VerificationResult.entries.status), "VerificationStatus"],
  [withoutDescription(verification), "VerificationSignals"],
  [withoutDescription(flags), "VerificationFlags"],
  [withoutDescription(enrichment), "Enrichment"],
  [ai.wrapped, "AiAnalysis"],
  [ActivityPart, "RecentActivity"],
  [verified, "VerifiedEmail"],
  [pending, "PendingVerification"],

  ...(askForUpload && process
    ? ([
        [askForUpload, "UploadRequest"],
        [process, "ProcessFileRequest"],
      ] as const)
    : []),
  [upload, "Upload"],
  [accepted, "FileAccepted"],
  [preview, "FilePreview"],

  [JobSummary, "JobSummary"],
  [withoutDescription(JobSummary.entries.status), "JobStatus"],
  [withoutDescription(JobSummary.entries.progress), "JobProgress"],
  [withoutDescription(JobSummary.entries.kind), "JobKind"],
  [JobSummary.entries.deferred.wrapped, "DeferredAddresses"],
  [JobOptions.wrapped, "JobOptions"],
  [withoutDescription(inline.entries.filter), "ExportFilter"],
  [withoutDescription(inline.entries.rows), "RowSelection"],
  [ResultRow, "ResultRow"],
  [VerifiedRow, "ExportedRow"],
  [UnverifiedRow, "UnverifiedRow"],
  [UploadedList, "ListFacts"],
  [LimitState, "LimitState"],
  [inline, "InlineExport"],
  [link, "ExportLink"],

  [ActivityRecord, "ActivityRecord"],

  [CheckSummary, "CheckSummary"],
  [withoutDescription(authentication), "AuthenticationSection"],
  [recommendations.item, "Recommendation"],
  [DnsRecord, "DnsRecord"],
  [ProposedDnsRecord, "ProposedRecord"],
  [SpfTreeNode, "SpfTreeNode"],
  [FlattenedSpf, "FlattenedSpf"],
  [withoutDescription(CheckSummary.entries.grade), "Grade"],
  [withoutDescription(CheckResult.entries.confidence), "CheckConfidence"],
  [withoutDescription(score_parts), "ScoreParts"],
  [withoutDescription(dns), "DnsSection"],
  [dns.entries.issues.item, "Issue"],
  [withoutDescription(spf), "SpfSection"],
  [withoutDescription(dkim), "DkimSection"],
  [withoutDescription(dmarc), "DmarcSection"],
  [withoutDescription(reputation), "BlocklistSection"],
  [withoutDescription(server), "ServerSection"],
  [withoutDescription(spam_assessment), "SpamAssessment"],
  [MonitorSummary, "Monitor"],
  [ReportSource, "ReportSource"],

  [WebhookSummary, "Webhook"],
  [withoutDescription(WebhookSummary.entries.status), "WebhookStatus"],
  [WebhookSummary.entries.disabled_because.wrapped, "DisabledBecause"],
  [EventName, "EventName"],
  [withoutDescription(EVENT_DATA["job.completed"].entries.progress), "EndProgress"],
  [EVENT_DATA["credits.low"], "BalanceNews"],
  [DeliverySummary, "Delivery"],

  [LimitState, "SpendingLimit"],
  [KeySummary, "ApiKey"],
  [Mode, "KeyMode"],
  [ScopeName, "Scope"],
  [withoutDescription(getAccount.output.entries.plan), "Plan"],
  [withoutDescription(getAccount.output.entries.credits), "Credits"],
];

export const EVENTS: readonly (readonly [event: string, schema: Schema])[] =
  EventPayload.options.map((option) => [option.entries.type.literal, option]);

/** Such as JobCompletedEvent for job.completed. */
export const eventName = (event: string): string => `${event.split(".").map(pascal).join("")}Event`;

/**
 * Names every schema. A schema of a single operation gets the operation's name, without `…Result`, `…Response` or `…Data`,
 * which client generators (orval, openapi-generator, openapi-ts) give to their own types. An enum gets a name only if no other
 * named enum shares a word with it, since openapi-generator makes one set of constants for Go.
 */
export const nameComponents = (
  listed: readonly Endpoint[] = programEndpoints,
): Map<Schema, string> => {
  const named = new Map<Schema, string>(SHARED);
  const name = (schema: Schema | undefined, called: string) => {
    if (schema && !named.has(schema)) named.set(schema, called);
  };
  for (const { id, body, output } of listed) {
    name(body, `${pascal(id)}Request`);
    name(output, `${pascal(id)}Output`);
  }
  for (const [event, schema] of EVENTS) name(schema, eventName(event));
  return named;
};
