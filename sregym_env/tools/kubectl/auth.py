"""``kubectl auth``: what one may do, and who one is."""

from __future__ import annotations

from sregym_env.kube.describe.access import compact_rules
from sregym_env.kube.tables import align
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl import reconcile
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.output import FORMATS_WITHOUT_TABLE, print_value, split_format, unknown_format

_KNOWN_VERBS = frozenset(
    "get list watch create update patch delete deletecollection use bind escalate impersonate approve sign * proxy".split()
)


def check_words(call: Call) -> None:
    """Refuse another number of words than the two that make a question."""
    if not call.flags["list"] and len(call.args) != 2:
        raise KubectlError(
            "error: you must specify two arguments: verb resource or verb resource/resourceName.\n"
            "See 'kubectl auth can-i -h' for help and examples."
        )


def can_i(call: Call) -> None:
    """Answer ``yes`` or ``no`` (and exit 1), or list what is allowed."""
    if call.flags["list"]:
        if call.args:
            raise KubectlError("error: list option must be specified with no arguments")
        if call.flags["quiet"] or call.all_namespaces or call.flags["subresource"]:
            text = "list option can't be specified with neither quiet, all-namespaces nor subresource options"
            raise KubectlError(f"error: {text}")
        _list(call)
        return
    if call.flags["no-headers"]:
        raise KubectlError("error: --no-headers cannot be set without --list specified")
    verb = call.args[0]
    token, _, name = call.args[1].partition("/")
    if call.args[1].startswith("/"):
        if call.flags["subresource"]:
            raise KubectlError("error: --subresource can not be used with NonResourceURL")
        allowed = call.cluster.review_access(verb, call.args[1])
    else:
        allowed = _allowed(call, verb, token, name)
    if not call.flags["quiet"]:
        call.print("yes\n" if allowed else "no\n")
    call.exit_code = 0 if allowed else 1


def _allowed(call: Call, verb: str, token: str, name: str) -> bool:
    resource = None if token == "*" else call.lookup(token)
    if verb not in _KNOWN_VERBS:
        call.warn(f"Warning: verb '{verb}' is not a known verb\n")
    if resource is None and token not in ("*", "users", "groups"):
        plural, _, group = token.partition(".")
        where = f" in group '{group}'" if group else ""
        call.warn(f"Warning: the server doesn't have a resource type '{plural}'{where}\n")
    namespaced = resource is None or resource.namespaced
    if not namespaced and not call.all_namespaces:
        assert resource is not None
        group = f" in group '{resource.group}'" if resource.group else ""
        call.warn(f"Warning: resource '{resource.plural}' is not namespace scoped{group}")
        call.complain("\n")
    namespace = call.scope if namespaced else None
    return call.cluster.review_access(
        verb, resource.key if resource else token, namespace, name, call.flags["subresource"]
    )


def _list(call: Call) -> None:
    rules = _rules(call)
    rows = compact_rules(rules)
    lines = [
        [resource, f"[{' '.join(urls)}]", f"[{' '.join(names)}]", f"[{' '.join(verbs)}]"]
        for resource, urls, names, verbs in rows
    ]
    if not call.flags["no-headers"]:
        lines.insert(0, ["Resources", "Non-Resource URLs", "Resource Names", "Verbs"])
    call.print(align(lines))


def _rules(call: Call) -> list[Manifest]:
    """The caller's rules in the namespace, as a SelfSubjectRulesReview tells them."""
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectRulesReview",
        "spec": {"namespace": call.namespace},
    }
    state = call.cluster.create(review)["status"]
    return [*state["resourceRules"], *state["nonResourceRules"]]


def whoami(call: Call) -> None:
    """Name and groups of the caller."""
    user = call.cluster.user
    name, argument = split_format(call)
    if name == "name":
        call.print("selfsubjectreview.authentication.k8s.io/<unknown>\n")
        return
    if name:
        if name not in FORMATS_WITHOUT_TABLE.split(","):
            raise unknown_format(call.flags["output"], FORMATS_WITHOUT_TABLE)
        review: Manifest = {
            "apiVersion": "authentication.k8s.io/v1",
            "kind": "SelfSubjectReview",
            "metadata": {"creationTimestamp": None},
            "status": {"userInfo": {"username": user.name, "groups": list(user.groups)}},
        }
        print_value(call, name, argument, review)
        return
    call.print(
        align([["ATTRIBUTE", "VALUE"], ["Username", user.name], ["Groups", f"[{' '.join(user.groups)}]"]])
    )


VERB = Verb(
    "auth",
    "Inspect authorization",
    verbs=(
        Verb(
            "can-i",
            "Check whether an action is allowed",
            can_i,
            flags=(
                f.ALL_NAMESPACES,
                Flag("list", kind="bool", help="If true, prints all allowed actions."),
                f.NO_HEADERS,
                Flag(
                    "quiet", "q", kind="bool", help="If true, suppress output and just return the exit code."
                ),
                Flag("subresource", help="SubResource such as pod/log or deployment/scale"),
            ),
            usage="auth can-i VERB [TYPE | TYPE/NAME | NONRESOURCEURL] [options]",
        ),
        reconcile.VERB,
        Verb("whoami", "Experimental: Check self subject attributes", whoami, flags=(f.OUTPUT, *f.PRINTING)),
    ),
)
