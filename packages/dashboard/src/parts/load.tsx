import { MailproofError } from "@mailproof/client";
import type { ComponentChildren } from "preact";
import { useCallback, useLayoutEffect, useRef, useState } from "preact/hooks";
import { ErrorPanel, mayPass } from "./error-panel.tsx";
import { type ShapeName, Waiting } from "./shape.tsx";

/** What the API returned, and how the latest request went. Earlier data stay while the next request runs. */
export type Load<T> = {
  readonly data: T | undefined;
  readonly error: unknown;
  readonly reload: () => void;
};

const isAborted = (error: unknown): boolean =>
  error instanceof MailproofError && error.code === "ABORTED";

/** How long after a failure that may pass it is tried again by itself. */
export const AGAIN_MS = 30_000;

/** Loads when the screen opens, when one of the inputs changes, and after a failure that may pass. */
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
  const loaded = { data: state.data, error: state.error, reload };
  usePolling(loaded, state.error !== undefined && mayPass(state.error) ? AGAIN_MS : null);
  return loaded;
};

/** Loads repeatedly while the page is visible and has a network, each time this long after the last response. Null: it stops. */
export const usePolling = (
  { data, error, reload }: Omit<Load<unknown>, "reload"> & { readonly reload: () => unknown },
  everyMs: number | null,
): void => {
  useLayoutEffect(() => {
    if (everyMs === null) return undefined;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const schedule = () => {
      clearTimeout(timer);
      if (document.visibilityState === "visible" && navigator.onLine)
        timer = setTimeout(reload, everyMs);
    };
    schedule();
    document.addEventListener("visibilitychange", schedule);
    addEventListener("online", reload);
    return () => {
      clearTimeout(timer);
      removeEventListener("online", reload);
      document.removeEventListener("visibilitychange", schedule);
    };
  }, [data, error, reload, everyMs]);
};

type Props<T> = {
  readonly load: Load<T>;
  /** What is being loaded, such as "the running lists". */
  readonly what: string;
  /** What it will look like. */
  readonly as?: ShapeName;
  readonly children: (data: T) => ComponentChildren;
};

/** The data, or what is being loaded, or the error with Retry. */
export const Loaded = <T,>({ load: { data, error, reload }, what, as, children }: Props<T>) => (
  <>
    {error !== undefined && <ErrorPanel error={error} onRetry={reload} />}
    {data !== undefined && children(data)}
    {data === undefined && error === undefined && <Waiting what={what} shape={as} />}
  </>
);
