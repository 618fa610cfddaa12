/** A thread whose event loop missed several pings in a row is ended, and its questions are asked again. */
const PING_INTERVAL_MS = 10_000;
const UNANSWERED_PINGS_MAX = 3;

/** Calls `onHang` once, when several pings in a row got no answer. Returns the function that ends the watch. */
export const watchThread = (
  ping: () => Promise<unknown>,
  onHang: () => void,
  intervalMs = PING_INTERVAL_MS,
): (() => void) => {
  let unanswered = 0;
  // Counts pings instead of time, because a blocked server thread sends no pings.
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
