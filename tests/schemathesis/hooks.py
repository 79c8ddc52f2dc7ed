"""The one rule that JSON Schema can't say: a number has at most 28 decimals.

Generated numbers such as 1e-67 are within the schema and rightly refused; here they become 0, so that the check that
all valid input is accepted can stay on.
"""

import schemathesis


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
