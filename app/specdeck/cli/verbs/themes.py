"""`specdeck themes`: which colour themes there are and where each comes from."""

import click

from specdeck.cli.options import options_of
from specdeck.cli.output import print_json, print_table


@click.command("themes")
@click.option("--json", "as_json", is_flag=True, help="One JSON object.")
@click.pass_context
def command(ctx: click.Context, as_json: bool) -> None:
    """List the colour themes; put your own in ~/.config/specdeck/themes."""
    from specdeck.config.fleet import find_fleet
    from specdeck.config.theme import load_themes

    themes = load_themes(find_fleet(options_of(ctx).fleet_path)).values()
    if as_json:
        print_json({"themes": [{"name": t.name, "dark": t.is_dark, "source": str(t.source)} for t in themes]})
    else:
        rows = [(theme.name, "dark" if theme.is_dark else "light", str(theme.source)) for theme in themes]
        print_table(("THEME", "KIND", "FROM"), rows)
