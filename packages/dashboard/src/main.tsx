import { render } from "preact";
import { App } from "./app.tsx";
import { applyTheme } from "./frame/theme.ts";
import { watchAddress } from "./router.ts";

applyTheme();
watchAddress();
const root = document.getElementById("app");
if (root) render(<App />, root);
