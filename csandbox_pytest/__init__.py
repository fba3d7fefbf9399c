"""The pytest plugin of csandbox: fixtures, markers, options, reports.

This module is loaded by every run of pytest beside which csandbox is installed, so it must cost
such a run nothing: neither csandbox nor its C core is imported before a test asks for them. That is
why it is no part of the package ``csandbox``, whose import would come first.

=================== ==============================================================================
``sandbox``         `Sandbox`: ``run``, ``call``, ``grade`` under the options and the test's marker
``sandbox_session`` a `csandbox.Session`: state from cell to cell
``csandbox_pool``   the `csandbox.Pool` of the test session, for fixtures of a wider scope
``submission``      one test for each file of ``--csandbox-submissions``: a `Submission`
``csandbox`` mark   profile and limits for one test: ``csandbox(profile="minimal", cpu_s=1)``
``confined`` mark   the test function itself runs inside the sandbox; takes the same words
=================== ==============================================================================
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import pytest

from csandbox_pytest.options import MARKERS, add_options

if TYPE_CHECKING:
    import csandbox
    from csandbox_pytest.pools import Pools, Sandbox
    from csandbox_pytest.submissions import Submission


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options, on the command line and in the ini file."""
    add_options(parser)


def pytest_configure(config: pytest.Config) -> None:
    """The markers, so that --strict-markers knows them."""
    for line in MARKERS:
        config.addinivalue_line("markers", line)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """One test for each submission."""
    if "submission" in metafunc.fixturenames:
        from csandbox_pytest.submissions import parametrize

        parametrize(metafunc, submission)


@pytest.fixture(scope="session")
def _csandbox_pools(request: pytest.FixtureRequest) -> Iterator[Pools]:
    from csandbox_pytest.pools import Pools

    pools = Pools(request.config)
    yield pools
    pools.close()


@pytest.fixture(scope="session")
def csandbox_pool(_csandbox_pools: Pools) -> csandbox.Pool:
    """The pool of the test session, with the profile and the limits of the options."""
    return _csandbox_pools.get()


@pytest.fixture
def sandbox(request: pytest.FixtureRequest, _csandbox_pools: Pools) -> Sandbox:
    """Run, call and grade code in the pool of the test session."""
    from csandbox_pytest.pools import sandbox_for

    return sandbox_for(request.node, _csandbox_pools)


@pytest.fixture
def sandbox_session(sandbox: Sandbox) -> Iterator[csandbox.Session]:
    """A confined interpreter that keeps its state from cell to cell, for one test."""
    with sandbox.session() as session:
        yield session


@pytest.fixture
def submission(request: pytest.FixtureRequest, sandbox: Sandbox) -> Submission:
    """One file of --csandbox-submissions."""
    from csandbox_pytest.submissions import one

    return one(request, sandbox)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that is marked `confined` runs inside."""
    if pyfuncitem.get_closest_marker("confined") is None:
        return None
    from csandbox_pytest.confined import run_confined

    run_confined(pyfuncitem)
    return True


def pytest_runtest_setup(item: pytest.Item) -> None:
    """A confined test needs the pools without asking for them."""
    if item.get_closest_marker("confined") is not None:
        from csandbox_pytest.confined import prepare

        prepare(item)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Any:
    """What the sandbox saw, below a failure."""
    report = yield
    if report.when == "call" and report.failed and "csandbox._result" in sys.modules:
        from csandbox_pytest.report import add_sections

        add_sections(item, call, report)
    return report


def pytest_assertrepr_compare(op: str, left: object, right: object) -> list[str] | None:
    """How two results differ, and what was meant when a result is compared with a word."""
    if "csandbox._result" not in sys.modules:
        return None
    from csandbox_pytest.report import explain_comparison

    return explain_comparison(op, left, right)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """Say loudly what was skipped because nothing can be confined here."""
    from csandbox_pytest.options import MISSING

    stats = terminalreporter.stats
    skipped = [r for r in stats.get("skipped", ()) if MISSING in str(r.longrepr)]
    weak = [
        report
        for report in stats.get("passed", ())
        if ("csandbox_trust", "weak") in getattr(report, "user_properties", ())
    ]
    if skipped:
        terminalreporter.section("csandbox: NOT TESTED", sep="=", red=True, bold=True)
        terminalreporter.write_line(
            f"{len(skipped)} tests were skipped: this machine cannot confine code. "
            "`csandbox doctor` says what is missing; --csandbox-missing=fail makes them fail."
        )
    if weak:
        terminalreporter.write_line(
            f"csandbox: {len(weak)} confined tests passed by their own word (trust: weak)"
        )
