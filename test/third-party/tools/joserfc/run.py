# Checks the receipt of each line of the input by the key set of the first, as a back end in Python would.
import json
import sys

from joserfc import jwt
from joserfc.errors import JoseError
from joserfc.jwk import KeySet

keys = KeySet.import_key_set(json.loads(sys.stdin.readline()))
for line in sys.stdin:
    try:
        token = jwt.decode(line.rstrip("\n"), keys, algorithms=["EdDSA"])
        print(json.dumps({"typ": token.header["typ"], "claims": token.claims}))
    except (JoseError, ValueError) as error:
        print(json.dumps({"error": type(error).__name__}))
