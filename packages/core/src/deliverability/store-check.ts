import { toEpochSeconds } from "../lib/time.ts";
import { type EndResult, isStillOwned, settle } from "../money/end-operation.ts";
import { type Operation } from "../money/operation-items.ts";
import { getOwnerId } from "../money/payer.ts";
import type { Json } from "../ports/table.ts";
import type { World } from "../ports/world.ts";
import type { CheckReport } from "./analyse-domain.ts";
import { measureCoverage } from "./coverage.ts";
import { createOutboxEvents, getAlertState } from "./events.ts";
import {
  type Check,
  createCheckWrites,
  createLatestWrite,
  findLatest,
  type StoredReport,
} from "./items.ts";

/** The most attempts: when a hundred checks of a domain end together, each round stores one of them. */
const TRIES_MAX = 20;
const BETWEEN_TRIES_MS = 20;

type StoreOutcome = {
  readonly check: Check;
  readonly report: StoredReport;
  readonly ended: EndResult;
};

/** Settles the hold, stores the answer and the check, and emits its events, in one transaction. */
export const storeCheck = async (
  world: World,
  operation: Operation,
  checkReport: CheckReport,
  {
    answer,
    retentionDays,
  }: { readonly answer: Json & { check: string }; readonly retentionDays: number },
): Promise<StoreOutcome> => {
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
