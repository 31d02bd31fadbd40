"""Which births are told, and from which pid on is asked next."""

from specdeck.services.answers import Answers
from specdeck.services.births import Births


def test_the_first_look_asks_for_nobody_and_learns_where_to_begin() -> None:
    births = Births()
    assert (
        births.question()
        == "born 0 500 sglang launch_server vllm llama-server text-generation-launcher trtllm-serve ollama"
    )
    assert not births.take(Answers(newest_pid=700), 10.0)
    assert births.question().startswith("born 700 500 ")


def test_a_process_is_looked_at_for_a_second_and_more_and_told_once() -> None:
    births = Births()
    births.take(Answers(newest_pid=700), 10.0)
    births.take(Answers(newest_pid=710), 10.2)  # a hurried tick: 710 may not have run its command yet
    assert births.question().startswith("born 700 ")
    assert births.take(Answers(newest_pid=710, born=(705,)), 11.3)
    assert births.question().startswith("born 700 ")
    assert not births.take(Answers(newest_pid=720, born=(705,)), 12.4)
    assert births.question().startswith("born 710 ")


def test_where_the_numbers_begin_again_so_does_it() -> None:
    births = Births()
    births.take(Answers(newest_pid=32700), 10.0)
    births.take(Answers(newest_pid=310), 12.0)
    assert births.question().startswith("born 310 ")


def test_a_host_that_does_not_tell_has_none() -> None:
    assert not Births().take(Answers(), 10.0)
