"""Sends operations: one key for all attempts of a paid call, and retries where a second charge is impossible."""

from __future__ import annotations

import email.utils
import http.client
import json
import os
import random
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass, field
from typing import Any, BinaryIO, Mapping

RETRIES = 4
TIMEOUT_SECONDS = 60.0
# The longest pause before each retry. The last one applies to all further retries.
DELAYS_SECONDS = (0.5, 1.5, 4.0, 10.0)
# Beyond this Retry-After the client does not wait; the error has the time.
RETRY_AFTER_SECONDS_MAX = 120.0
# Clients with the same Retry-After do not return at the same time.
JITTER_SECONDS = 0.25


@dataclass(frozen=True)
class Operation:
    """How one operation is sent."""

    route: str
    # Whether it may be sent again when its outcome is unknown: "always", "keyed" (with the same key), "never".
    repeat: str = "always"
    paid: bool = False
    in_query: bool = False
    unwrapped: bool = False
    fixed: Mapping[str, str] = field(default_factory=dict)


class MailproofError(Exception):
    """A call that failed. `money` says what happened to its price, and the message says it in a sentence."""

    def __init__(self, message: str, *, code: str, money: str, **more: Any) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        """The service's code, or NETWORK, TIMEOUT or UNREADABLE for a response that did not come or was not the service's."""
        self.money = money
        """nothing_charged, nothing_more, refunded, kept, retry_same_key, repeat_search or unknown."""
        self.status: int | None = more.get("status")
        self.retryable: bool = more.get("retryable", False)
        """Whether the call may be sent again, with `idempotency_key` where there is one, without a second charge."""
        self.retry_after: float | None = more.get("retry_after")
        """Seconds to wait before the next call."""
        self.details: Any = more.get("details")
        self.request_id: str | None = more.get("request_id")
        self.doc_url: str | None = more.get("doc_url")
        self.idempotency_key: str | None = more.get("idempotency_key")


_SENTENCES = {
    "nothing_charged": "Nothing was charged.",
    "retry_same_key": "It may have been charged; sent again with the same idempotency_key it is not charged twice.",
    "repeat_search": "It may have been charged; the same search within its two minutes is not charged twice.",
}


class Transport:
    """A client of one service with one key. Left out, they are MAILPROOF_API and MAILPROOF_KEY of the environment."""

    def __init__(
        self,
        base_url: str | None = None,
        key: str | None = None,
        *,
        retries: int = RETRIES,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        self._base_url = _require("base_url", base_url, "MAILPROOF_API").rstrip("/")
        self._key = _require("key", key, "MAILPROOF_KEY")
        self._retries = retries
        self._timeout = timeout

    def _call(self, operation: Operation, fields: Mapping[str, Any], idempotency_key: str | None = None) -> Any:
        with self._open(operation, fields, idempotency_key, read=_read_json(operation)) as response:
            return response.data

    def _open(
        self,
        operation: Operation,
        fields: Mapping[str, Any],
        idempotency_key: str | None = None,
        read: Any = None,
    ) -> Any:
        """Sends it until an answer comes. The response is open, unless `read` reads it within the attempt."""
        method, path, body = _to_request(operation, fields)
        key = (idempotency_key or str(uuid.uuid4())) if operation.repeat == "keyed" else None
        request = urllib.request.Request(self._base_url + path, data=body, method=method)
        # Not sent on when a response redirects to another host.
        request.add_unredirected_header("Authorization", f"Bearer {self._key}")
        if body is not None:
            request.add_header("Content-Type", "application/json")
        if key is not None:
            request.add_header("Idempotency-Key", key)
        return self._send(operation, request, key, read)

    def _put(self, url: str, file: bytes) -> None:
        request = urllib.request.Request(url, data=file, method="PUT")
        # urllib's own type of a body would not be the one that the URL is signed for.
        request.add_header("Content-Type", "")
        self._send(Operation("PUT upload_url"), request, None, _Read).close()

    def _send(self, operation: Operation, request: urllib.request.Request, key: str | None, read: Any) -> Any:
        in_doubt = False
        for tries in range(self._retries + 1):
            try:
                response = urllib.request.urlopen(request, timeout=self._timeout)
                return response if read is None else read(response)
            except MailproofError:
                raise
            except Exception as cause:
                error = _to_error(operation, cause, key)
                if error is None:
                    raise
                if in_doubt and error.money == "nothing_charged":
                    error = _create_error(f"An earlier attempt got no response. {error.message}", error, "retry_same_key")
                delay = _get_delay(tries, error)
                if tries == self._retries or delay is None or not _may_repeat(operation, error):
                    raise error from cause
                # Refused before any work: the attempt leaves no doubt.
                in_doubt = in_doubt or (error.code != "RATE_LIMITED" and error.money == "retry_same_key")
            time.sleep(delay)
        raise AssertionError("the last attempt returns or raises")


class _Read:
    """A response that was read to its end."""

    def __init__(self, response: BinaryIO) -> None:
        with response:
            self.body = response.read()
        self.data: Any = None

    def __enter__(self) -> _Read:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def close(self) -> None:
        pass


def _read_json(operation: Operation) -> Any:
    def read(response: BinaryIO) -> _Read:
        done = _Read(response)
        body = json.loads(done.body)
        if not operation.unwrapped and not (isinstance(body, dict) and body.get("success")):
            raise ValueError("not the service's envelope")
        done.data = body if operation.unwrapped else body["data"]
        return done

    return read


def _require(name: str, value: str | None, variable: str) -> str:
    value = value or os.environ.get(variable)
    if not value:
        raise TypeError(f"{name} is missing: pass it, or set {variable}.")
    return value


def _to_text(value: Any) -> str:
    return json.dumps(value) if isinstance(value, bool) else str(value)


def _to_request(operation: Operation, fields: Mapping[str, Any]) -> tuple[str, str, bytes | None]:
    """The fields of a call as path, query and body. The field `from_` is sent as `from`."""
    method, pattern = operation.route.split(" ")
    rest = {**{name.rstrip("_"): value for name, value in fields.items()}, **operation.fixed}
    segments = []
    for segment in pattern.split("/"):
        if segment.startswith("{"):
            value = rest.pop(segment[1:-1], None)
            # An empty value would be another route.
            if not value and value != 0:
                raise TypeError(f"{segment[1:-1]} is required")
            segment = urllib.parse.quote(str(value), safe="")
        segments.append(segment)
    path = "/".join(segments)
    if method in ("POST", "PUT") and not operation.in_query:
        return method, path, json.dumps(rest).encode() if rest or method == "PUT" else None
    query = {name: _to_text(value) for name, value in rest.items() if value is not None}
    return method, f"{path}?{urllib.parse.urlencode(query)}" if query else path, None


def _get_money_when_lost(operation: Operation) -> str:
    if operation.repeat == "keyed":
        return "retry_same_key"
    # Without a key the service recognizes only a repeated search, for two minutes.
    return "repeat_search" if operation.paid else "nothing_charged"


def _create_error(what: str, like: MailproofError, money: str) -> MailproofError:
    fields = {name: value for name, value in vars(like).items() if name not in ("message", "money")}
    return MailproofError(f"{what} {_SENTENCES[money]}", money=money, **fields)


def _to_error(operation: Operation, cause: Exception, key: str | None) -> MailproofError | None:
    """None: a mistake in the calling code."""
    if isinstance(cause, urllib.error.HTTPError):
        return _to_refusal(operation, cause, key)
    money = _get_money_when_lost(operation)
    fields: dict[str, Any] = {"retryable": operation.repeat != "never", "idempotency_key": key}
    reason = cause.reason if isinstance(cause, urllib.error.URLError) else cause
    if isinstance(reason, (ConnectionRefusedError, socket.gaierror)):
        fields.update(money="nothing_charged", retryable=True)
        what, code = f"Could not connect to the service ({reason}).", "NETWORK"
    elif isinstance(reason, TimeoutError):
        what, code = "No response within the timeout.", "TIMEOUT"
    elif isinstance(reason, (OSError, http.client.HTTPException)):
        what, code = f"The service did not respond: {reason}.", "NETWORK"
    elif isinstance(reason, ValueError):
        what, code = "The response is not the service's.", "UNREADABLE"
    else:
        return None
    fields.setdefault("money", money)
    return MailproofError(f"{what} {_SENTENCES[fields['money']]}", code=code, **fields)


def _to_refusal(operation: Operation, cause: urllib.error.HTTPError, key: str | None) -> MailproofError:
    with cause:
        try:
            error = json.loads(cause.read())["error"]
            code, message, money = error["code"], error["message"], error["money"]
        except (ValueError, KeyError, TypeError, OSError, http.client.HTTPException):
            error = None
    fields: dict[str, Any] = {
        "status": cause.code,
        "idempotency_key": key,
        "request_id": cause.headers.get("x-request-id"),
        "retry_after": _parse_retry_after(cause.headers.get("retry-after")),
    }
    if error is not None:
        fields.update(details=error.get("details"), doc_url=error.get("doc_url"))
        # Without a key only a request that certainly did nothing may be sent again.
        harmless = operation.repeat != "never" or code == "RATE_LIMITED"
        harmless = harmless or (operation.paid and money in ("nothing_charged", "refunded"))
        retryable = bool(error.get("retryable")) and harmless
        return MailproofError(message, code=code, money=money, retryable=retryable, **fields)
    # A proxy responded in the service's place. Below 500 it rejected the request.
    limited = cause.code == 429
    inside = cause.code >= 500 or cause.code == 408
    money = _get_money_when_lost(operation) if inside else "nothing_charged"
    return MailproofError(
        f"The response with status {cause.code} is not the service's. {_SENTENCES[money]}",
        code="RATE_LIMITED" if limited else "UNREADABLE",
        money=money,
        retryable=limited or (inside and operation.repeat != "never"),
        **fields,
    )


def _parse_retry_after(header: str | None) -> float | None:
    """Seconds, from the service, or a date, which a gateway may send."""
    if not header:
        return None
    if header.isdigit():
        return float(header)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(header).timestamp() - time.time())
    except ValueError:
        return None


def _may_repeat(operation: Operation, error: MailproofError) -> bool:
    refused = error.status is not None and 400 <= error.status < 500
    return error.retryable or (operation.repeat == "keyed" and error.money == "retry_same_key" and not refused)


def _get_delay(tries: int, error: MailproofError) -> float | None:
    """Seconds before the next attempt. None: longer than the client waits."""
    backoff = random.random() * DELAYS_SECONDS[min(tries, len(DELAYS_SECONDS) - 1)]
    if error.retry_after is None:
        return backoff
    if error.retry_after > RETRY_AFTER_SECONDS_MAX:
        return None
    return max(backoff, error.retry_after + random.random() * JITTER_SECONDS)
