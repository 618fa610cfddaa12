import { Frame } from "./frame/frame.tsx";
import { SignIn } from "./frame/sign-in.tsx";
import { isSignedIn } from "./session.ts";

export const App = () => (isSignedIn.value ? <Frame /> : <SignIn />);
