import type { Tried } from "../mail/smtp/connect.ts";
import type { SessionDoors } from "./hold-session.ts";
import { pauseMs, type Spot } from "./places.ts";
import { LEASE_MS } from "./shared-operator.ts";

/** How a process waits for places that others have. */
export type Line = {
  pausing: boolean;
  /** When we found no place for the first time since we had one last (ms). */
  since: number | null;
  /** There was none at least once: the places that we get are to be used well. */
  scarce: boolean;
};

/** So long that a place that nobody gave back is free again, and whoever had one before us has left. */
const PATIENCE_MS = LEASE_MS + 30_000;

export const newLine = (): Line => ({ pausing: false, since: null, scarce: false });

/** False: it has been too long, and nobody waits any more. */
export const waitInLine = (
  line: Line,
  { now, random, sleep }: Pick<SessionDoors, "now" | "random" | "sleep">,
  over: () => void,
): boolean => {
  const atMs = now().getTime();
  line.since ??= atMs;
  line.scarce = true;
  if (atMs - line.since > PATIENCE_MS) return false;
  // All who found no place side by side wait for it together.
  if (line.pausing) return true;
  line.pausing = true;
  void sleep(pauseMs(random)).then(() => {
    line.pausing = false;
    over();
  });
  return true;
};

/** What is said of whoever waited in vain: there was no time for him, and nothing is known. */
export const outOfPlaces = ({ host }: Spot): Tried => ({
  host,
  ip: "",
  result: {
    recipients: [],
    nobody: [],
    unasked: [],
    decoys: [],
    closedBy: "deadline",
    ending: { stage: "connect", heard: "deadline" },
    tls: false,
    extensions: [],
  },
  transcript: [{ ms: 0, who: "wire", text: "deadline (waiting for a place)" }],
  attempts: [],
});
