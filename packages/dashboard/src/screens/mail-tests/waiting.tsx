import type { MailTest } from "@mailproof/client";
import { useLayoutEffect, useState } from "preact/hooks";
import { formatClock, formatCount } from "../../format.ts";
import { CopyButton } from "../../parts/copy-button.tsx";
import { isTestKey } from "../../session.ts";

const TICK_MS = 5_000;
const MINUTE_MS = 60_000;

const useRemainingMs = (until: string): number => {
  const [now, setNow] = useState(Date.now());
  useLayoutEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  return Math.max(0, Date.parse(until) - now);
};

const toRemaining = (ms: number): string =>
  ms < MINUTE_MS ? "less than a minute" : formatCount(Math.floor(ms / MINUTE_MS), "minute");

export const Waiting = ({ test }: { readonly test: MailTest }) => {
  const remainingMs = useRemainingMs(test.expires_at);
  return (
    <section class="panel main" aria-labelledby="send-mail">
      <h2 id="send-mail">Send one mail to this address</h2>
      <p class="test-address">
        <code>{test.address}</code>
        <CopyButton text={test.address} label="Copy address" />
      </p>
      <p>
        It accepts one mail until {formatClock(test.expires_at)}:{" "}
        <b>{remainingMs === 0 ? "time is up" : `${toRemaining(remainingMs)} left`}</b>.
      </p>
      <ol>
        <li>
          Send it the way your customers get theirs: from the shop, the newsletter tool or the
          program, not from your own mailbox.
        </li>
        <li>
          Use real content. Its links, its unsubscribe fields and its size are part of the report.
        </li>
        <li>
          Leave this page open, or come back to it: it shows the report within seconds of the mail's
          arrival.
        </li>
      </ol>
      <p class="soft">
        {isTestKey.value
          ? "This is a test key: a simulated mail arrives within seconds."
          : "How long your mail takes depends on the system that sends it; greylisting and queues can take minutes. If no mail arrives, the credits are refunded."}
      </p>
    </section>
  );
};
