import { useState } from "preact/hooks";

const SHOWN_MS = 1_500;

type Props = {
  readonly text: string | (() => string);
  readonly label?: string;
};

/** Browsers refuse to copy without a permission, and offer no clipboard on pages over plain http. */
const writeToClipboard = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
};

export const CopyButton = ({ text, label = "Copy" }: Props) => {
  const [outcome, setOutcome] = useState<"Copied" | "Not copied" | null>(null);
  const copy = async () => {
    setOutcome(
      (await writeToClipboard(typeof text === "string" ? text : text())) ? "Copied" : "Not copied",
    );
    setTimeout(() => setOutcome(null), SHOWN_MS);
  };
  return (
    <button type="button" class="quiet" onClick={() => void copy()}>
      <span aria-live="polite">{outcome ?? label}</span>
    </button>
  );
};
