"""``kubectl config``: the person's kubeconfig, kept in a :class:`ConfigFile`."""

from __future__ import annotations

import base64
import json
from dataclasses import replace
from typing import Any

from sregym_env.kube.status import go_quote
from sregym_env.kube.tables import align
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import failure, usage_failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.kubeconfig import Context, KubeConfig, body
from sregym_env.tools.kubectl.output import (
    FORMATS_WITHOUT_TABLE,
    check_format,
    print_value,
    split_format,
    unknown_format,
)
from sregym_env.tools.kubectl.usage import verb_help


def view(call: Call) -> None:
    """The kubeconfig, credentials hidden."""
    config = call.kubeconfig.content
    if call.args:
        raise usage_failure(f"unexpected arguments: [{' '.join(call.args)}]", "config view")
    contexts, minify = config.contexts, call.flags["minify"]
    if minify:
        if not config.current:
            raise failure("current-context must exist in order to minify")
        contexts = tuple(context for context in contexts if context.name == config.current)
    # What is to stand in a file of its own is written out, secrets included.
    raw = call.flags["raw"] or call.flags["flatten"]
    shown = [name for name in sorted(config.clusters) if not minify or name in {c.cluster for c in contexts}]
    users = sorted({c.user for c in contexts if c.user}) if minify else config.users
    value: Manifest = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": name,
                "cluster": _hidden({**config.option(name), "server": config.clusters[name]}, raw),
            }
            for name in shown
        ]
        or None,
        "contexts": [{"name": context.name, "context": body(context)} for context in contexts] or None,
        "current-context": config.current,
        "preferences": {},
        "users": [{"name": user, "user": _hidden(config.credential(user), raw)} for user in users] or None,
    }
    name, argument = split_format(call)
    if name not in FORMATS_WITHOUT_TABLE.split(",") and name:
        raise unknown_format(call.flags["output"], FORMATS_WITHOUT_TABLE)
    check_format(call, name, argument)
    print_value(call, name or "yaml", argument, value)


_HIDDEN = {
    "certificate-authority-data": "DATA+OMITTED",
    "client-certificate-data": "DATA+OMITTED",
    "client-key-data": "DATA+OMITTED",
    "token": "REDACTED",
    "password": "REDACTED",
}
"""What is printed in place of what is secret or long."""


def _hidden(entry: Manifest, raw: bool) -> Manifest:
    return entry if raw else {key: _HIDDEN.get(key, value) for key, value in sorted(entry.items())}


def current_context(call: Call) -> None:
    """The name of the current context."""
    if not call.kubeconfig.content.current:
        raise failure("current-context is not set")
    call.print(call.kubeconfig.content.current + "\n")


def get_contexts(call: Call) -> None:
    """The contexts as a table."""
    config = call.kubeconfig.content
    contexts = sorted(config.contexts, key=lambda context: context.name)
    for name in call.args:
        if config.context(name) is None:
            call.fail(failure(f"context {name} not found"))
    if call.args:
        contexts = [context for context in contexts if context.name in call.args]
    if call.flags["output"] not in ("", "name"):
        form = call.flags["output"]
        raise failure(
            f"--output {form} is not available in kubectl config get-contexts; resetting to default output format"
        )
    if call.flags["output"] == "name":
        call.print("".join(f"{context.name}\n" for context in contexts))
        return
    lines = [
        ["*" if c.name == config.current else "", c.name, c.cluster, c.user, c.namespace] for c in contexts
    ]
    if not call.flags["no-headers"]:
        lines.insert(0, ["CURRENT", "NAME", "CLUSTER", "AUTHINFO", "NAMESPACE"])
    call.print(align(lines))


def set_context(call: Call) -> None:
    """Change a context, or add one."""
    config, flags = call.kubeconfig.content, call.flags
    if flags["current"] == bool(call.args):
        raise failure("you must specify a non-empty context name or --current")
    name = config.current if flags["current"] else call.args[0]
    context = config.context(name)
    word = "modified" if context else "created"
    context = context or Context(name, "", "")
    for key in ("cluster", "user", "namespace"):
        if key in call.given:
            context = replace(context, **{key: flags[key]})
    call.kubeconfig.set_context(context)
    call.print(f'Context "{name}" {word}.\n')


def use_context(call: Call) -> None:
    """Make a context the current one."""
    if len(call.args) != 1:
        raise usage_failure("Unexpected args: [" + " ".join(call.args) + "]", "config use-context")
    name = call.args[0]
    if call.kubeconfig.content.context(name) is None:
        raise failure(f'no context exists with the name: "{name}"')
    call.kubeconfig.content = replace(call.kubeconfig.content, current=name)
    call.print(f'Switched to context "{name}".\n')


def delete_context(call: Call) -> None:
    """Remove a context."""
    config = call.kubeconfig.content
    name = call.args[0] if call.args else ""
    if config.context(name) is None or not name:
        raise failure(f"cannot delete context {name}, not in {call.kubeconfig.path}")
    if name == config.current:
        call.warn(
            'warning: this removed your active context, use "kubectl config use-context" to select a different one'
        )
    rest = tuple(context for context in config.contexts if context.name != name)
    current = "" if name == config.current else config.current
    call.kubeconfig.content = replace(config, contexts=rest, current=current)
    call.print(f"deleted context {name} from {call.kubeconfig.path}\n")


def rename_context(call: Call) -> None:
    """Give a context another name."""
    config = call.kubeconfig.content
    if len(call.args) != 2:
        raise usage_failure("Unexpected args: [" + " ".join(call.args) + "]", "config rename-context")
    old, new = call.args
    context = config.context(old)
    if context is None:
        raise failure(f'cannot rename the context "{old}", it\'s not in {call.kubeconfig.path}')
    if config.context(new) is not None:
        raise failure(
            f'cannot rename the context "{old}", the context "{new}" already exists in {call.kubeconfig.path}'
        )
    rest = tuple(c for c in config.contexts if c.name != old)
    current = new if config.current == old else config.current
    call.kubeconfig.content = replace(config, contexts=(*rest, replace(context, name=new)), current=current)
    call.print(f'Context "{old}" renamed to "{new}".\n')


def get_clusters(call: Call) -> None:
    """The clusters' names."""
    call.print("NAME\n" + "".join(f"{name}\n" for name in sorted(call.kubeconfig.content.clusters)))


def get_users(call: Call) -> None:
    """The users' names."""
    call.print("NAME\n" + "".join(f"{user}\n" for user in call.kubeconfig.content.users))


def set_cluster(call: Call) -> None:
    """Add a cluster, or change where one is."""
    config = call.kubeconfig.content
    if len(call.args) != 1:
        raise usage_failure(f"Unexpected args: [{' '.join(call.args)}]", "config set-cluster")
    name, server = call.args[0], call.flags["server"]
    if name == config.cluster:
        call.kubeconfig.content = replace(config, server=server or config.server)
    else:
        known = {**dict(config.more_clusters), name: server}
        call.kubeconfig.content = replace(config, more_clusters=tuple(sorted(known.items())))
    call.print(f'Cluster "{name}" set.\n')


def set_credentials(call: Call) -> None:
    """Add a user, or change one."""
    config = call.kubeconfig.content
    if len(call.args) != 1:
        raise usage_failure(f"Unexpected args: [{' '.join(call.args)}]", "config set-credentials")
    name = call.args[0]
    given = {key: call.flags[key] for key in ("token", "username", "password") if key in call.given}
    if given:
        known = {**dict(config.credentials), name: json.dumps({**config.credential(name), **given})}
        config = replace(config, credentials=tuple(known.items()))
    if name not in config.users:
        config = replace(config, more_users=(*config.more_users, name))
    call.kubeconfig.content = config
    call.print(f'User "{name}" set.\n')


def delete_cluster(call: Call) -> None:
    """Remove a cluster."""
    config = call.kubeconfig.content
    name = call.args[0] if call.args else ""
    if name not in config.clusters:
        raise failure(f"cannot delete cluster {name}, not in {call.kubeconfig.path}")
    call.kubeconfig.content = _without_cluster(config, name, "")
    call.print(f"deleted cluster {name} from {call.kubeconfig.path}\n")


def delete_user(call: Call) -> None:
    """Remove a user that was added."""
    config = call.kubeconfig.content
    name = call.args[0] if call.args else ""
    if name not in config.users:
        raise failure(f"cannot delete user {name}, not in {call.kubeconfig.path}")
    call.kubeconfig.content = _without_user(config, name, "")
    call.print(f"deleted user {name} from {call.kubeconfig.path}\n")


def set_property(call: Call) -> None:
    """Set a value by its path: ``current-context``, ``contexts.NAME.namespace``, ``clusters.NAME.server``, ..."""
    if len(call.args) != 2:
        call.print(verb_help(_SET, call.command))
        raise failure(f"Unexpected args: [{' '.join(call.args)}]")
    path, value = call.args
    _put(call, path, value)
    call.print(f'Property "{path}" set.\n')


def unset_property(call: Call) -> None:
    """Take a value away by its path."""
    if len(call.args) != 1:
        raise usage_failure(f"Unexpected args: [{' '.join(call.args)}]", "config unset")
    _remove(call, call.args[0])
    call.print(f'Property "{call.args[0]}" unset.\n')


_FIELDS = {
    "contexts": ("cluster", "user", "namespace"),
    "clusters": (
        "server", "tls-server-name", "insecure-skip-tls-verify", "certificate-authority", "certificate-authority-data",
        "proxy-url", "disable-compression",
    ),
    "users": (
        "client-certificate", "client-certificate-data", "client-key", "client-key-data", "token", "tokenFile", "act-as",
        "username", "password",
    ),
}  # fmt: skip
"""What a property can be, by the map that it is in."""


def _steps(path: str) -> tuple[str, str, str]:
    """Map, name and field of a path. Raises kubectl's complaint about one that leads nowhere."""
    head, _, rest = path.partition(".")
    if head not in (*_FIELDS, "current-context", "preferences"):
        raise failure(f"unable to parse {path} after [] at api.Config")
    name, _, field = rest.partition(".")
    return head, name, field


def _names(config: KubeConfig, head: str) -> list[str]:
    if head == "contexts":
        return sorted(context.name for context in config.contexts)
    return sorted(config.clusters) if head == "clusters" else config.users


def _put(call: Call, path: str, value: str) -> None:
    config = call.kubeconfig.content
    head, name, field = _steps(path)
    if head in _FIELDS and (not name or field not in _FIELDS[head]):
        shown = " ".join(f"{each}:0xc000a80f00" for each in _names(config, head))  # as Go prints pointers
        raise failure(f"can't set a map to a value: map[{shown}]")
    if head == "current-context":
        call.kubeconfig.content = replace(config, current=value)
    elif head == "contexts":
        call.kubeconfig.set_context(replace(config.context(name) or Context(name, "", ""), **{field: value}))
    elif head == "clusters":
        server = value if field == "server" else config.clusters.get(name, "")
        known = config.option(name)
        option = known if field == "server" else {**known, field: _read(call, field, value)}
        call.kubeconfig.content = config.with_cluster(name, server, option)
    elif head == "users":
        credential = {**config.credential(name), field: _read(call, field, value)}
        call.kubeconfig.content = config.with_user(name, credential)


def _read(call: Call, field: str, value: str) -> Any:
    """A value as its field holds it. Raises kubectl's complaints."""
    if field in ("insecure-skip-tls-verify", "disable-compression"):
        if value.lower() not in ("1", "t", "true", "0", "f", "false"):
            raise failure(f"strconv.ParseBool: parsing {go_quote(value)}: invalid syntax")
        return value.lower() in ("1", "t", "true")
    if not field.endswith("-data"):
        return value
    if call.flags.get("set-raw-bytes"):
        return base64.b64encode(value.encode(errors="replace")).decode()
    wrong = next((i for i, char in enumerate(value) if char not in _BASE64), None)
    if wrong is None and len(value) % 4:
        wrong = len(value) // 4 * 4
    if wrong is not None:
        raise failure(f"error decoding input value: illegal base64 data at input byte {wrong}")
    return value


_BASE64 = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=")


def _remove(call: Call, path: str) -> None:
    config = call.kubeconfig.content
    head, name, field = _steps(path)
    if field and head in _FIELDS and name not in _names(config, head):
        raise failure(f"current map key `{name}` is invalid")
    if head == "current-context":
        call.kubeconfig.content = replace(config, current="")
    elif head == "contexts" and field:
        call.kubeconfig.set_context(replace(config.context(name) or Context(name, "", ""), **{field: ""}))
    elif head == "contexts":
        rest = tuple(context for context in config.contexts if name and context.name != name)
        call.kubeconfig.content = replace(config, contexts=rest)
    elif head == "clusters":
        for each in [name] if name else list(config.clusters):
            call.kubeconfig.content = _without_cluster(call.kubeconfig.content, each, field)
    elif head == "users":
        for each in [name] if name else config.users:
            call.kubeconfig.content = _without_user(call.kubeconfig.content, each, field)


def _without_cluster(config: KubeConfig, name: str, field: str) -> KubeConfig:
    if name not in config.clusters:
        return config
    if field:
        server = "" if field == "server" else config.clusters[name]
        option = {key: value for key, value in config.option(name).items() if key != field}
        return config.with_cluster(name, server, option)
    rest = tuple(pair for pair in config.more_clusters if pair[0] != name)
    return replace(config, cluster="" if name == config.cluster else config.cluster, more_clusters=rest)


def _without_user(config: KubeConfig, name: str, field: str) -> KubeConfig:
    if field:
        return config.with_user(
            name, {key: value for key, value in config.credential(name).items() if key != field}
        )
    return replace(
        config,
        more_users=tuple(user for user in config.more_users if user != name),
        credentials=tuple(each for each in config.credentials if each[0] != name),
    )


_SET = Verb(
    "set",
    "Set an individual value in a kubeconfig file",
    set_property,
    flags=(
        Flag(
            "set-raw-bytes",
            kind="bool",
            help="When writing a []byte PROPERTY_VALUE, write the given string directly without base64 decoding.",
        ),
    ),
)

VERB = Verb(
    "config",
    "Modify kubeconfig files",
    verbs=(
        Verb("current-context", "Display the current-context", current_context),
        Verb("delete-context", "Delete the specified context from the kubeconfig", delete_context),
        Verb("delete-cluster", "Delete the specified cluster from the kubeconfig", delete_cluster),
        Verb("delete-user", "Delete the specified user from the kubeconfig", delete_user),
        _SET,
        Verb("unset", "Unset an individual value in a kubeconfig file", unset_property),
        Verb(
            "set-cluster",
            "Set a cluster entry in kubeconfig",
            set_cluster,
            flags=(
                Flag("embed-certs", kind="bool"),
                Flag("proxy-url", help="proxy-url for the cluster entry in kubeconfig"),
            ),
        ),
        Verb(
            "set-credentials",
            "Set a user entry in kubeconfig",
            set_credentials,
            flags=(
                Flag("embed-certs", kind="bool"),
                Flag("auth-provider"),
                Flag("auth-provider-arg", kind="strings"),
                Flag("exec-api-version"),
                Flag("exec-arg", kind="csv"),
                Flag("exec-command"),
                Flag("exec-env", kind="strings"),
                Flag("exec-interactive-mode"),
                Flag("exec-provide-cluster-info", kind="bool"),
            ),
        ),
        Verb("get-clusters", "Display clusters defined in the kubeconfig", get_clusters),
        Verb("get-contexts", "Describe one or many contexts", get_contexts, flags=(f.NO_HEADERS, f.OUTPUT)),
        Verb("get-users", "Display users defined in the kubeconfig", get_users),
        Verb("rename-context", "Rename a context from the kubeconfig file", rename_context),
        Verb(
            "set-context",
            "Set a context entry in kubeconfig",
            set_context,
            flags=(Flag("current", kind="bool", help="Modify the current context"),),
            usage="config set-context [NAME | --current] [--cluster=cluster_nickname] [--user=user_nickname] "
            "[--namespace=namespace] [options]",
        ),
        Verb("use-context", "Set the current-context in a kubeconfig file", use_context, aliases=("use",)),
        Verb(
            "view",
            "Display merged kubeconfig settings or a specified kubeconfig file",
            view,
            flags=(
                f.ALLOW_MISSING,
                f.OUTPUT,
                f.TEMPLATE,
                Flag(
                    "flatten",
                    kind="bool",
                    help="Flatten the resulting kubeconfig file into self-contained output",
                ),
                Flag("merge", kind="bool", default=True, help="Merge the full hierarchy of kubeconfig files"),
                Flag("minify", kind="bool", help="Remove all information not used by current-context"),
                Flag("raw", kind="bool", help="Display raw byte data and sensitive data"),
                f.SHOW_MANAGED_FIELDS,
            ),
        ),
    ),
    group="Settings Commands",
)
