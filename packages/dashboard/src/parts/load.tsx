import { MailproofError } from "@mailproof/client";
import type { ComponentChildren } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ErrorPanel } from "./error-panel.tsx";

/** What the API returned, and how the latest request went. Earlier data stay while the next request runs. */
export type Load<T> = {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly reload: () => void;
};

const isAborted = (error: unknown): boolean =>
  error instanceof MailproofError && error.code === "ABORTED";

/** Loads when the screen opens, and again when one of the inputs changes. */
export const useLoad = <T,>(
  load: (signal: AbortSignal) => Promise<T>,
  inputs: readonly unknown[] = [],
): Load<T> => {
  const [state, setState] = useState<{ data?: T; error?: unknown }>({});
  const latest = useRef<AbortController>(undefined);
  const reload = useCallback(() => {
    latest.current?.abort();
    const controller = new AbortController();
    latest.current = controller;
    load(controller.signal).then(
      (data) => {
        if (!controller.signal.aborted) setState({ data });
      },
      (error: unknown) => {
        if (!controller.signal.aborted && !isAborted(error))
          setState((before) => ({ ...before, error }));
      },
    );
  }, inputs);
  useLayoutEffect(() => {
    reload();
    return () => latest.current?.abort();
  }, [reload]);
  return { data: state.data, error: state.error, reload };
};

/** Loads repeatedly while the page is visible, each time this long after the last response. Null: it stops. */
export const usePolling = (
  { data, error, reload }: Load<unknown>,
  everyMs: number | null,
): void => {
  useLayoutEffect(() => {
    if (everyMs === null) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const schedule = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible") timer = setTimeout(reload, everyMs);
    };
    schedule();
    document.addEventListener("visibilitychange", schedule);
    return () => {
      clearTimeout(timer);
      document.removeEventListener("visibilitychange", schedule);
    };
  }, [data, error, reload, everyMs]);
};

type Props<T> = {
  readonly load: Load<T>;
  /** What is being loaded, such as "the running lists". */
  readonly what: string;
  readonly children: (data: T) => ComponentChildren;
};

/** The data, or what is being loaded, or the error with Retry. */
export const Loaded = <T,>({ load: { data, error, reload }, what, children }: Props<T>) => (
  <>
    {error !== undefined && <ErrorPanel error={error} onRetry={reload} />}
    {data !== undefined && children(data)}
    {data === undefined && error === undefined && (
      <p class="waiting" role="status">
        Loading {what} …
      </p>
    )}
  </>
);
