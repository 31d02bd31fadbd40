"""Numbers on the command line; click's own call them `float range` when they are wrong."""

import click


class Number(click.FloatRange):
    """`'x' is not a valid number.`"""

    name = "number"


class WholeNumber(click.IntRange):
    """`'x' is not a valid whole number.`"""

    name = "whole number"
