import { useSignal } from "@preact/signals";
import { useLayoutEffect } from "preact/hooks";

export const Connection = () => {
  const isOffline = useSignal(!navigator.onLine);
  useLayoutEffect(() => {
    const update = () => {
      isOffline.value = !navigator.onLine;
    };
    addEventListener("online", update);
    addEventListener("offline", update);
    return () => {
      removeEventListener("online", update);
      removeEventListener("offline", update);
    };
  }, []);
  return (
    <div role="status">
      {isOffline.value && (
        <p class="notice">You are offline. This page may be out of date, and nothing is sent.</p>
      )}
    </div>
  );
};
