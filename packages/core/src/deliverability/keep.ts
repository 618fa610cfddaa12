import { ownerOf } from "../access/payer.ts";
import { epochSeconds } from "../moments.ts";
import { type Ended, isStillOurs, type Operation, settle } from "../money/operations.ts";
import type { Json } from "../table.ts";
import type { World } from "../world.ts";
import type { Report } from "./analyse-domain.ts";
import { coverageOf } from "./coverage.ts";
import {
  type Check,
  findLatest,
  type StoredReport,
  writeOfLatest,
  writesOfCheck,
} from "./items.ts";
import { newsOf, standingAfter } from "./news.ts";

/** So often another check of the same domain may come in between: of a hundred that end together, one does each time. */
const TRIES_MAX = 20;
const BETWEEN_TRIES_MS = 20;

type Kept = { readonly check: Check; readonly report: StoredReport; readonly ended: Ended };

/** The money is settled, the answer remembered, the check kept and its news told, in one transaction. */
export const keep = async (
  world: World,
  operation: Operation,
  found: Report,
  { answer, keptDays }: { readonly answer: Json & { check: string }; readonly keptDays: number },
): Promise<Kept> => {
  const owner = ownerOf(operation);
  const report = storedReport(found);
  const check = checkOf(world, found, { id: answer.check, owner, keptDays });
  let ended: Ended = "lost";
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const before = await findLatest(world.table, owner, check);
    const stands = standingAfter(found, before);
    const latest = { check: check.id, checkedAt: check.checkedAt, ...stands };
    const also = [
      ...writesOfCheck(check, report),
      writeOfLatest(owner, check, latest, before),
      ...newsOf(world, check, found, before),
    ];
    ended = await settle(world, operation, { answer, also });
    if (ended !== "lost") break;
    if (!(await isStillOurs(world.table, operation))) break;
    await world.sleep(world.random() * BETWEEN_TRIES_MS * (tries + 1));
  }
  return { check, report, ended };
};

/** Without the questions that were asked: they are nobody's business afterwards. */
const storedReport = ({ reputation, ...found }: Report): StoredReport => {
  const { outcomes: _outcomes, ...counted } = reputation;
  const { kind: _kind, asked: _asked, ...rest } = found;
  return { ...rest, reputation: counted };
};

type Whose = { readonly id: string; readonly owner: string; readonly keptDays: number };

const checkOf = (world: World, report: Report, { id, owner, keptDays }: Whose): Check => {
  const { domain, sendingIp, scored } = report;
  const { score, grade } = scored;
  const { confidence } = coverageOf(report);
  const now = world.now();
  const checkedAt = now.toISOString();
  const expiresAt = epochSeconds(now) + keptDays * 86_400;
  return { id, owner, domain, sendingIp, score, grade, confidence, checkedAt, expiresAt };
};
