"""Adapts generated requests to rules that JSON Schema cannot express: numbers have at most 28 decimals, and each request has an
idempotency key of its own.

The service rejects numbers such as 1e-67 although they match the schema. Replacing them with 0 keeps the check that all
valid input is accepted.
"""

import re
from uuid import uuid4

import schemathesis

KEY = re.compile(r'[!#-\[\]-~]{1,255}|"[!#-\[\]-~]{1,253}"')


def shortened(value):
    if isinstance(value, float) and abs(value) < 1e-9:
        return 0
    if isinstance(value, dict):
        return {key: shortened(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [shortened(entry) for entry in value]
    return value


@schemathesis.hook
def map_body(context, body):
    return shortened(body)


@schemathesis.hook
def before_call(context, case, kwargs):
    # Not map_headers: it does not see the cases of the coverage phase, which send one key with different bodies. Bad cases
    # stay as they are, because a change lets them count as good ones.
    if case.meta is None or case.meta.generation.mode.is_negative:
        return
    for name, value in dict(case.headers or {}).items():
        if name.lower() == "idempotency-key" and KEY.fullmatch(str(value)):
            case.headers[name] = uuid4().hex
