import { ingestSes } from "../activity/ingest.ts";
import type { AppWorld } from "../app-world.ts";
import { assessMail } from "../deliverability/mail-tests/mail-test-worker.ts";
import { runMonitor } from "../deliverability/monitors.ts";
import { receiveSesMail } from "../deliverability/ses-mail/receive-ses-mail.ts";
import { makeExport } from "../exports/export-worker.ts";
import { verifyChunk, verifySingle } from "../lists/chunk-worker.ts";
import { type Schedule, type Worker, withDeadLetterWorkers } from "../runtime/worker.ts";
import { deliverEvent } from "../webhooks/deliver-event.ts";
import { fanOutEvent } from "../webhooks/fan-out.ts";
import { reconcile } from "./reconciler.ts";

/** All background work: both runtimes run exactly these workers and schedules. */
export const workers: readonly Worker<AppWorld>[] = withDeadLetterWorkers<AppWorld>([
  verifySingle,
  verifyChunk,
  makeExport,
  runMonitor,
  assessMail,
  ingestSes,
  receiveSesMail,
  fanOutEvent,
  deliverEvent,
]);
export const schedules: readonly Schedule<AppWorld>[] = [reconcile];
