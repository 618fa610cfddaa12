import { Loaded, useLoad, usePolling } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { runCommand } from "../../session.ts";
import { CommandForm, Output } from "./command.tsx";
import "./operator.css";

type Gauges = { readonly ok: boolean; readonly [name: string]: number | boolean };
type DeadLetters = {
  readonly waiting: number;
  readonly messages: readonly { readonly queue: string }[];
};

const READ_AGAIN_MS = 15_000;

const GAUGES: Readonly<Record<string, string>> = {
  due_age_seconds: "Oldest repair that is due, in seconds",
  due_misplaced: "Repairs that stand at a wrong time",
  credits_held_over_an_hour: "Credits held for over an hour",
  clock_jump_seconds: "The clock jumped by, in seconds",
  resources_exhausted: "Times that memory, files or disk ran out",
  providers_in_doubt: "Mail providers that accept unknown addresses",
  mail_providers_blocked: "Large mail providers that refuse this server",
  dead_letters: "Messages that failed too often",
};

const toWords = (figures: Readonly<Record<string, number | boolean>>) =>
  Object.fromEntries(Object.entries(figures).map(([name, value]) => [GAUGES[name] ?? name, value]));

const GaugesPanel = () => {
  const load = useLoad((signal) => runCommand<Gauges>("gauges", {}, signal));
  usePolling(load, READ_AGAIN_MS);
  return (
    <section class="panel" aria-labelledby="gauges">
      <h2 id="gauges">Gauges</h2>
      <Loaded load={load} what="the gauges" as="rows">
        {({ ok, ...figures }) => (
          <>
            <p class={ok ? "good" : "bad"} role="status">
              {ok
                ? "Nothing is late, and nothing needs attention."
                : "Something needs attention: every figure below should be 0, and the first under 300."}
            </p>
            <Output value={toWords(figures)} label="Gauges" />
          </>
        )}
      </Loaded>
    </section>
  );
};

const DeadLettersPanel = () => {
  const load = useLoad((signal) => runCommand<DeadLetters>("dead-letters.list", {}, signal));
  return (
    <section class="panel" aria-labelledby="dead-letters">
      <h2 id="dead-letters">Dead letters</h2>
      <p class="soft">
        Messages that a worker failed to handle. Send them back once the cause is fixed.
      </p>
      <Loaded load={load} what="the dead letters">
        {({ messages }) => (
          <>
            <Output value={messages} label="Dead letters" />
            {[...new Set(messages.map(({ queue }) => queue.replace(/-dead$/, "")))].map((queue) => (
              <CommandForm
                key={queue}
                command="dead-letters.replay"
                options={{ queue }}
                label={`Send ${queue} back`}
                busy="Sending them back"
                onDone={load.reload}
              />
            ))}
          </>
        )}
      </Loaded>
    </section>
  );
};

export const Server = () => (
  <Screen title="Server" lead="What mailproof admin prints, for the person who runs this server.">
    <div class="panels">
      <ChecklistPanel />
      <GaugesPanel />
      <DeadLettersPanel />
      <section class="panel" aria-labelledby="audit">
        <h2 id="audit">Audit</h2>
        <p class="soft">Adds up the ledger and names every broken invariant.</p>
        <CommandForm command="audit" label="Run the audit" busy="Adding up the ledger" />
      </section>
      <section class="panel" aria-labelledby="egress">
        <h2 id="egress">Connection to mail servers</h2>
        <p class="soft">Connects to large providers, and shows how they treat our address.</p>
        <CommandForm
          command="egress.test"
          label="Run the test"
          busy="Connecting to large providers"
        />
      </section>
      <section class="panel" aria-labelledby="backup">
        <h2 id="backup">Backup</h2>
        <p class="soft">
          Copies everything to a folder inside the server's own. Move the copy to another disk.
        </p>
        <CommandForm command="backup" label="Make a backup" busy="Copying the state" />
      </section>
    </div>
  </Screen>
);

type Light = {
  readonly light: string;
  readonly on: boolean;
  readonly missing: string | null;
  readonly how: string | null;
};
type Checklist = { readonly ok: boolean; readonly lights: readonly Light[] };

/** The requirements of this server before customers depend on it, each with the setting that meets it. */
const ChecklistPanel = () => {
  const load = useLoad((signal) => runCommand<Checklist>("checklist", {}, signal));
  return (
    <section class="panel main wide" aria-labelledby="checklist">
      <h2 id="checklist">Before customers depend on it</h2>
      <Loaded load={load} what="the checklist">
        {({ lights }) => (
          <>
            <p class="soft">
              {lights.filter(({ on }) => on).length} of {lights.length} are on.
            </p>
            <ul class="lights">
              {lights.map(({ light, on, missing, how }) => (
                <li key={light} class={on ? "good" : "off"}>
                  <b>{light}</b> <span>{on ? "on" : `off: ${missing}`}</span>
                  {how && <small>{how}</small>}
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
    </section>
  );
};
