import { useRef, useState } from "preact/hooks";

export type Action<A extends readonly unknown[]> = {
  readonly isRunning: boolean;
  readonly error: unknown;
  /** Does nothing while a request runs, so a double click sends one request. */
  readonly run: (...args: A) => Promise<void>;
};

export const useAction = <A extends readonly unknown[]>(
  act: (...args: A) => Promise<unknown>,
): Action<A> => {
  const isBusy = useRef(false);
  const [isRunning, setRunning] = useState(false);
  const [error, setError] = useState<unknown>();
  const run = async (...args: A): Promise<void> => {
    if (isBusy.current) return;
    isBusy.current = true;
    setRunning(true);
    setError(undefined);
    try {
      await act(...args);
    } catch (cause) {
      setError(cause);
    } finally {
      isBusy.current = false;
      setRunning(false);
    }
  };
  return { isRunning, error, run };
};

/** A form's handler: the page stays, and `act` runs. */
export const handleSubmit =
  (act: () => unknown) =>
  (event: Event): void => {
    event.preventDefault();
    void act();
  };
