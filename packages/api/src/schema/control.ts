import { isPageOrigin } from "@mailproof/core/accounts/public-keys";
import { TEST_TOKEN } from "@mailproof/core/control/check-control";
import { TOKEN_LENGTH_MAX } from "@mailproof/mail/control/token";
import * as v from "valibot";
import { describe, limitCharacters, notEmpty, part } from "./common.ts";
import * as field from "./fields.ts";

const NONCE_LENGTH_MAX = 500;
const ORIGIN_LENGTH_MAX = 300;

/** The proof that the visitor's browser put into a form, by the Email Verification Protocol. */
export const ControlInput = part({
  token: describe(
    v.pipe(v.string(), notEmpty, limitCharacters(TOKEN_LENGTH_MAX)),
    `The value of the form's \`email-verification-token\` field, unchanged. Under a test key \`${TEST_TOKEN}\` proves control.`,
  ),
  nonce: describe(
    v.pipe(v.string(), notEmpty, limitCharacters(NONCE_LENGTH_MAX)),
    "The `nonce` that your server gave that field. Take each only once: whether a token was used before is not checked here.",
  ),
  origin: describe(
    v.pipe(
      v.string(),
      limitCharacters(ORIGIN_LENGTH_MAX),
      v.check(
        isPageOrigin,
        "must be an origin such as https://example.com or http://localhost:3000",
      ),
    ),
    "The origin of the page with the form, such as `https://example.com`.",
  ),
});

const ControlPart = v.object({
  status: field.text(
    "`controlled`, or the code for why control is not proven, which says nothing about the address. `dns_failed`, `issuer_unreachable`: it could not be found out.",
  ),
  issuer: field.maybeText(
    "The host of the mail provider that vouches for the address. Left out unless control is proven.",
  ),
  profile: field.maybeText(
    "The edition of the protocol that the token keeps to. Left out unless control is proven.",
  ),
});

export const Control = {
  control: describe(
    v.optional(ControlPart),
    "What became of the request's `control`. Left out where it had none.",
  ),
};
