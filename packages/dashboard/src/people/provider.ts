import { createRandomId } from "@mailproof/client/random-id";
import { APP_PATH } from "../base.ts";
import { getOwnClient } from "../session.ts";

// Signing in at the identity provider. The page that starts holds the flow, which the service has sealed: in sessionStorage while
// the tab itself visits the provider, in memory while a window does. The provider sends the browser back to /app/sign-in, whose
// page (provider-return.tsx) finishes the flow of its tab, or hands the provider's response to the page that waits for it.

const STORED_FLOW = "mailproof.flow";
const CHANNEL = "mailproof.sign-in";

export type Start = {
  /** The token of an invitation to accept. */
  readonly invitation?: string;
  /** The path of the screen to open afterwards. */
  readonly next?: string;
};

type Flow = { readonly url: string; readonly flow: string };

export type Finished = { readonly account_id?: string; readonly next: string };

/** The host is how a person knows the provider. */
export const toHost = (issuer: string): string => new URL(issuer).host;

const start = ({ next = "", ...invitation }: Start): Promise<Flow> =>
  getOwnClient().startOidcSignIn({ ...invitation, next: APP_PATH + next });

const finish = (flow: string, response: string): Promise<Finished> =>
  getOwnClient().finishOidcSignIn({ flow, response });

const readState = (query: string): string | null => new URLSearchParams(query).get("state");

/** Leaves this page for the provider's. */
export const visitProvider = async (to: Start): Promise<void> => {
  const { url, flow } = await start(to);
  const stored = { flow, state: readState(new URL(url).search) };
  sessionStorage.setItem(STORED_FLOW, JSON.stringify(stored));
  location.assign(url);
};

type Taken = { readonly taken: string };
type Returned = { readonly state: string; readonly response: string };

/** Opens the provider in a window, so that this page keeps what the person was doing. */
export const signInByWindow = async (here: string): Promise<void> => {
  const { url, flow } = await start({});
  const state = readState(new URL(url).search);
  // The policy of this page hides the window from it, so the name keeps a second press in the same one.
  if (!open(url, `provider-${createRandomId()}`, "popup,width=520,height=680"))
    return visitProvider({ next: here });
  const channel = new BroadcastChannel(CHANNEL);
  const response = await new Promise<string>((resolve) => {
    channel.onmessage = ({ data }: MessageEvent<Returned>) => {
      if (data.state === state) resolve(data.response);
    };
  });
  channel.postMessage({ taken: state } as Taken);
  channel.close();
  await finish(flow, response);
};

/** No page has answered by then: the one that started is gone. */
const TAKEN_MS = 2_000;

/** Finishes the flow of this tab. Null when another page waited for the response, and has it. */
export const finishProvider = async (response: string): Promise<Finished | null> => {
  const stored = sessionStorage.getItem(STORED_FLOW);
  const own = stored === null ? null : (JSON.parse(stored) as { flow: string; state: string });
  const state = readState(response);
  if (own && own.state === state) {
    // A flow works once, so a reload could not finish it again.
    sessionStorage.removeItem(STORED_FLOW);
    return finish(own.flow, response);
  }
  const channel = new BroadcastChannel(CHANNEL);
  const isTaken = await new Promise<boolean>((resolve) => {
    channel.onmessage = ({ data }: MessageEvent<Taken>) => {
      if (data.taken === state) resolve(true);
    };
    channel.postMessage({ state, response });
    setTimeout(() => resolve(false), TAKEN_MS);
  });
  channel.close();
  if (!isTaken) throw new Error("This sign-in began in another browser or tab, or is over.");
  return null;
};
