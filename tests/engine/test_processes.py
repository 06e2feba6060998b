"""Worker processes: results in order, whatever becomes of the workers, and none left behind."""

from __future__ import annotations

import math
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from manetdiff.engine import LocalEngine, Pace, Processes, failure_text, opened_engine
from manetdiff.errors import EngineError, FleetError
from support.engine_tasks import die_always, die_once, fail, fail_or_die, hard_to_send, nap, own_number, threads


@pytest.fixture(scope="module")
def processes() -> Iterator[Processes]:
    with Processes(3) as made:
        yield made


@given(st.lists(st.floats(0.0, 1e6), max_size=30))
def test_results_are_in_the_order_of_the_tasks(tasks: list[float]) -> None:
    assert list(LocalEngine(1).in_order(math.sqrt, tasks)) == [math.sqrt(one) for one in tasks]


def test_workers_share_the_work_and_slow_tasks_do_not_change_the_order(processes: Processes) -> None:
    naps = [0.1, 0.0, 0.05, 0.0, 0.0, 0.02] * 2
    results = list(processes.in_order(nap, naps))
    assert [slept for slept, _ in results] == naps
    assert len({number for _, number in results}) == 3
    again = list(processes.in_order(own_number, range(9)))
    assert set(again) <= {number for _, number in results}  # the same processes


def test_what_a_task_raises_is_raised_here_with_where_it_was(processes: Processes) -> None:
    results = processes.in_order(fail, ["fine", "bad", "fine"])
    assert next(results) == "fine"
    with pytest.raises(FleetError, match="bad") as raised:
        next(results)
    assert any("engine_tasks" in note for note in raised.value.__notes__)
    assert list(processes.in_order(math.sqrt, [4.0])) == [2.0]


def test_errors_and_results_that_cannot_be_sent_are_outcomes_too(processes: Processes) -> None:
    before = set(processes.in_order(own_number, range(9)))
    outcomes = list(processes.outcomes(hard_to_send, ["error", "fine", "result", "fine"]))
    assert [outcome.result for outcome in outcomes] == [None, "fine", None, "fine"]
    assert [isinstance(outcome.error, Exception) for outcome in outcomes] == [True, False, True, False]
    assert "TwoWordsError: no way" in str(outcomes[0].error)
    assert "pickle" in str(outcomes[2].error)
    assert set(processes.in_order(own_number, range(9))) <= before  # no worker was lost by it


def test_workers_at_a_call_refuse_another_until_its_results_are_taken_or_given_up(processes: Processes) -> None:
    first = processes.in_order(math.sqrt, [4.0, 9.0])
    assert next(first) == 2.0
    with pytest.raises(EngineError, match="another call"):
        next(processes.in_order(math.sqrt, [16.0]))
    assert next(first) == 3.0
    first.close()
    assert list(processes.in_order(math.sqrt, [16.0])) == [4.0]


def test_a_task_that_fails_or_kills_every_worker_ends_no_other(processes: Processes) -> None:
    outcomes = list(processes.outcomes(fail_or_die, ["fine", "bad", "deadly", "fine"]))
    assert [outcome.result for outcome in outcomes] == ["fine", None, None, "fine"]
    assert isinstance(outcomes[1].error, FleetError)
    assert isinstance(outcomes[2].error, EngineError)
    assert "died at the same task" in failure_text(outcomes[2].error)
    here = list(LocalEngine().outcomes(fail, ["bad", "fine"]))
    assert [outcome.result for outcome in here] == [None, "fine"]


def test_an_error_in_a_line_says_its_kind_unless_it_is_of_ours() -> None:
    assert failure_text(FleetError("too few\nnodes")) == r"too few\nnodes"
    assert failure_text(KeyError("x")) == "KeyError: 'x'"
    assert failure_text(MemoryError()) == "MemoryError"


def test_workers_stay_for_the_next_call_inside_a_with() -> None:
    with LocalEngine(2) as engine:
        first = set(engine.in_order(own_number, range(9)))
        assert set(engine.in_order(own_number, range(9))) <= first
    assert not any(psutil.pid_exists(number) for number in first)


def test_each_worker_is_one_core_whatever_is_asked_for_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    with Processes(1) as processes:
        (found,) = processes.in_order(threads, [0])
    assert found.pop("added") == 0
    assert set(found.values()) == {1}


def test_tasks_are_taken_as_they_are_needed(processes: Processes) -> None:
    taken = []

    def tasks() -> Iterator[float]:
        for number in range(10_000):
            taken.append(number)
            yield float(number)

    results = processes.in_order(math.sqrt, tasks())
    assert next(results) == 0.0
    results.close()
    assert len(taken) < 100
    assert list(processes.in_order(math.sqrt, [9.0])) == [3.0]  # and nothing of before is left over


def test_a_worker_that_dies_costs_time_and_nothing_else(tmp_path: Path) -> None:
    with Processes(2) as processes:
        tasks = [(str(tmp_path), number) for number in range(6)]
        assert list(processes.in_order(die_once, tasks)) == list(range(6))
        assert len(list(tmp_path.iterdir())) == 6  # each of them killed its worker once


def test_a_task_that_kills_every_worker_is_given_up() -> None:
    with Processes(2) as processes, pytest.raises(EngineError, match="died at the same task"):
        list(processes.in_order(die_always, [1]))


def test_no_process_is_left_behind() -> None:
    processes = Processes(2)
    numbers = set(processes.in_order(own_number, range(20)))
    assert all(psutil.pid_exists(number) for number in numbers)
    processes.close()
    assert not any(psutil.pid_exists(number) for number in numbers)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are POSIX's")
def test_a_script_needs_no_guard_and_may_be_killed(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "from manetdiff.engine import LocalEngine\n"
        "from support.engine_tasks import nap\n"
        "for slept, number in LocalEngine(2).in_order(nap, [0.0] * 4 + [60.0] * 2):\n"
        "    print(number, flush=True)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True, env=environment) as process:
        assert process.stdout is not None
        numbers = {int(process.stdout.readline()) for _ in range(4)}
        process.send_signal(signal.SIGKILL)
    for _ in range(100):
        if not any(psutil.pid_exists(number) for number in numbers):
            return
        time.sleep(0.1)
    raise AssertionError("a worker is still there")


def test_engines_by_name() -> None:
    assert opened_engine("local", 3).workers == 3
    with pytest.raises(EngineError, match="local, ray"):
        opened_engine("slurm", 1)
    with pytest.raises(EngineError, match="--engine ray"):
        opened_engine("local", 1, "auto")


def test_the_time_left_follows_from_the_rate_of_late() -> None:
    now = 0.0
    pace = Pace(lambda: now)
    pace.saw(100)  # by an earlier run
    assert pace.seconds_left(200) is None
    now = 10.0
    pace.saw(120)
    assert (pace.rate, pace.seconds_left(200)) == (2.0, 40.0)
    for _ in range(60):
        now += 10.0
        pace.saw(121)
    assert pace.rate == 0.0
    now += 10.0
    pace.saw(151)
    assert pace.rate == pytest.approx(30 / 120, rel=0.1)
