"""What the fixtures hand out: pools by profile, and one test's view of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from csandbox_pytest import options

try:
    import csandbox
except ImportError as error:  # another system, or a library of the core is missing
    _import_error: str | None = str(error)
else:
    _import_error = None

RESULTS = pytest.StashKey[list[Any]]()
POOLS = pytest.StashKey["Pools"]()
# A failure shows at most so many runs of its test.
KEPT = 20


class Pools:
    """The pools of one test session (of one xdist worker), made when a test needs them."""

    def __init__(self, config: pytest.Config) -> None:
        """Make none yet; skips or fails the test where csandbox cannot be imported."""
        if _import_error is not None:
            options.missing(config, _import_error)
        self.config = config
        self.limits = options.limits(config)
        self._pools: dict[Any, csandbox.Pool] = {}
        self._why: str | None = None
        config.stash[POOLS] = self

    def profile(self, given: Any = None) -> csandbox.Profile:
        """The profile that a test runs under: its marker's, or the options'."""
        chosen = given or options.value(self.config, "profile") or "compute"
        return chosen if isinstance(chosen, csandbox.Profile) else csandbox.Profile.load(chosen)

    def get(self, given: Any = None) -> csandbox.Pool:
        """The pool of a profile. Skips or fails the test where it cannot be had here."""
        if self._why is not None:
            options.missing(self.config, self._why)
        profile = self.profile(given)
        try:
            if profile not in self._pools:
                self._pools[profile] = csandbox.Pool(
                    profile,
                    workers=options.workers(self.config),
                    limits=self.limits or None,
                    allow_degraded=options.value(self.config, "allow_degraded"),
                )
        except csandbox.UnsupportedError as error:
            self._why = str(error)
            options.missing(self.config, self._why)
        return self._pools[profile]

    def close(self) -> None:
        """End them all, and keep none: frames of failed tests may outlive the session."""
        for pool in self._pools.values():
            pool.close()
        self._pools.clear()


class Sandbox:
    """One test's sandbox: the pool of its profile, with its marker's limits for every run."""

    def __init__(
        self, pools: Pools, profile: Any, limits: Mapping[str, Any], results: list[Any]
    ) -> None:
        """Bind; `results` collects what a failure will show."""
        self._pools = pools
        self.profile = pools.profile(profile)
        self.limits = dict(limits)
        self._results = results
        pools.get(self.profile)

    @property
    def pool(self) -> csandbox.Pool:
        """The pool that its runs are in."""
        return self._pools.get(self.profile)

    def _options(self, given: dict[str, Any]) -> dict[str, Any]:
        more = given.pop("limits", None) or {}
        named = more if isinstance(more, Mapping) else {
            name: value for name, value in vars(more).items() if value is not None
        }  # fmt: skip
        given["limits"] = {**self.limits, **named} or None
        return given

    def _keep(self, result: Any) -> None:
        self._results.append(result)
        del self._results[:-KEPT]

    def run(self, source: str | bytes, **given: Any) -> csandbox.Result:
        """As `csandbox.run`, under the test's profile and limits."""
        check = given.pop("check", False)
        result = self.pool.run(source, **self._options(given))
        self._keep(result)
        return result.check() if check else result

    def call(
        self,
        source: str | bytes,
        entry: str,
        args: Any = (),
        kwargs: Mapping[str, Any] | None = None,
        **given: Any,
    ) -> csandbox.CallResult:
        """As `csandbox.call`, under the test's profile and limits."""
        check = given.pop("check", False)
        result = self.pool.call(source, entry, args, kwargs, **self._options(given))
        self._keep(result)
        return result.check() if check else result  # type: ignore[return-value]

    def grade(
        self, source: str | bytes, tests: Iterable[Any], **given: Any
    ) -> csandbox.GradeReport:
        """As `csandbox.grade`, under the test's profile and limits; says by itself what failed."""
        words = self._options(given)
        words["limits"] = {**self._pools.limits, **(words["limits"] or {})} or None
        words.setdefault("feedback", "full")
        report = csandbox.grade(source, tests, pool=self.pool, **words)
        self._keep(report)
        return report

    def check(self, source: str | bytes, **given: Any) -> csandbox.Report:
        """As `csandbox.check`, under the test's profile."""
        return csandbox.check(source, profile=self.profile, **given)

    def session(self, **given: Any) -> csandbox.Session:
        """A session under the test's profile and limits. The caller closes it."""
        return self.pool.session(**self._options(given))

    def __repr__(self) -> str:
        """One line."""
        words = "".join(f" {name}={value}" for name, value in self.limits.items())
        return f"<csandbox sandbox: profile {self.profile.name}{words}>"


def marked(item: Any, name: str) -> tuple[Any, dict[str, Any]]:
    """Profile and other words of a test's markers; the nearest marker has the last word."""
    profile, words = None, {}
    for marker in reversed(list(item.iter_markers(name))):
        if marker.args:
            raise pytest.UsageError(
                f"@pytest.mark.{name} takes words, such as {name}(profile='minimal', cpu_s=1)"
            )
        words.update(marker.kwargs)
        profile = words.pop("profile", profile)
    return profile, words


def checked_limits(name: str, words: Mapping[str, Any]) -> dict[str, Any]:
    """Limits of a marker, or UsageError that names the wrong word."""
    try:
        csandbox.Limits.from_mapping(words)
    except (csandbox.ProfileError, TypeError, ValueError) as error:
        raise pytest.UsageError(f"@pytest.mark.{name}: {error}") from None
    return dict(words)


def sandbox_for(item: Any, pools: Pools) -> Sandbox:
    """The sandbox of one test."""
    profile, words = marked(item, "csandbox")
    results: list[Any] = []
    if isinstance(item, pytest.Item):
        results = item.stash.setdefault(RESULTS, [])
    return Sandbox(pools, profile, checked_limits("csandbox", words), results)
