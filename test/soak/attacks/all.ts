import type { Attack } from "./attack.ts";
import { connectionAttacks } from "./connections.ts";
import { listAttacks } from "./lists.ts";
import { readingAttacks } from "./reading.ts";
import { requestAttacks } from "./requests.ts";

export const ATTACKS: readonly Attack[] = [
  ...connectionAttacks,
  ...requestAttacks,
  ...listAttacks,
  ...readingAttacks,
];
