import { render } from "preact";
import { App } from "./app.tsx";
import { applyTheme } from "./frame/theme.ts";
import { watchAddress } from "./router.ts";
import { late, openSession } from "./session.ts";

// The dashboard calls the public routes by packages/client, and nothing else. `App` shows the sign-in until session.ts has a
// key or a person (people/), then the frame (frame/): navigation, balance, and an outlet that loads the screen of the address (router.ts,
// screens.ts). A screen (screens/) loads data with `useLoad` and is made of shared parts (parts/). With the operator's key
// other screens run the operator's commands (operator.ts). shims/ replaces functions of Node, so that core's reader of lists
// works in a browser.

late.findLoss = async (account) => (await import("./people/lost-session.ts")).findLoss(account);
late.confirmPerson = async () => (await import("./people/confirm.tsx")).confirmPerson();
applyTheme();
watchAddress();
void openSession();
const root = document.getElementById("app");
if (root) render(<App />, root);
