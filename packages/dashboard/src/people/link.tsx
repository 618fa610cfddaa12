import type { SignInWithLinkData } from "@mailproof/client";
import { useRef } from "preact/hooks";
import { toHref } from "../base.ts";
import { handleSubmit, readText, useAction } from "../parts/action.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Loaded, useLoad } from "../parts/load.tsx";
import { MEANINGS } from "../parts/words.ts";
import { linkToken, navigate } from "../router.ts";
import { getOwnClient, person, signInAsPerson } from "../session.ts";
import { isPlaceForPeople, PersonPage, PlaceNotice, useWays } from "./person-page.tsx";
import { toHost, visitProvider } from "./provider.ts";

/** The page behind a link: of the first visit, an invitation, or a way back in. */
export const Link = () => {
  const token = linkToken.value;
  const load = useLoad(
    async (signal) =>
      token === ""
        ? null
        : { token, ...(await getOwnClient().signInWithLink({ token }, { signal })) },
    [token],
  );
  if (load.data === null || isUsed(load.error)) return <NoLink error={load.error} />;
  const title = load.data ? toTitle(load.data) : "Your link";
  return (
    <PersonPage title={title}>
      <PlaceNotice />
      {isPlaceForPeople() && (
        <Loaded load={load} what="the invitation">
          {(read) => read && <Acceptance read={read} />}
        </Loaded>
      )}
    </PersonPage>
  );
};

type Read = SignInWithLinkData & { readonly token: string };

const isUsed = (error: unknown): boolean => (error as { status?: number } | null)?.status === 404;

const NoLink = ({ error }: { readonly error: unknown }) => (
  <PersonPage title="This link does not work">
    <p>
      {error instanceof Error
        ? // A guest knows of no price.
          error.message.replace(" Nothing was charged.", "")
        : "Its last part is missing. Open the whole link again: this page does not keep it."}
    </p>
    <p>
      <a class="button" href={toHref("")}>
        Sign in
      </a>
    </p>
  </PersonPage>
);

const toTitle = ({ kind, account_name: name = "this service" }: Read): string => {
  if (kind === "first") return "Set up Mailproof";
  return kind === "member" ? `Join ${name}` : "Sign in again";
};

const Acceptance = ({ read }: { readonly read: Read }) => {
  const { kind, role, email, account_name: name, token } = read;
  const ways = useWays();
  const known = kind === "member" ? person.value : null;
  const provider = kind === "member" ? ways.data?.oidc : undefined;
  // The API then accepts this address alone, as the provider has verified it.
  const isByProvider = email !== undefined && provider !== undefined;
  const visit = useAction(() => visitProvider({ invitation: token, next: known ? "" : "welcome" }));
  return (
    <>
      {kind === "first" && <p>You are the first person here, and become the owner.</p>}
      {kind === "member" && (
        <p>
          You are invited to <b>{name}</b> as <b>{role}</b>: {MEANINGS[role]}.
        </p>
      )}
      {kind === "return" && <p>This link signs you in once. Then add a passkey for next time.</p>}
      {!isByProvider && ways.data && <AcceptForm read={read} known={known?.name} />}
      {visit.error !== undefined && <ErrorPanel error={visit.error} />}
      {provider && (
        <>
          {isByProvider && <p>Only {email} may accept this invitation.</p>}
          <button
            type="button"
            class={isByProvider ? "primary" : ""}
            aria-disabled={visit.isRunning}
            onClick={() => void visit.run()}
          >
            Join with {toHost(provider.issuer)}
          </button>
        </>
      )}
      {ways.error !== undefined && <ErrorPanel error={ways.error} onRetry={ways.reload} />}
    </>
  );
};

const BUTTONS = { first: "Begin", member: "Join", return: "Sign in" } as const;

const Field = ({ name, label, value }: { name: string; label: string; value?: string }) => (
  <p>
    <label for={name}>{label}</label>
    <input
      id={name}
      name={name}
      autocomplete={name === "name" ? "name" : "organization"}
      maxLength={100}
      defaultValue={value}
    />
  </p>
);

/** A signed-in person joins as such; anybody else gives a name. */
const AcceptForm = ({ read, known }: { read: Read; known: string | undefined }) => {
  const { kind, token, account_name: accountName } = read;
  const form = useRef<HTMLFormElement>(null);
  const isNew = kind !== "return" && known === undefined;
  const accept = useAction(async () => {
    const fields = new FormData(form.current ?? undefined);
    const [name, account] = [readText(fields, "name"), readText(fields, "account")];
    if (isNew && name === "") throw new TypeError("Enter your name.");
    const { signed_in: signedIn } = await getOwnClient().signInWithLink({
      token,
      accept: true,
      ...(isNew && { name }),
      ...(account !== "" && { account_name: account }),
    });
    await signInAsPerson(signedIn?.account_id);
    linkToken.value = "";
    navigate(kind === "return" ? "settings/sign-ins" : isNew ? "welcome" : "", { replace: true });
  });
  return (
    <form ref={form} noValidate onSubmit={handleSubmit(accept.run)}>
      {known !== undefined && (
        <p>
          You are signed in as <b>{known}</b>.
        </p>
      )}
      {isNew && <Field name="name" label="Your name" />}
      {kind === "first" && (
        <Field name="account" label="The account's name" value={accountName ?? ""} />
      )}
      {accept.error !== undefined && <ErrorPanel error={accept.error} />}
      <button type="submit" class="primary" aria-disabled={accept.isRunning}>
        {BUTTONS[kind]}
      </button>
    </form>
  );
};
