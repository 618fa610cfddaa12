import type { TimeLimit } from "@mailproof/mail/smtp/converse";

/** The longest that a session lasts; another session takes the recipients that it did not reach. */
export const SESSION_MS = 120_000;
/**
 * The longest with a tarpit, or with a host that was silent before: room for four of its replies. They are few, so that
 * another process may have their slot by then does no harm.
 */
const PATIENT_SESSION_MS = 240_000;
export const createTimeLimit = (
  { now }: { readonly now: () => Date },
  isPatient: boolean,
): TimeLimit => {
  const nowMs = now().getTime();
  const patientDeadline = new Date(nowMs + PATIENT_SESSION_MS);
  return {
    now,
    deadline: isPatient ? patientDeadline : new Date(nowMs + SESSION_MS),
    patientDeadline,
  };
};
