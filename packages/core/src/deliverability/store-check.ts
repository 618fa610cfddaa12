import { toEpochSeconds } from "../lib/time.ts";
import { type EndResult, isStillOwned, settle } from "../money/end-operation.ts";
import type { Operation } from "../money/operation-items.ts";
import { getOwnerId } from "../money/payer.ts";
import type { Json, Write } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import { emitEvent } from "../webhooks/items.ts";
import type { CheckReport } from "./analyse-domain.ts";
import { measureCoverage } from "./coverage.ts";
import {
  type Check,
  createCheckWrites,
  createLatestWrite,
  findLatest,
  type LatestCheck,
  type StoredReport,
} from "./items.ts";

type AlertState = Pick<LatestCheck, "listedOn" | "isDmarcFailing">;

const NO_ALERTS: AlertState = { listedOn: [], isDmarcFailing: false };

/** Returns the alerts after a check. A list without a verdict, or an unreadable DMARC record, changes no alert. */
const getAlertState = (report: CheckReport, before: AlertState = NO_ALERTS): AlertState => {
  const { outcomes } = report.reputation;
  const answered = new Map(
    outcomes.flatMap(({ list, verdict: { kind } }) =>
      kind === "listed" || kind === "not_listed" ? [[list.id, kind] as const] : [],
    ),
  );
  const listed = outcomes.flatMap(({ list: { id } }) =>
    answered.get(id) === "listed" ? [id] : [],
  );
  const stillListed = before.listedOn.filter((id) => !answered.has(id));
  return {
    listedOn: [...new Set([...listed, ...stillListed])].toSorted(),
    isDmarcFailing:
      report.dmarc.status === "error" ? before.isDmarcFailing : isFailing(report.dmarc),
  };
};

const isFailing = ({ status }: CheckReport["dmarc"]): boolean =>
  status === "fail" || status === "missing";

const createOutboxEvents = (
  world: Pick<World, "now" | "newId">,
  check: Check,
  report: CheckReport,
  before: AlertState = NO_ALERTS,
): readonly Write[] => {
  const after = getAlertState(report, before);
  const { owner, id: check_id, domain, sendingIp: sending_ip } = check;
  const isNew = after.listedOn.some((id) => !before.listedOn.includes(id));
  const { status, policy, issues } = report.dmarc;
  return [
    ...(isNew
      ? [
          emitEvent(world, owner, "blacklist.detected", {
            domain,
            sending_ip,
            check_id,
            listed_on: report.reputation.listedOn.map(({ name }) => name),
          }),
        ]
      : []),
    ...(after.isDmarcFailing && !before.isDmarcFailing
      ? [
          emitEvent(world, owner, "dmarc.failed", {
            domain,
            check_id,
            status,
            policy,
            issues: issues.map(({ id }) => id),
          }),
        ]
      : []),
  ];
};

/** The most attempts: when a hundred checks of a domain end together, each round stores one of them. */
const TRIES_MAX = 20;
const BETWEEN_TRIES_MS = 20;

/** Settles the hold, stores the answer and the check, and emits its events, in one transaction. */
export const storeCheck = async (
  world: World,
  operation: Operation,
  checkReport: CheckReport,
  {
    answer,
    retentionDays,
  }: { readonly answer: Json & { check: string }; readonly retentionDays: number },
) => {
  const owner = getOwnerId(operation);
  const report = toStoredReport(checkReport);
  const check = createCheck(world, checkReport, {
    id: answer.check,
    owner,
    retentionDays,
  });
  let ended: EndResult = "lost";
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const before = await findLatest(world.table, owner, check);
    const alertState = getAlertState(checkReport, before);
    const latest = { check: check.id, checkedAt: check.checkedAt, ...alertState };
    const also = [
      ...createCheckWrites(check, report),
      createLatestWrite(owner, check, latest, before),
      ...createOutboxEvents(world, check, checkReport, before),
    ];
    ended = await settle(world, operation, { answer, also });
    if (ended !== "lost") break;
    if (!(await isStillOwned(world.table, operation))) break;
    await world.sleep(world.random() * BETWEEN_TRIES_MS * (tries + 1));
  }
  return { check, report, ended };
};

/** Removes the DNS queries, which later requests do not need. */
const toStoredReport = ({ reputation, ...otherParts }: CheckReport): StoredReport => {
  const { outcomes: _outcomes, ...counted } = reputation;
  const { kind: _kind, dnsQueries: _dnsQueries, ...stored } = otherParts;
  return { ...stored, reputation: counted };
};

type CheckIdentity = {
  readonly id: string;
  readonly owner: string;
  readonly retentionDays: number;
};

const createCheck = (
  world: World,
  report: CheckReport,
  { id, owner, retentionDays }: CheckIdentity,
): Check => {
  const { domain, sendingIp, scored } = report;
  const { score, grade } = scored;
  const { confidence } = measureCoverage(report);
  const now = world.now();
  const checkedAt = now.toISOString();
  const expiresAt = toEpochSeconds(now) + retentionDays * 86_400;
  return { id, owner, domain, sendingIp, score, grade, confidence, checkedAt, expiresAt };
};
