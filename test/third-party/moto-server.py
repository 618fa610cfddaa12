"""moto as a server for test/aws/emulators.ts: one request after the other, at the time that the request names."""

import datetime
import itertools
import os
import sys
import threading

os.environ["MOTO_ACCOUNT_ID"] = "000000000000"

from moto.core import utils  # noqa: E402

clock = threading.local()
real_utcnow = utils.utcnow


def utcnow():
    now = getattr(clock, "now", None)
    if now is None:
        return real_utcnow()
    return utils.utcfromtimestamp(0) + datetime.timedelta(milliseconds=now)


# Before any service imports it by name.
utils.utcnow = utcnow

from moto.server import DomainDispatcherApplication, create_backend_app  # noqa: E402
from werkzeug.serving import WSGIRequestHandler, make_server  # noqa: E402

app = DomainDispatcherApplication(create_backend_app)
# moto's writes are not atomic beside one another, as AWS's are.
alone = threading.Lock()
# Time passes between two requests, be it a microsecond: moto hides a message for longer than it was told.
served = itertools.count()


def serve(environ, start_response):
    now = environ.get("HTTP_X_CLOCK")
    with alone:
        clock.now = None if now is None else int(now) + next(served) / 1000
        return app(environ, start_response)


class Handler(WSGIRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body of an answer are two writes, and the second would wait for the client to acknowledge the first.
    disable_nagle_algorithm = True

    def log(self, *_args):
        pass


make_server("127.0.0.1", int(sys.argv[1]), serve, threaded=True, request_handler=Handler).serve_forever()
