"""``kubectl`` in process: the same words, texts and exit codes as the real one, on a Cluster."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from sregym_env.cluster.api import Cluster
from sregym_env.cluster.identity import User
from sregym_env.cluster.streams import ExecResult
from sregym_env.errors import SREGymError
from sregym_env.kube.durations import parse_duration
from sregym_env.kube.jsonpath import JSONPathError
from sregym_env.kube.status import StatusError, forbidden
from sregym_env.runtime.effort import EffortExceeded
from sregym_env.shell.files import readable
from sregym_env.tools.kubectl import auth, logs, node
from sregym_env.tools.kubectl.call import Call, FileReader, Verb
from sregym_env.tools.kubectl.connection import config_file, need_server, save
from sregym_env.tools.kubectl.create import rbac
from sregym_env.tools.kubectl.desk import Desk
from sregym_env.tools.kubectl.errors import INVALID_TIMEOUT, KubectlError, server_text
from sregym_env.tools.kubectl.flags import GLOBAL_FLAGS, Parsed, flag_set
from sregym_env.tools.kubectl.kubeconfig import ConfigFile, KubeConfig, default_config
from sregym_env.tools.kubectl.output import check_printable
from sregym_env.tools.kubectl.patience import Patient
from sregym_env.tools.kubectl.resolve import check_words
from sregym_env.tools.kubectl.usage import root_help, unknown_command, verb_help
from sregym_env.tools.kubectl.verbs import VERBS, WRITE_VERBS

CommandResult = ExecResult
"""What a kubectl command left: ``stdout``, ``stderr`` and ``exit_code``."""


KILLED = 137
"""Exit code of a process that was killed."""
PANICKED = 2
"""Exit code of a Go program that cannot go on."""


class Kubectl:
    """kubectl of one person: an API identity and a kubeconfig. Everything else is in the cluster."""

    __slots__ = ("_own", "cluster", "kubeconfig")

    def __init__(
        self, cluster: Cluster, namespace: str = "default", *, config: KubeConfig | None = None
    ) -> None:
        """``cluster`` answers as the person's own user; ``namespace`` is that of the current context."""
        self.cluster = cluster
        user = cluster.user.name.rpartition(":")[2] or "user"
        self._own = config or default_config(user, "" if namespace == "default" else namespace)
        """The kubeconfig that leads to the cluster, as this person."""
        self.kubeconfig = ConfigFile(self._own)
        """What ``kubectl config`` has made of it, where there is no file to keep that in."""

    def with_cluster(self, cluster: Cluster) -> Kubectl:
        """The same kubectl, configuration included, on another cluster (a fork)."""
        again = Kubectl(cluster, config=self._own)
        again.kubeconfig.content = self.kubeconfig.content
        return again

    @property
    def own(self) -> KubeConfig:
        """The kubeconfig that leads to the cluster as this person: what a machine's ``~/.kube/config`` begins with."""
        return self._own

    def run(
        self,
        argv: Sequence[str],
        stdin: str = "",
        files: FileReader | None = None,
        ends: int | None = None,
        desk: Desk | None = None,
    ) -> CommandResult:
        """Carry out ``kubectl ARGV...``. Never raises for what the person or the cluster does wrong.

        A command that still waits at ``ends`` (the cluster's time) is cut off with exit code 124.
        """
        try:
            line = _understand(tuple(map(readable, argv)))
        except KubectlError as error:
            return CommandResult("", error.text + "\n", error.exit_code)
        if isinstance(line, CommandResult):
            return line
        parsed = line.parsed
        try:
            file = config_file(self.kubeconfig, desk, parsed.values["kubeconfig"])
        except KubectlError as error:
            return CommandResult("", error.text + "\n", error.exit_code)
        call = Call(
            file,
            self.cluster,
            line.command,
            parsed.values,
            parsed.given,
            parsed.args,
            parsed.dash,
            stdin,
            files,
            ends=ends,
            desk=desk,
            written=parsed.written,
        )
        if "record" in parsed.given:
            call.warn("Flag --record has been deprecated, --record will be removed in the future")
        missing = [f'"{name}"' for name in sorted(line.verb.required) if name not in parsed.given]
        if missing:
            call.warn(f"error: required flag(s) {', '.join(missing)} not set")
            return CommandResult("", "".join(call.err), 1)
        checked = False
        call.cluster.warnings()  # What others were warned of is nobody's business now.
        try:
            self._check_globals(call)
            checked = True
            assert line.verb.run is not None
            before = file.content
            if line.command in _PRINTER_FIRST and parsed.values["output"]:
                check_printable(call)
            try:
                line.verb.run(call)
                _tell_unread(call)
            finally:
                save(file, desk, before)
                call.tell_warnings()
        except StatusError as error:
            call.warn(server_text(error))
            call.exit_code = 1
        except KubectlError as error:
            if error.text:
                call.warn(error.text)
            # To diff an exit code of 1 means that something differs, so its errors end with 2.
            call.exit_code = (
                2 if call.command == "diff" and error.exit_code == 1 and not checked else error.exit_code
            )
        except JSONPathError as error:
            call.warn(f"error: {error}")
            call.exit_code = 1
        except SREGymError as error:
            call.warn(f"error: {error}")
            call.exit_code = 1
        except EffortExceeded as error:
            call.warn(str(error))
            call.exit_code = KILLED
        except RecursionError:
            call.warn("runtime: goroutine stack exceeds 1000000000-byte limit\nfatal error: stack overflow")
            call.exit_code = PANICKED
        except MemoryError:
            call.warn("fatal error: runtime: out of memory")
            call.exit_code = PANICKED
        chunks = call.pieces if call.out and call.err else ()
        return CommandResult("".join(call.out), "".join(call.err), call.exit_code, chunks, call.cost)

    def _check_globals(self, call: Call) -> None:
        flags, config = call.flags, call.kubeconfig.content
        if flags["kubeconfig"] and call.files is not None and not call.command.startswith("config "):
            _must_exist(call.files, flags["kubeconfig"])
        if call.command.startswith("config "):
            return  # the same flags mean what is to be written
        if call.command.split(" ")[0] in _ALONE:
            return
        if first := _WORDS_FIRST.get(call.command):
            first(call)
        if flags["context"] and config.context(flags["context"]) is None:
            if "namespace" in call.given and call.command in ("get", "describe", "delete"):
                # The words are looked at before the way to the server, if nothing else is to be asked for first.
                check_words(call)
            raise KubectlError(_no_context(call, flags["context"]))
        if flags["cluster"] and flags["cluster"] not in config.clusters:
            raise KubectlError(f'error: no server found for cluster "{flags["cluster"]}"')
        user = flags["user"]  # some commands have a list of users of their own
        if user and isinstance(user, str) and user not in config.users:
            raise KubectlError(f'error: auth info "{user}" does not exist')
        if flags["token"]:
            raise KubectlError("error: You must be logged in to the server (Unauthorized)")
        if (flags["as-group"] or flags["as-uid"]) and not flags["as"]:
            name = self.cluster.user.name
            raise KubectlError(
                f"error: requesting uid, groups or user-extra for {name} without impersonating a user"
            )
        _check_choices(call)
        need_server(call, self._own)
        if flags["as"]:
            call.cluster = self._impersonate(flags["as"], flags["as-group"])
        if not _is_timeout(flags["request-timeout"]):
            # What is wrong with the command itself is told before a connection is made.
            call.cluster = cast(Cluster, _Unusable(call.cluster))
            call.unusable = True
            if call.command.startswith(_CONNECTED_FIRST):
                call.connect()
        else:
            call.cluster = cast(Cluster, Patient(call.cluster, call))

    def _impersonate(self, name: str, groups: tuple[str, ...]) -> Cluster:
        own = self.cluster
        for resource, value in (("users", name), *(("groups", group) for group in groups)):
            if resource == "users" and name.startswith("system:serviceaccount:"):
                resource = "serviceaccounts"
            if not own.review_access("impersonate", resource, name=value):
                raise forbidden(resource, value, own.user.name, "impersonate")
        if name.startswith("system:serviceaccount:") and not groups:
            # The API server gives an impersonated service account the groups that it has.
            groups = ("system:serviceaccounts", f"system:serviceaccounts:{name.split(':')[2]}")
        return own.as_user(User(name, (*groups, "system:authenticated")))


def changes(argv: tuple[str, ...]) -> bool:
    """Whether a command line is meant to change the cluster."""
    try:
        line = _understand(argv)
    except KubectlError:
        return False
    if isinstance(line, CommandResult) or line.parsed.values.get("dry-run", "none") not in ("none", "false"):
        return False
    return (
        line.command == "auth reconcile" or line.command.split(" ")[0] in _CHANGING
    ) and line.command not in _LOOKING


_CHANGING = frozenset(verb.name for verb in WRITE_VERBS) - {"diff", "wait"}
_LOOKING = frozenset(("rollout status", "rollout history", "apply view-last-applied", "create token"))


_WORDS_FIRST: Mapping[str, Callable[[Call], None]] = {
    **dict.fromkeys(("cordon", "uncordon", "drain"), node.check_words),
    "logs": logs.check_words,
    "create token": rbac.check_words,
    "auth can-i": auth.check_words,
}
"""What looks at the words of a command before anything is looked up for it."""

_PRINTER_FIRST = frozenset(
    (
        "set image", "set env", "set resources", "set serviceaccount", "set selector", "set subject", "scale", "expose", "annotate",
        "create", "replace", "wait",
    )
)  # fmt: skip
"""Commands that look at ``-o`` before they look at anything else that they were told."""

_CONNECTED_FIRST = (
    "create ", "run", "auth", "explain", "rollout status", "api-", "cluster-info", "autoscale", "top ", "events",
)  # fmt: skip
"""Commands that prepare the connection before they look at anything else."""

_ALONE = frozenset(("kustomize", "options", "completion", "plugin"))
"""Commands that do not look at the kubeconfig."""

_NAMESPACED = frozenset(
    (
        "get", "describe", "logs", "top", "rollout", "scale", "patch", "label", "annotate", "set", "delete", "events",
        "taint", "edit", "cp", "port-forward", "attach", "exec", "debug",
    )
)  # fmt: skip
"""Commands that ask for the namespace before they ask for the way to the server."""


def _no_context(call: Call, name: str) -> str:
    if call.command == "set selector" and not any("/" in word for word in call.args):
        return (
            f'Error in configuration: \n* context "{name}" does not exist\n'
            f"* context was not found for specified context: {name}"
        )
    asks_namespace = call.command == "create token" or (
        call.command.split(" ")[0] in _NAMESPACED
        and call.command not in ("set env", "top node")
        and not call.flags.get("raw")
    )
    if asks_namespace and "namespace" not in call.given:
        return f"Error in configuration: context was not found for specified context: {name}"
    return f'error: context "{name}" does not exist'


def _tell_unread(call: Call) -> None:
    """Say what could not be read: a mistake among several, or of a command that gathers them, has no prefix."""
    if call.unread:
        prefix = "" if call.exit_code or call.command == "get" else "error: "
        call.fail(KubectlError(prefix + call.unread))


def _miscounted(call: Call) -> bool:
    """Whether the command has too many or too few arguments and looks at those before ``--dry-run``."""
    if call.command.startswith("create "):
        return len(call.args if call.dash < 0 else call.args[: call.dash]) != 1
    return call.command == "apply" and bool(call.args)


_VALIDATION = frozenset(("strict", "true", "warn", "ignore", "false"))


def _check_choices(call: Call) -> None:
    """Refuse what flags that many commands share do not know, and say what is deprecated in them."""
    flags = call.flags
    if "dry-run" not in call.given or _miscounted(call):
        pass
    elif flags["dry-run"] in ("unchanged", "true"):
        # klog puts month and day first: those on which every embedded cluster begins.
        call.warn("W0806 helpers.go:702] --dry-run is deprecated and can be replaced with --dry-run=client.")
    elif flags["dry-run"] not in ("none", "server", "client", "false"):
        value = flags["dry-run"]
        raise KubectlError(f'error: Invalid dry-run value ({value}). Must be "none", "server", or "client".')
    if "validate" in call.given and flags["validate"] not in _VALIDATION:
        text = "must be one of: strict (or true), warn, ignore (or false)"
        raise KubectlError(f'error: invalid - validate option "{flags["validate"]}"; {text}')


def _is_timeout(text: str) -> bool:
    try:
        if text and not text.isdecimal():
            parse_duration(text)
    except ValueError:
        return False
    return True


class _Unusable:
    """A cluster to which no connection can be made, since ``--request-timeout`` is none."""

    __slots__ = ("_api",)

    def __init__(self, api: Cluster) -> None:
        self._api = api

    def __getattr__(self, name: str) -> Any:
        if name in ("advance", "now", "registry", "user", "warnings"):
            return getattr(self._api, name)
        raise KubectlError(f"error: {INVALID_TIMEOUT}")


def _must_exist(files: FileReader, path: str) -> None:
    try:
        files.read_text(path)
    except OSError:
        raise KubectlError(f"error: stat {path}: no such file or directory") from None


# --- understanding a command line -----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Line:
    verb: Verb
    command: str
    parsed: Parsed


@lru_cache(maxsize=4096)
def _understand(argv: tuple[str, ...]) -> _Line | CommandResult:
    """The command of a line with its flags, or the help it asks for. Errors are not cached."""
    rest = list(argv)
    verbs: Sequence[Verb] = VERBS
    path: list[str] = []
    verb: Verb | None = None
    while verbs:
        at = _next_word(rest)
        if at < 0:
            break
        found = _named(verbs, rest[at])
        if found is None:
            if verb is None:
                raise KubectlError(unknown_command(rest[at], verbs))
            break
        del rest[at]
        verb = found
        path.append(found.name)
        verbs = found.verbs
    if verb is None:
        return _root(rest)
    command = " ".join(path)
    if verb.run is None:
        return _group(verb, command, rest)
    parsed = flag_set(verb.flags).parse(rest, command)
    if parsed.values["help"]:
        return CommandResult(verb_help(verb, command))
    return _Line(verb, command, parsed)


def _root(rest: list[str]) -> CommandResult:
    flag_set(()).parse(rest, "") if rest and rest[0] not in ("-h", "--help") else None
    return CommandResult(root_help(VERBS))


def _group(verb: Verb, command: str, rest: list[str]) -> CommandResult:
    text = verb_help(verb, command)
    if "-h" in rest or "--help" in rest:
        return CommandResult(text)
    words = flag_set(()).parse(rest, command).args
    if words:
        return CommandResult(
            "",
            f"error: unknown command \"{' '.join(words)}\"\nSee 'kubectl {command} -h' for help and examples\n",
            1,
        )
    # Of all groups, only this one has its help written to standard output.
    return CommandResult(text, "", 1) if command == "rollout" else CommandResult("", text, 1)


def _named(verbs: Sequence[Verb], word: str) -> Verb | None:
    for verb in verbs:
        if verb.name == word or word in verb.aliases:
            return verb
    return None


_VALUED_LONG = frozenset(flag.name for flag in GLOBAL_FLAGS if flag.kind != "bool")
_VALUED_SHORT = frozenset(flag.short for flag in GLOBAL_FLAGS if flag.short and flag.kind != "bool")


def _next_word(words: Sequence[str]) -> int:
    """Index of the first word that is no flag and no global flag's value; -1 when there is none."""
    i = 0
    while i < len(words):
        word = words[i]
        if word == "--":
            return -1
        if not word.startswith("-") or word == "-":
            return i
        bare = word[2:] if word.startswith("--") else ""
        if bare in _VALUED_LONG or (len(word) == 2 and word[1] in _VALUED_SHORT):
            i += 1
        i += 1
    return -1
