// Written by scripts/lists/build.mjs; docs/lists.md says from what.
import type { PackedList } from "../pack.ts";

export const rareEndings: PackedList = {
  list: "rareEndings",
  source: "tlds",
  version: "1.261.0",
  entries: 346,
  sha256: "166d3e32c577dfd1a1b179a7d878bc07287d38eda5c119432f292c8ad62b844d",
  packed: `
G+wCYBwJNo5yi6aOUQFCz5ux1fWfV1Wbc0MuIGcALVzOcpjmElyQpxHv4E3tUB5QQLn+BxbVtHfFFvI7wLEGZDk3r4zR0b2h
Wv8x6wCSrMCKniNCf/xZbnDTdrwJKxPEWwykXFZ8MEh6KsIkYga3bNebuAr1KMuFFYtA7qf4oKaP2roKCZ/a2RXYLVVT9oL/
eZPWRwS/ksKM/txsTD7z3m2r85d7TllC+G+VZaU66lSuNG+xLOHUne+eI8y4OXjsy2stFctXpR5dBpEeeWvqhhdKCZ226ZqE
KQsyQTpwQbTv64PZCTa6AlpixCTE8CPPaZQixcO4vsRLlIp5u/OR60riu0OdtCnjH9Mb+ca3OruNrjfNBvAr5gSWNA8D2vzX
2IYPhBhmbM9YQig8tjvyq1qqFnarL5pHxg9QY4aq1ku0wtWwMT2X8FY0fNG3Ma8vx5p/4X2MzdnnE21jzvmcu1c0b9k=
`,
};
