/** A short list for the tests, the most popular first. */
export const PROVIDERS: readonly string[] = `
  gmail.com yahoo.com hotmail.com outlook.com icloud.com aol.com live.com msn.com me.com mail.ru yandex.ru gmx.de web.de
  qq.com 163.com mail.com proton.me protonmail.com hotmail.fr orange.fr yahoo.fr yahoo.co.uk hotmail.co.uk comcast.net
  gmx.net libero.it t-online.de googlemail.com ymail.com
`
  .trim()
  .split(/\s+/);
