"""Events into state; pure, the clock is an argument."""
