import { useSignal } from "@preact/signals";
import { toHref } from "../../base.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { useLoad } from "../../parts/load.tsx";
import { getClient, may } from "../../session.ts";
import { WatchForm } from "../monitors/watch-form.tsx";

type Props = { readonly domain: string; readonly sendingIp: string | null };

export const WatchButton = ({ domain, sendingIp }: Props) => {
  const isOpen = useSignal(false);
  const monitors = useLoad(async (signal) => (await getClient().listMonitors({ signal })).monitors);
  const isWatched = monitors.data?.some(
    (one) => one.domain === domain && one.sending_ip === sendingIp,
  );
  if (isWatched)
    return (
      <a class="button" href={toHref("monitors")}>
        Watched: see monitors
      </a>
    );
  if (!may("deliverability:write")) return null;
  const close = () => (isOpen.value = false);
  return (
    <>
      <button type="button" onClick={() => (isOpen.value = true)}>
        Watch this domain
      </button>
      <Dialog title={`Watch ${domain}`} isOpen={isOpen.value} onClose={close}>
        <WatchForm
          domain={domain}
          sendingIp={sendingIp}
          onAdded={() => {
            close();
            monitors.reload();
          }}
        />
      </Dialog>
    </>
  );
};
