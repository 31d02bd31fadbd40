"""The tables of config/schema.py as JSON schema, for editors with a YAML language server."""

from typing import Any

from specdeck.config import schema

_SCALARS = [{"type": "string"}, {"type": "number"}]


def json_schema(name: str) -> dict[str, Any]:
    """The JSON schema of a `fleet`, `profile` or `theme` file."""
    head = {"$schema": "http://json-schema.org/draft-07/schema#", "title": f"specdeck {name}"}
    return head | _of(schema.FILES[name])


def _of(kind: schema.Kind) -> dict[str, Any]:
    match kind:
        case schema.Text(choices=(_, *_) as choices):
            return {"enum": list(choices)}
        case schema.Text():
            return {"type": "string"} | ({"pattern": f"^(?:{kind.pattern})$"} if kind.pattern else {})
        case schema.Whole():
            return {"type": "integer", "minimum": kind.least, "maximum": kind.most}
        case schema.Number():
            return {"type": "number", "minimum": kind.least}
        case schema.Flag():
            return {"type": "boolean"}
        case schema.EnvText():
            return {"anyOf": _SCALARS}
        case schema.Argument():
            return {
                "anyOf": [
                    *_SCALARS,
                    {"type": "boolean"},
                    {"type": "null"},
                    {"type": "array", "items": {"anyOf": _SCALARS}},
                ]
            }
        case schema.ListOf():
            return {"anyOf": [{"type": "array", "items": _of(kind.item)}, _of(kind.item), {"type": "null"}]}
        case schema.MapOf():
            names = {"pattern": f"^(?:{kind.key.pattern})$"}
            return {"type": ["object", "null"], "propertyNames": names, "additionalProperties": _of(kind.value)}
        case schema.Table():
            return _of_table(kind)


def _of_table(table: schema.Table) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": {name: _of(key.kind) | {"description": key.describe} for name, key in table.keys.items()},
        "required": [name for name, key in table.keys.items() if key.is_required],
        "additionalProperties": False,
        **({"patternProperties": {"^x-": {}}} if table.takes_extensions else {}),
    }
