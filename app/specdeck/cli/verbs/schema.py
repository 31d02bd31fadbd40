"""`specdeck schema`: JSON schema of the YAML files, for editors."""

import json

import click


@click.command("schema")
@click.argument("name", type=click.Choice(["fleet", "profile", "theme", "config"]), default="fleet")
def command(name: str) -> None:
    """Print the JSON schema of a fleet (the default), profile, theme or config file.

    \b
    specdeck schema fleet > fleet.schema.json
    and as the first line of fleet.yaml:
    # yaml-language-server: $schema=fleet.schema.json
    """
    from specdeck.config.json_schema import json_schema

    click.echo(json.dumps(json_schema(name), indent=2, ensure_ascii=False))
