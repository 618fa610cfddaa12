# Signs or verifies what each line of the input asks for, as test/third-party/signers.ts has it.
import base64
import json
import sys

import dkim


def sign(task):
    mail = base64.b64decode(task["mail"])
    is_rsa = task["kind"] == "rsa"
    field = dkim.sign(
        mail,
        task["selector"].encode(),
        task["domain"].encode(),
        (task["key"] if is_rsa else task["seed"]).encode(),
        canonicalize=(task["header"].encode(), task["body"].encode()),
        signature_algorithm=b"rsa-sha256" if is_rsa else b"ed25519-sha256",
        include_headers=[name.encode() for name in task["names"]],
        length=task["length"],
    )
    return {"mail": base64.b64encode(field + mail).decode()}


def verify(task):
    mail = base64.b64decode(task["mail"])
    look_up = lambda name, timeout=5: (task["keys"].get(name.decode().rstrip(".")) or "").encode()
    results = []
    for index in range(task["count"]):
        try:
            results.append(dkim.DKIM(mail).verify(index, dnsfunc=look_up))
        except dkim.DKIMException as error:
            results.append(False)
    return {"results": results}


for line in sys.stdin:
    task = json.loads(line)
    try:
        answer = sign(task) if task["do"] == "sign" else verify(task)
    except Exception as error:
        answer = {"error": repr(error)}
    print(json.dumps(answer))
