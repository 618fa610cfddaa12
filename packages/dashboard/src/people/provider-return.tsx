import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";
import { APP_PATH, toHref } from "../base.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { navigate } from "../router.ts";
import { signInAsPerson } from "../session.ts";
import { PersonPage } from "./person-page.tsx";
import { finishProvider } from "./provider.ts";

/** The provider sends the browser here, with its response in the query. */
export const ProviderReturn = () => {
  const isTaken = useSignal(false);
  const error = useSignal<unknown>(undefined);
  useLayoutEffect(() => {
    const response = location.search.slice(1);
    // The response works once: a reload or Back must not send it again.
    history.replaceState(null, "", location.pathname);
    const run = async () => {
      const finished = await finishProvider(response);
      if (finished === null) {
        isTaken.value = true;
        return close();
      }
      await signInAsPerson(finished.account_id);
      navigate(finished.next.slice(APP_PATH.length), { replace: true });
    };
    run().catch((cause: unknown) => {
      error.value = cause;
    });
  }, []);
  if (error.value !== undefined)
    return (
      <PersonPage title="The sign-in did not work">
        <ErrorPanel error={error.value} />
        <p>
          <a class="button" href={toHref("")}>
            Try again
          </a>
        </p>
      </PersonPage>
    );
  return (
    <PersonPage title={isTaken.value ? "You are signed in" : "Signing in …"}>
      {isTaken.value && <p>Close this window, and continue in the other one.</p>}
    </PersonPage>
  );
};
