"""A POSIX script that goes on in the environment of the user's login shell, whatever shell that is."""

SCRIPT_VARIABLE = "SPECDECK_SCRIPT"
_KNOWN = "bash | zsh | ksh | mksh | dash | ash | sh | fish"


def exec_in_login_shell(script: str) -> str:
    """Lines that replace the shell: the login shell reads its profile, then `sh` the file that the shell word `script` names.

    The name travels in a variable, since every shell quotes otherwise. csh takes `-l` with nothing else: `sh -l` stands in for it.
    """
    return (
        f"export {SCRIPT_VARIABLE}={script}\n"
        f"case ${{SHELL##*/}} in {_KNOWN}) ;; *) SHELL=/bin/sh ;; esac\n"
        f'exec "$SHELL" -l -c \'exec sh "${SCRIPT_VARIABLE}"\'\n'
    )


def once_in_login_shell() -> str:
    """The first lines of a script that starts itself again there, and goes on the second time."""
    again = exec_in_login_shell('"$0"')
    return f'if [ "${{{SCRIPT_VARIABLE}-}}" != "$0" ]; then\n{again}fi\nunset {SCRIPT_VARIABLE}\n'
