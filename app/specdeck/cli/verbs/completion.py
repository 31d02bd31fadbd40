"""`specdeck completion SHELL`: the script that makes a shell complete verbs and options."""

import click
from click.shell_completion import get_completion_class


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    bash   eval "$(specdeck completion bash)"          in ~/.bashrc
    zsh    eval "$(specdeck completion zsh)"           in ~/.zshrc
    fish   specdeck completion fish > ~/.config/fish/completions/specdeck.fish
    """
    found = get_completion_class(shell)
    assert found is not None  # noqa: S101 - the choices are click's own
    click.echo(found(ctx.find_root().command, {}, "specdeck", "_SPECDECK_COMPLETE").source())
