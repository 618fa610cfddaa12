import type { Webhook } from "@mailproof/client";

export type EventName = Webhook["events"][number];

export const EVENTS: Readonly<Record<EventName, string>> = {
  "job.completed": "A list has its results",
  "job.failed": "A list failed",
  "credits.low": "A tenth of the last grant is left",
  "credits.depleted": "Less than a credit is left",
  "blacklist.detected": "A blocklist lists a monitored domain",
  "dmarc.failed": "A monitored domain fails DMARC",
  "dmarc.ready": "A monitored domain is ready for a stricter policy",
};

export const EVENT_NAMES = Object.keys(EVENTS) as EventName[];

type Props = {
  readonly chosen: readonly EventName[];
  readonly onChange: (events: readonly EventName[]) => void;
};

export const EventChoice = ({ chosen, onChange }: Props) => (
  <fieldset class="choice events">
    <legend>Events</legend>
    {EVENT_NAMES.map((name) => (
      <label key={name}>
        <input
          type="checkbox"
          checked={chosen.includes(name)}
          onChange={({ currentTarget }) =>
            onChange(
              EVENT_NAMES.filter((one) =>
                one === name ? currentTarget.checked : chosen.includes(one),
              ),
            )
          }
        />
        <span>
          <code>{name}</code> <small>{EVENTS[name]}</small>
        </span>
      </label>
    ))}
  </fieldset>
);
