import type { FunctionComponent } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";
import { Frame } from "./frame/frame.tsx";
import { ErrorPanel } from "./parts/error-panel.tsx";
import { Waiting } from "./parts/shape.tsx";
import { path, query } from "./router.ts";
import { isOpening, isSignedIn, person, sessionId } from "./session.ts";

/** The pages without the frame, whose code loads when one is shown. */
const PAGES = {
  link: async () => (await import("./people/link.tsx")).Link,
  mail: async () => (await import("./people/mail-switch.tsx")).MailSwitch,
  provider: async () => (await import("./people/provider-return.tsx")).ProviderReturn,
  welcome: async () => (await import("./people/welcome.tsx")).Welcome,
  signIn: async () => (await import("./frame/sign-in.tsx")).SignIn,
  noAccount: async () => (await import("./frame/sign-in.tsx")).NoAccount,
} as const satisfies Readonly<Record<string, () => Promise<FunctionComponent>>>;

const choosePage = (): keyof typeof PAGES | null => {
  if (path.value === "link" || path.value === "mail") return path.value;
  if (path.value === "sign-in" && query.value.size > 0) return "provider";
  if (!isSignedIn.value) return "signIn";
  if (person.value?.accounts.length === 0) return "noAccount";
  return path.value === "welcome" && person.value ? "welcome" : null;
};

type State = { readonly Content?: FunctionComponent; readonly error?: unknown };

const Page = ({ name }: { readonly name: keyof typeof PAGES }) => {
  const [{ Content, error }, setState] = useState<State>({});
  useLayoutEffect(() => {
    PAGES[name]().then(
      (Content) => setState({ Content }),
      (error: unknown) => setState({ error }),
    );
  }, []);
  if (Content) return <Content />;
  return error === undefined ? null : (
    <main class="sign-in">
      <h1>This page could not be loaded</h1>
      <ErrorPanel error={error} onRetry={() => location.reload()} />
    </main>
  );
};

export const App = () => {
  const page = choosePage();
  if (isOpening.value)
    return (
      <main>
        <h1>Mailproof</h1>
        <Waiting what="the session" />
      </main>
    );
  return page === null ? <Frame key={sessionId.value} /> : <Page key={page} name={page} />;
};
