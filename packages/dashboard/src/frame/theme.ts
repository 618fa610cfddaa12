import { effect, signal } from "@preact/signals";

export const THEMES = ["system", "light", "dark"] as const;
export type Theme = (typeof THEMES)[number];

const STORED_THEME = "mailproof.theme";

const readStoredTheme = (): Theme => {
  try {
    const stored = localStorage.getItem(STORED_THEME);
    return THEMES.find((one) => one === stored) ?? "system";
  } catch {
    return "system";
  }
};

export const theme = signal<Theme>(readStoredTheme());

/** Every colour in the styles has a light and a dark value, and `color-scheme` selects one. */
export const applyTheme = (): void => {
  effect(() => {
    const scheme = theme.value === "system" ? "light dark" : theme.value;
    document.documentElement.style.colorScheme = scheme;
  });
};

export const chooseTheme = (chosen: Theme): void => {
  theme.value = chosen;
  try {
    localStorage.setItem(STORED_THEME, chosen);
  } catch {
    // The browser blocks storage: the choice lasts as long as the page.
  }
};
