import type { GetSignInData } from "@mailproof/client";
import type { ComponentChildren } from "preact";
import { useLayoutEffect } from "preact/hooks";
import { useAction } from "../parts/action.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Logo } from "../parts/icon.tsx";
import { type Load, useLoad } from "../parts/load.tsx";
import { linkToken, navigate, path } from "../router.ts";
import { getOwnClient, refreshPerson } from "../session.ts";
import { confirmPerson } from "./confirm.tsx";
import { createPasskey, isPasskeyAvailable } from "./passkey.ts";
import { toHost, visitProvider } from "./provider.ts";
import "../frame/sign-in.css";

type Props = { readonly title: string; readonly children: ComponentChildren };

/** A page without the frame: before a person is signed in, and at the first visit. */
export const PersonPage = ({ title, children }: Props) => {
  useLayoutEffect(() => {
    document.title = `${title} · Mailproof`;
  }, [title]);
  return (
    <main class="sign-in" id="content">
      <p class="brand">
        <Logo />
        Mailproof
      </p>
      <h1 tabIndex={-1}>{title}</h1>
      {children}
    </main>
  );
};

export const useWays = (): Load<GetSignInData> =>
  useLoad((signal) => getOwnClient().getSignIn({ signal }));

/** At an address of this machine browsers refuse passkeys, and the provider returns to the name localhost. */
const LOOPBACK = /^(?:127\.0\.0\.1|\[::1\])$/;

export const isPlaceForPeople = (): boolean => isSecureContext && !LOOPBACK.test(location.hostname);

/** Says where a person can sign in, when browsers refuse it here. */
export const PlaceNotice = () => {
  if (isPlaceForPeople()) return null;
  const there = location.href.replace(location.hostname, "localhost");
  const shown = there.replace(/\?.*/, "");
  if (!isSecureContext)
    return (
      <p class="notice">
        People cannot sign in over plain http: browsers refuse passkeys, and do not keep the
        session. Open this page by https, or in a browser on the server's machine at {shown}.
        {linkToken.value !== "" && " Open your whole link there: it is not used yet."}
      </p>
    );
  // The router removed the token of a link from the address.
  const link = linkToken.value === "" ? there : `${there}#${linkToken.value}`;
  return (
    <p class="notice">
      People sign in at <a href={link}>{shown}</a>: browsers refuse passkeys at {location.hostname}.
    </p>
  );
};

type OfferProps = { readonly ways: GetSignInData | undefined; readonly onDone: () => void };

/** The name tells the passkeys of a person apart. */
const toDeviceName = (): string =>
  /Windows|Mac OS X|Android|iPhone|iPad|Linux/.exec(navigator.userAgent)?.[0] ?? "Passkey";

/** The buttons by which a signed-in person gets another way to sign in. */
export const NextTime = ({ ways, onDone }: OfferProps) => {
  const add = useAction(async () => {
    await createPasskey(toDeviceName());
    await refreshPerson();
    onDone();
  });
  const connect = useAction(async () => {
    // The API refuses an old sign-in only after the visit, whose response works once.
    const { recently_signed_in: isRecent } = await getOwnClient().getPerson();
    if (isRecent || (await confirmPerson())) await visitProvider({ next: path.peek() });
  });
  const error = add.error ?? connect.error;
  return (
    <>
      {error !== undefined && <ErrorPanel error={error} />}
      <div class="actions ways-next">
        {ways?.passkeys && isPasskeyAvailable() && (
          <button
            type="button"
            class="primary"
            aria-disabled={add.isRunning}
            onClick={() => void add.run()}
          >
            Add a passkey
          </button>
        )}
        {ways?.oidc && (
          <button
            type="button"
            aria-disabled={connect.isRunning}
            onClick={() => void connect.run()}
          >
            Connect {toHost(ways.oidc.issuer)}
          </button>
        )}
      </div>
    </>
  );
};

export const openOverview = (): void => navigate("", { replace: true });
