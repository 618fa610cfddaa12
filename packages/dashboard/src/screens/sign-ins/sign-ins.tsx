import type { GetPersonData } from "@mailproof/client";
import { useState } from "preact/hooks";
import { formatTime } from "../../format.ts";
import { useAction } from "../../parts/action.ts";
import { Answers, Dialog } from "../../parts/dialog.tsx";
import { ErrorPanel } from "../../parts/error-panel.tsx";
import { Loaded, useLoad } from "../../parts/load.tsx";
import { Screen } from "../../parts/screen.tsx";
import { Empty } from "../../parts/shape.tsx";
import { NextTime, useWays } from "../../people/person-page.tsx";
import { toHost } from "../../people/provider.ts";
import {
  createAccountClient,
  endSession,
  getOwnClient,
  type Membership,
  refreshPerson,
} from "../../session.ts";

/** What a question of this screen is about. */
type Asked =
  | { readonly passkey: GetPersonData["passkeys"][number] }
  | { readonly left: Membership };

export const SignIns = () => {
  const load = useLoad((signal) => getOwnClient().getPerson({ signal }));
  const ways = useWays();
  const [asked, setAsked] = useState<Asked | null>(null);
  const changed = () => {
    setAsked(null);
    load.reload();
  };
  return (
    <Screen title="Your sign-ins" lead="How you sign in, on which devices, and to which accounts.">
      <Loaded load={load} what="your sign-ins" as="rows">
        {(data) => (
          <div class="panels">
            <section class="panel" aria-labelledby="passkeys">
              <h2 id="passkeys">Ways to sign in</h2>
              <WayList data={data} onAsk={setAsked} />
              <NextTime ways={ways.data} onDone={changed} />
              {ways.error !== undefined && <ErrorPanel error={ways.error} onRetry={ways.reload} />}
            </section>
            <section class="panel" aria-labelledby="accounts">
              <h2 id="accounts">Your accounts</h2>
              <ul class="plain">
                {data.accounts.map((one) => (
                  <li key={one.account_id}>
                    {one.name} <small>{one.role}</small>{" "}
                    <button type="button" class="quiet" onClick={() => setAsked({ left: one })}>
                      Leave <span class="unseen">{one.name}</span>
                    </button>
                  </li>
                ))}
              </ul>
            </section>
            <Sessions />
            <Question
              person={data.person_id}
              asked={asked}
              onChanged={changed}
              onClose={() => setAsked(null)}
            />
          </div>
        )}
      </Loaded>
    </Screen>
  );
};

type ListProps = { readonly data: GetPersonData; readonly onAsk: (asked: Asked) => void };

const WayList = ({ data: { passkeys, identities }, onAsk }: ListProps) =>
  passkeys.length + identities.length === 0 ? (
    <Empty shape="lines">You can sign in by a new link only.</Empty>
  ) : (
    <ul class="plain">
      {passkeys.map((passkey) => (
        <li key={passkey.passkey_id}>
          <b>{passkey.name}</b> <small>passkey</small>{" "}
          <button type="button" class="quiet" onClick={() => onAsk({ passkey })}>
            Remove <span class="unseen">{passkey.name}</span>
          </button>
          <br />
          <small>
            Added {formatTime(passkey.created_at)},{" "}
            {passkey.last_used_at === undefined
              ? "not used yet"
              : `last used ${formatTime(passkey.last_used_at)}`}
          </small>
        </li>
      ))}
      {identities.map(({ issuer, label }) => (
        <li key={issuer}>
          <b>{label ?? toHost(issuer)}</b> <small>at {toHost(issuer)}</small>
        </li>
      ))}
    </ul>
  );

const Sessions = () => {
  const leave = useAction(() => endSession(true));
  return (
    <section class="panel" aria-labelledby="sessions">
      <h2 id="sessions">Sessions</h2>
      <p>A session ends 12 hours after its last use, and 7 days after it began.</p>
      {leave.error !== undefined && <ErrorPanel error={leave.error} />}
      <button type="button" aria-disabled={leave.isRunning} onClick={() => void leave.run()}>
        Sign out everywhere
      </button>
    </section>
  );
};

type QuestionProps = {
  readonly person: string;
  readonly asked: Asked | null;
  readonly onChanged: () => void;
  readonly onClose: () => void;
};

const Question = ({ person, asked, onChanged, onClose }: QuestionProps) => {
  const act = useAction(async () => {
    if (!asked) return;
    if ("passkey" in asked) await getOwnClient().removePasskey({ id: asked.passkey.passkey_id });
    else await createAccountClient(asked.left.account_id).removeMember({ id: person });
    onChanged();
    await refreshPerson();
  });
  const isPasskey = asked !== null && "passkey" in asked;
  const name = asked && ("passkey" in asked ? asked.passkey.name : asked.left.name);
  return (
    <Dialog
      title={isPasskey ? `Remove ${name}?` : `Leave ${name}?`}
      isOpen={asked !== null}
      onClose={onClose}
    >
      <p>
        {isPasskey
          ? "It can no longer sign you in. Delete it on the device, too."
          : "You can no longer act in this account. An owner can invite you again."}
      </p>
      <Answers
        action={act}
        yes={isPasskey ? "Remove the passkey" : "Leave the account"}
        class="danger"
        onClose={onClose}
      />
    </Dialog>
  );
};
