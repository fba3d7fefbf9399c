"""The C extension behind csandbox. Private: the public names are in ``csandbox``.

Everything here takes and returns plain data; ``csandbox/*.py`` turns it into typed, frozen
objects. Every function may be called from any thread. The GIL is released while C parses, waits
or confines.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypedDict, final

from typing_extensions import Self

class RuleInfo(TypedDict):
    code: str  # "CSB101"
    name: str  # "import-not-allowed"
    summary: str  # one sentence
    severity: str  # "error" | "advice"
    family: str  # "integrity" | "imports" | "traversal" | "builtins" | "advice"
    selectable: bool  # False for integrity rules

class DiagnosticData(TypedDict):
    code: str
    name: str
    severity: str  # "error" blocks, "advice" and "observed" do not
    message: str  # one sentence, no trailing period; hostile text already escaped
    label: str  # short text behind the caret, may be ""
    help: str  # what to do instead, may be ""
    note: str  # may be ""
    line: int  # 1-based; 0 = the whole source
    column: int  # 1-based, in characters
    end_line: int
    end_column: int  # exclusive
    start_byte: int  # offsets into the normalised text
    end_byte: int
    # Another place that explains this one ("imported here"); label "" and line 0: there is none.
    second_label: str
    second_line: int
    second_column: int
    second_start_byte: int
    second_end_byte: int

class CheckData(TypedDict):
    ok: bool  # no diagnostic of severity "error"
    diagnostics: list[DiagnosticData]
    # What must be compiled: UTF-8 without BOM, CR and CRLF turned into LF; b"" if undecodable.
    source: bytes
    suppressed: dict[str, int]  # findings beyond the per-rule cap, by code
    checked: object  # the same findings in C, for the second opinion of runs

class Guard:
    """One validated, immutable rule configuration (of a profile)."""

    def __init__(self, config: Mapping[str, Any], /) -> None:
        """Build the configuration.

        Keys, all required: ``profile`` (str, its name, for messages), ``select`` and ``ignore``
        (sequences of code prefixes), ``mode`` (dict family -> "enforce" | "observe"),
        ``imports_allow`` and ``imports_deny`` (sequences of dotted names; a name covers its
        submodules, the longest match wins, and what matches nothing is refused),
        ``max_source_bytes``, ``max_nodes``, ``max_depth``, ``max_findings_per_rule`` (ints > 0),
        ``max_time_ms`` (int > 0), ``builtins_allow`` (sequence of builtin names that the CSB3xx
        rules let through, for example ("open",)), ``attributes_allow`` (sequence of dunder
        names that the CSB2xx rules let through), ``import_help`` (dict dotted name -> help
        sentence). Raises ValueError that names the key.
        """

def check(guard: Guard, source: bytes, filename: str, /) -> CheckData: ...
def render(
    guard: Guard | None,
    diagnostics: Sequence[DiagnosticData],
    source: bytes,
    filename: str,
    color: bool,
    /,
) -> str:
    """rustc-shaped text of the findings.

    `source` is the normalised text, or the raw bytes when they are undecodable.
    """

def rules() -> list[RuleInfo]: ...
def view(source: bytes, /) -> dict[str, list[str]]:
    """What the guard's walk sees of a source, in the order of the source; for tests.

    ``imports`` ("a.b", "a.b.name" for a name of a from-import, "*"), ``attributes``, ``calls``
    (the name or attribute that is called), ``names`` (variables that are read), ``strings`` (values
    of literals, bytes as Latin-1), ``prefixes`` (values with an escape that the decoder does not
    know, as U+FFFD).
    """

def compare(checked: object, facts: bytes, /) -> list[DiagnosticData]:
    """Findings after the second opinion on packed facts (ext/facts.h); for tests.

    Only for a `checked` that nothing blocks, or only CSB001 and CSB010.
    """

class Policy:
    """Everything about a confinement that is the same for each run: compiled once, immutable."""

    def __init__(self, spec: Mapping[str, Any], /) -> None:
        """Compile a confinement.

        Keys, all required unless said:
        ``profile`` str; ``python`` str (absolute, resolved path of the interpreter);
        ``child_module`` str (path of the ``_child`` extension); ``module_path`` sequence of str
        (the child's ``sys.path``); ``read`` sequence of paths readable below (files or folders);
        ``list`` sequence of folders that may be listed, not read; ``execute`` sequence of files
        that exec may start (interpreter, dynamic loader); ``scratch`` "rw" | "ro";
        ``syscalls`` sequence of set names; ``on_denied`` "errno" | "kill";
        ``env`` mapping str -> str; ``require`` sequence of feature names, ``degrade`` sequence of
        feature names that may be missing;
        ``namespaces`` and ``cgroup`` "off" | "auto";
        ``uid`` int (the unprivileged uid and gid used when started as root);
        ``scratch_base`` str (folder in which private scratch folders are made).
        Raises ValueError (names the key), UnsupportedError, SetupError.
        """
    @property
    def syscall_names(self) -> list[str]: ...
    @property
    def cleaned(self) -> tuple[str, bool]:
        """What a janitor cleans: the folder of scratch folders, whether there are cgroups."""

@final
class Janitor:
    """A process that removes scratch folders and control groups when this one was killed."""

    def __new__(cls, policy: Policy, program: str, /) -> Self:
        """Start `program` (``_janitor``) for the policy's folders. Raises SetupError.

        It is stopped with the object. In a forked copy of the process nothing is.
        """
    def leave(self) -> None:
        """Let it outlive the object: it waits for the end of this process, then cleans."""
    @property
    def pid(self) -> int: ...

class RunData(TypedDict):
    verdict: str
    limit_hit: str | None
    exit_code: int | None
    signal: int | None
    stdout: bytes
    stderr: bytes
    stdout_total_bytes: int
    stderr_total_bytes: int
    cpu_s: float
    wall_s: float
    startup_s: float
    peak_memory_bytes: int
    isolation: dict[str, str]  # feature -> "enforced" | "off" | "degraded: why"
    # {"syscall": str, "count": int} and, where one argument tells what was meant, that argument's
    # class by its name: {"syscall": "socket", "domain": "AF_INET", "count": 3}
    violations: list[dict[str, Any]]
    error: str | None  # only with internal_error
    files: dict[str, bytes]  # what `collect` took out of the scratch folder
    files_skipped: dict[str, str]  # what matched and was not taken: name -> why
    # What the child answered to ``calls``, in order: {"bytes": bytes, "cpu_s": float,
    # "wall_s": float}, with the times of the run when the reply came
    replies: list[dict[str, Any]]
    diagnostics: list[DiagnosticData] | None  # after the second opinion; None: it was not asked

def run(policy: Policy, request: Mapping[str, Any], /) -> RunData:
    """Run one already checked source in a fresh child.

    Request keys, required unless said: ``source`` bytes (normalised UTF-8), ``filename`` str,
    ``args`` sequence of str, ``stdin`` bytes, ``env`` mapping str -> str (added to the policy's),
    ``files`` sequence of (str, bytes), ``collect`` sequence of patterns (ext/pattern.h; may be left
    out), ``limits`` mapping with ``cpu_s`` ``wall_s`` ``startup_s`` (float), ``memory_bytes``
    ``output_bytes`` ``file_bytes`` ``disk_bytes`` ``files`` ``open_files`` ``threads``
    ``stack_bytes`` (int), ``checked``: what ``check`` gave with this source (one may serve many
    runs), or None for no second opinion, ``confirm_only`` bool: ask for it and execute nothing.
    With ``calls`` (sequence of bytes, ext/child_call.h) the child is asked, each time when the
    reply before has come, and ended after the last; then ``prelude`` str (code whose ``answer()``
    is asked instead, usually ""), ``reply_bytes`` int, ``session`` and ``cell`` bool (both False)
    are needed too.
    Raises UnsupportedError (a required layer is missing), SetupError (nothing was run),
    ValueError, KeyboardInterrupt.
    """

class PoolStats(TypedDict):
    runs: int
    waiting: int  # callers, now
    running: int  # now
    ready: int  # spares, now
    spares_hit: int  # runs that found a spare at once
    spares_missed: int
    renewals: int  # zygotes after the first
    failures: int  # spares or zygotes that did not come to be
    zygote_resident_bytes: int
    zygote_pid: int  # -1: none now
    p50_s: float  # of the last runs, waiting included
    p99_s: float

class Pool:
    """A zygote of one policy, its spare children, and the threads that look after them."""

    def __new__(cls, policy: Policy, spec: Mapping[str, Any], /) -> Self:
        """Start it.

        Keys, all required: ``workers`` and ``spares`` (1 to 4096), ``processors`` (int, those that
        may be used), ``renew_runs`` (int > 0), ``renew_s`` and ``startup_s`` (float), ``preload``
        (sequence of modules that the zygote imports). Raises ValueError, UnsupportedError,
        SetupError.
        """
    def run(self, request: Mapping[str, Any], /) -> RunData:
        """As `_core.run`, in a spare child. Raises what it raises; ValueError when closed."""
    def head_start(self, request: Mapping[str, Any], /) -> HeadStart | None:
        """Let a spare read and compile a source that is not checked yet; ``checked`` is None.

        None where another run wants the spare or the processor, or where it cannot be begun.
        """
    def submit(
        self, request: Mapping[str, Any], mailbox: Mailbox, token: object, streams: bool, /
    ) -> Job:
        """Begin a run that nobody waits for; its news arrive in `mailbox` with `token`.

        With `streams` its output arrives as it is written, too. Raises ValueError, SetupError.
        """
    def submit_session(
        self, request: Mapping[str, Any], mailbox: Mailbox, token: object, /
    ) -> tuple[Session, Job]:
        """As `open_session`: the session is busy until its end, "done", RunData, was taken.

        Then it lives, or has ended. Raises as `submit`.
        """
    def submit_branch(
        self,
        session: Session,
        request: Mapping[str, Any],
        mailbox: Mailbox,
        token: object,
        /,
    ) -> Job:
        """The one call of `request` in a branch of this pool's `session`, which is busy meanwhile.

        It is forked for it and dead when the end arrives: "done", RunData, or "refused", (errno,
        why there is no branch). Raises as `submit`, and ValueError when busy or ended.
        """
    def open_session(
        self, request: Mapping[str, Any], /
    ) -> tuple[Session, RunData] | tuple[None, RunData]:
        """A child that is asked by `Session.exchange`; None when it ended, and how."""
    def stats(self) -> PoolStats: ...
    def wait_ready(self, seconds: float, /) -> bool:
        """Wait for all spares, and for what earlier runs left to be cleared, so long at most;
        whether at least one spare is ready.
        """
    def close(self, kill: bool = False, /) -> None:
        """End it, after the runs that are on (or, with `kill`, with them). Repeatable."""
    def abandon(self) -> None:
        """In a forked copy of the process: give back descriptors, and touch nothing else."""

class HeadStart:
    """A run that has not begun to execute. Ends with one of these, or with the object."""

    def complete(self, request: Mapping[str, Any], /) -> RunData:
        """As `Pool.run` from here on; of the request only ``checked`` may have changed."""
    def drop(self) -> None:
        """Kill the child; nothing of its source was executed."""

class Mailbox:
    """Where the news of jobs arrive. Jobs keep it alive."""

    def __new__(cls) -> Self: ...
    def fileno(self) -> int:
        """A descriptor, the mailbox's own, that is readable while there is news."""
    def take(self, seconds: float, /) -> list[tuple[Any, str, Any]]:
        """What has arrived, in order; waits so long at most.

        Each is the token of its job, a kind and what belongs to it: "output", (1 or 2, bytes) as
        it was written; once, at the end, "done", RunData, or "error", the exception that `run`
        would have raised.
        """

@final
class Job:
    """A run that was submitted; made by `Pool.submit`."""

    def cancel(self) -> None:
        """End it soon. Its end still arrives; harmless when it has ended."""

@final
class Session:
    """A child that keeps its state; made by `Pool.open_session`."""

    def exchange(
        self,
        request: Mapping[str, Any],
        tap: Callable[[int, bytes], object] | None = None,
        ask: Callable[[bytes], bytes | None] | None = None,
        /,
    ) -> RunData:
        """Send the one call of `request` and wait for its reply.

        `tap` is told of output as it comes: stream (1 or 2), bytes. `ask` answers what the child
        asks meanwhile (_ask.py says what that is), None: it has no answer; the child stands still
        until it returns, and that time is not counted. What they raise goes to
        ``sys.unraisablehook``. Waits while another session of its family (`fork`) runs. Raises
        ValueError when busy or ended, BlockingIOError when this thread runs another of the family
        or it is closed while it waits, KeyboardInterrupt.
        """
    def fork(
        self, request: Mapping[str, Any], /
    ) -> tuple[Session, None] | tuple[None, tuple[int, str]]:
        """A branch with the same state, or an errno and why there is none (EBUSY: its state).

        Of `request` only ``limits`` count. Waits for other sessions of the family. Raises
        ValueError when busy or ended.
        """
    def interrupt(self) -> bool:
        """SIGINT to the child; False when it has ended. From any thread."""
    def close(self) -> None:
        """Kill the child, or let a running exchange end by it. From any thread; repeatable."""
    @property
    def alive(self) -> bool: ...
    @property
    def pid(self) -> int:
        """Of the child; -1 when it has ended."""

class ValueLimits(TypedDict):
    bytes: int  # of the whole encoding
    items: int  # in all containers together; a pair of a dict is two
    depth: int  # containers in one another, at most 1000
    int_digits: int  # decimal digits of one int beyond 64 bits, to within the last one

def encode(value: object, limits: ValueLimits, /) -> bytes:
    """Plain data of exact types as CBOR (the format is in ext/value_format.h).

    Raises TypeError for what is no plain data, a subclass included, and ValueError for what passes
    a limit or contains itself; both begin with the place, as in ``at $.groups[0]: …``. Calls no
    code of the objects.
    """

def decode(data: bytes, limits: ValueLimits, /) -> Any:
    """What ``encode`` made, as new objects. `data` may be anybody's.

    Raises ValueError that says which byte is wrong and why. Bounded before anything is allocated;
    keys that were chosen to collide in a dict or set are refused too.
    """

def open_reply(data: bytes, limits: ValueLimits, /) -> dict[str, Any]:
    """What a child answered to one call (ext/child_call.h has requests and replies).

    ``{"kind": "value", "value": bytes}``: what was returned, still encoded, and valid for
    ``decode`` and ``compare_value``; ``{"kind": "raised", "type": str, "message": str}``;
    ``{"kind": "unencodable", "path": str, "message": str}``; ``{"kind": "no_entry" | "bad_request",
    "message": str}``. All of it is the child's word. Raises ValueError with the reason for
    anything else.
    """

class TextPlace(TypedDict):
    line: int  # 1-based; 0: it has none (json) or is not known
    column: int  # 1-based, in characters
    at_end: bool  # there is nothing more on this side
    text: str  # the line around the place (json: the value), cut and escaped

class TextDifference(TypedDict):
    presentation: bool  # exact and lines: only white space differs
    what: str  # more about it, may be ""
    path: str  # json: "$.a[0]"; else ""
    got: TextPlace
    expected: TextPlace

class ValueDifference(TypedDict):
    reason: str  # "type" | "value" | "length" | "missing" | "extra"
    path: str  # "$.groups[0]", cut
    got: str  # as Python writes it, cut and escaped; "" when missing
    expected: str  # the same; "" when extra

def compare_text(
    kind: str, got: bytes, expected: bytes, options: Mapping[str, Any], /
) -> TextDifference | None:
    """The first difference between what was printed and what was expected; None: equal.

    `kind` is "exact", "lines", "tokens", "float", "case_insensitive", "yes_no", "unordered_lines"
    or "json" (grading/compare_text.h says what each forgives, and its memory). Options, all of
    which may be left out: ``rel`` and ``abs`` (float, json; 0), ``nan_equal`` (False),
    ``final_newline`` (exact: one newline at the end does not matter; True). Linear, without the
    GIL. Raises ValueError for an unknown kind or option, and when `expected` is not what its kind
    needs.
    """

def compare_value(
    got: object, expected: object, options: Mapping[str, Any], limits: ValueLimits, /
) -> ValueDifference | None:
    """The first difference between two objects of plain data; None: equal.

    Without options types are exact all the way down (True is not 1, 1 is not 1.0, a list is no
    tuple), nan equals nothing, -0.0 equals 0.0, the order of dicts and sets does not count.
    Options: ``nan_equal``; ``numeric``: numbers by what they are worth (bool stays apart);
    ``sequences``: a list equals a tuple; ``sets``: a set equals a frozenset; ``rel`` and ``abs``:
    numeric, and close numbers are equal, except as keys and in sets. Never calls ``__eq__``. Raises
    what ``encode`` raises, with the side in front ("got: at $[0]: …").
    """

def compare_encoded(
    got: bytes, expected: bytes, options: Mapping[str, Any], limits: ValueLimits, /
) -> ValueDifference | None:
    """The same for two encodings; `got` may be anybody's.

    Raises ValueError, with the side in front, for what is no encoding.
    """

def probe() -> dict[str, Any]:
    """What this kernel can enforce: feature -> {"available": bool, "detail": str, "hint": str}."""

def removing() -> int:
    """How many scratch folders this process is removing in the background now; at most 8."""

def build_info() -> dict[str, str]: ...
