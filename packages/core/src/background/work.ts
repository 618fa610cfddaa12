// All background work, one line per file: Workers, which handle messages, and WorkKinds, which repair work that a crash left. A
// repair is a value beside its worker; inside the worker, it would put every worker's code into the reconciler's Lambda.

export { ingestSes } from "../activity/ingest.ts";
export { checkWork } from "../deliverability/check-once.ts";
export { assessMail, mailTestWork } from "../deliverability/mail-tests/mail-test-worker.ts";
export { monitorWork, runMonitor } from "../deliverability/monitors.ts";
export { receiveSesMail } from "../deliverability/ses-mail/receive-ses-mail.ts";
export { deletionWork } from "../erasure/delete-job.ts";
export { erasureWork } from "../erasure/erase-address.ts";
export { exportWork, makeExport } from "../exports/export-worker.ts";
export { findWork } from "../find/find-once.ts";
export { chunkWork, verifyChunk, verifySingle } from "../lists/chunk-worker.ts";
export { fileWork } from "../lists/dispatch.ts";
export { jobWork, singleWork } from "../lists/repair-job.ts";
export { mailWork, sendMail } from "../mails/send-mail.ts";
export { verifyWork } from "../verify-one/verify-once.ts";
export { deliverEvent, deliveryWork } from "../webhooks/deliver-event.ts";
export { eventWork, fanOutEvent } from "../webhooks/fan-out.ts";
