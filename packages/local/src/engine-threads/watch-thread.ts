/** A thread whose event loop stood still for several of these is ended: what it was asked is then asked again. */
const PING_INTERVAL_MS = 10_000;
const UNANSWERED_PINGS_MAX = 3;

/** Calls `onHang` once, when several pings in a row have had no answer. Returns what ends the watch. */
export const watchThread = (
  ping: () => Promise<unknown>,
  onHang: () => void,
  intervalMs = PING_INTERVAL_MS,
): (() => void) => {
  let unanswered = 0;
  // Counted in pings, not in time: while the server's own thread stands still, it sends none.
  const timer = setInterval(() => {
    if (unanswered === UNANSWERED_PINGS_MAX) {
      clearInterval(timer);
      return onHang();
    }
    unanswered++;
    void ping().then(() => {
      unanswered = 0;
    });
  }, intervalMs);
  timer.unref();
  return () => clearInterval(timer);
};
