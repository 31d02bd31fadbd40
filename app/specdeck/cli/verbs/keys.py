"""`specdeck keys`: every key of the dashboard with the name of its command, as config.yaml changes it."""

import click

from specdeck.cli.output import print_json, print_table, say
from specdeck.errors import ExitCode


@click.command("keys")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
def command(as_json: bool) -> ExitCode:
    """List the keys of the dashboard, yours where config.yaml changes them.

    \b
    keys:                      in ~/.config/specdeck/config.yaml
      relaunch: ctrl+r
      stop: [K, f9]
    """
    from specdeck.config.problems import Problems
    from specdeck.config.settings import read_settings
    from specdeck.ui.commands import COMMANDS, WHERE
    from specdeck.ui.keymap import keymap_of, keys_of, label_of

    keymap, problems = keymap_of(read_settings(found := Problems()).keys)
    if as_json:
        print_json({"keys": [{"name": c.id, "keys": list(keys_of(c, keymap)), "does": c.tooltip} for c in COMMANDS]})
    else:
        rows = [(c.id, label_of(c, keymap), f"{c.tooltip}{WHERE[c.places]}") for c in COMMANDS]
        print_table(("NAME", "KEYS", "DOES"), rows)
    for problem in [*map(str, found.found), *problems]:
        say(problem)
    return ExitCode.USAGE if found.found or problems else ExitCode.FINE
