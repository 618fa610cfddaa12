import { PASSKEY_ID_LENGTH_MAX } from "@mailproof/core/people/passkeys";
import * as v from "valibot";
import { createList, describe, limitCharacters, notEmpty, optional } from "./common.ts";
import * as field from "./fields.ts";

// The responses of a browser, with WebAuthn's own names. Fields that the service does not read are left out.

const TRANSPORTS_MAX = 10;
const WORD_LENGTH_MAX = 100;
/** The largest field has an RSA key, of under 1,000 characters. */
const BYTES_LENGTH_MAX = 10_000;

const createBytes = (most = BYTES_LENGTH_MAX) =>
  v.pipe(
    v.string(),
    notEmpty,
    limitCharacters(most),
    v.regex(/^[\w-]+$/, "must be base64url without padding"),
  );

const createCredential = <E extends v.ObjectEntries>(entries: E) =>
  v.object({
    id: describe(createBytes(PASSKEY_ID_LENGTH_MAX), "The passkey's id, in base64url."),
    rawId: describe(createBytes(PASSKEY_ID_LENGTH_MAX), "The same."),
    type: describe(v.literal("public-key"), "Always public-key."),
    response: field.object("The authenticator's response.", {
      clientDataJSON: describe(createBytes(), "The challenge and the origin, in base64url."),
      ...entries,
    }),
  });

export const PasskeyCreation = describe(
  createCredential({
    attestationObject: describe(createBytes(), "The new public key, in base64url."),
    transports: describe(
      optional(createList(v.pipe(v.string(), limitCharacters(WORD_LENGTH_MAX)), TRANSPORTS_MAX)),
      "How a browser reaches the authenticator, such as usb or internal.",
    ),
  }),
  "The browser's RegistrationResponseJSON (WebAuthn level 3).",
);

export const PasskeyUse = describe(
  createCredential({
    authenticatorData: describe(createBytes(), "The authenticator's data, in base64url."),
    signature: describe(createBytes(), "The signature, in base64url."),
    userHandle: describe(optional(createBytes(WORD_LENGTH_MAX)), "The person, in base64url."),
  }),
  "The browser's AuthenticationResponseJSON (WebAuthn level 3).",
);

export const Start = v.strictObject({
  action: describe(v.literal("start"), "`start` returns options for the browser."),
});

/** No schema names the options, because WebAuthn defines them. */
export const Started = v.object({
  options: describe(
    v.record(v.string(), v.unknown()),
    "The options for the browser (WebAuthn level 3). Their challenge is valid for five minutes.",
  ),
});

export const FINISH = describe(v.literal("finish"), "`finish` takes the browser's response.");

export const ACTION_WORDS = "must be start or finish";
