"""Calls every operation of the service with the examples of its OpenAPI document, through a client generated from it.

    calls.py DOCUMENT CLIENT_FOLDER ADDRESS ACCESS_TOKEN REFRESH_TOKEN

Each response must have status 200 and be parsed into the generated model without losing a field. Fails at the first call
that does not.
"""

import importlib
import inspect
import json
import re
import sys
from datetime import datetime
from pathlib import Path


def snake(name):
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|[^A-Za-z0-9]+", "_", name).lower()


def plain(parsed):
    """The JSON of a parsed response."""
    return [plain(entry) for entry in parsed] if isinstance(parsed, list) else parsed.to_dict()


def with_times(value):
    """The JSON with date-times as such, because the client writes them in another form."""
    if isinstance(value, dict):
        return {key: with_times(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [with_times(entry) for entry in value]
    if isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+00:00)", value):
        return datetime.fromisoformat(value.replace("Z", "+00:00"))
    return value


def main(document, folder, address, access, refresh):
    folder = Path(folder)
    sys.path.insert(0, str(folder.parent))
    package = folder.name
    client_class = importlib.import_module(package).AuthenticatedClient
    # An unexpected status is an error of the generated client.
    client = client_class(base_url=address, token=access, raise_on_unexpected_status=True)
    operations = [
        operation | {"method": method}
        for item in json.loads(Path(document).read_text(encoding="utf-8"))["paths"].values()
        for method, operation in item.items()
    ]
    for operation in operations:
        name = operation["operationId"]
        module = importlib.import_module(f"{package}.api.{snake(operation['tags'][0])}.{snake(name)}")
        arguments = {
            snake(parameter["name"]): parameter["example"]
            for parameter in operation.get("parameters", [])
            if parameter["in"] == "path"
        }
        if "requestBody" in operation:
            example = operation["requestBody"]["content"]["application/json"]["example"]
            if name == "refreshToken":
                example = {"refresh": refresh}
            model = inspect.signature(module.sync_detailed).parameters["body"].annotation
            if not inspect.isclass(model):
                # `Model | Unset`, where the body is optional.
                model = next(part for part in model.__args__ if hasattr(part, "from_dict"))
            arguments["body"] = model.from_dict(example)
        response = module.sync_detailed(client=client, **arguments)
        assert response.status_code == 200, f"{name}: {response.status_code} {response.content}"
        raw = json.loads(response.content)
        parsed = plain(response.parsed)
        assert with_times(parsed) == with_times(raw), f"{name}: {str(parsed)[:2000]} is not {str(raw)[:2000]}"
        assert not isinstance(raw, dict) or raw.get("ok", True), f"{name}: {raw}"
        print(f"{operation['method'].upper():4} {name}")
    print(f"{len(operations)} operations called with the examples of the document")


if __name__ == "__main__":
    main(*sys.argv[1:])
