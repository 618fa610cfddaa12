import { effect, signal } from "@preact/signals";
import { Component, type ComponentChildren, type FunctionComponent } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { toHref } from "../base.ts";
import { ErrorPanel } from "../parts/error-panel.tsx";
import { Screen } from "../parts/screen.tsx";
import { matchPath, type Params, path } from "../router.ts";
import { listScreens, type ScreenEntry, type ScreenProps } from "../screens.ts";
import { may } from "../session.ts";

export const announcement = signal("");

type Shown = {
  readonly screens: readonly ScreenEntry[];
  readonly address: string;
  readonly params: Params;
  readonly entry: ScreenEntry | undefined;
  readonly content: FunctionComponent<ScreenProps> | { readonly error: unknown };
};

const shown = signal<Shown | null>(null);

const NotFound = () => (
  <Screen title="No such screen" lead="The dashboard has no screen at this address.">
    <p>
      <a href={toHref("")}>Go to the overview</a>
    </p>
  </Screen>
);

const findScreen = (
  screens: readonly ScreenEntry[],
  address: string,
): { entry?: ScreenEntry; params: Params } => {
  for (const entry of screens) {
    const params = matchPath(entry.path, address);
    if (params) return { entry, params };
  }
  return { params: {} };
};

const openScreen = async (
  screens: readonly ScreenEntry[],
  address: string,
  isCurrent: () => boolean,
): Promise<void> => {
  const { entry, params } = findScreen(screens, address);
  const content = entry ? await entry.load().catch((error: unknown) => ({ error })) : NotFound;
  if (isCurrent()) shown.value = { screens, address, params, entry, content };
};

// The effect runs before anything is drawn, so the screen's code loads while the frame is drawn.
effect(() => {
  let isCurrent = true;
  void openScreen(listScreens(), path.value, () => isCurrent);
  // The reader has left the screen, or a key of another kind has signed in.
  return () => {
    isCurrent = false;
  };
});

/** Catches the errors of a screen, so that the rest of the page stays. */
class Boundary extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  override state: { error?: unknown } = {};

  static override getDerivedStateFromError = (error: unknown) => ({ error });

  override render() {
    const { error } = this.state;
    if (error === undefined) return this.props.children;
    return (
      <Screen title="This screen failed">
        <ErrorPanel error={error} onRetry={() => this.setState({ error: undefined })} />
      </Screen>
    );
  }
}

/** After an update of the service, the files that this page refers to no longer exist. */
const reload = () => location.reload();

const NotAllowed = ({ title }: Pick<ScreenEntry, "title">) => (
  <Screen title={title}>
    <p class="notice">Your role in this account does not include this screen.</p>
  </Screen>
);

const Content = ({ params, entry, content }: Shown) => {
  if (entry?.needs && !may(entry.needs)) return <NotAllowed title={entry.title} />;
  if (typeof content === "function") {
    const Content = content;
    return <Content params={params} />;
  }
  return (
    <Screen title="This screen could not be loaded">
      <ErrorPanel error={content.error} onRetry={reload} />
    </Screen>
  );
};

export const Outlet = () => {
  const isFirst = useRef(true);
  // A screen of an account would send its requests with the operator's key, and their refusal would end the session.
  const current = shown.value?.screens === listScreens() ? shown.value : null;
  useLayoutEffect(() => {
    if (!current) return;
    const heading = document.querySelector<HTMLElement>("main h1");
    if (!isFirst.current) {
      heading?.focus({ preventScroll: true });
      announcement.value = heading?.textContent ?? "";
    }
    isFirst.current = false;
  }, [current]);
  if (!current)
    return (
      <p class="waiting" role="status">
        Loading the screen …
      </p>
    );
  return (
    <Boundary key={current.address}>
      <Content {...current} />
    </Boundary>
  );
};
