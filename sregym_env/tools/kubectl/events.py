"""``kubectl events``."""

from __future__ import annotations

from sregym_env.kube.describe.text import event_age
from sregym_env.kube.durations import parse_rfc3339
from sregym_env.kube.ordering import go_sorted
from sregym_env.kube.tables import align, event_times
from sregym_env.kube.types import Manifest
from sregym_env.tools.kubectl import flags as f
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import Flag
from sregym_env.tools.kubectl.output import (
    FORMATS_WITHOUT_TABLE,
    as_list,
    check_format,
    print_value,
    split_format,
    unknown_format,
)


def run(call: Call) -> None:
    """List events, oldest first."""
    types = {word.strip().lower() for word in call.flags["types"]}
    selector = _about(call)
    if types - {"normal", "warning"}:
        raise failure("valid --types are Normal or Warning")
    name, argument = split_format(call)
    if name and name not in FORMATS_WITHOUT_TABLE.split(","):
        raise unknown_format(call.flags["output"], FORMATS_WITHOUT_TABLE)
    if name not in ("", "name"):
        check_format(call, name, argument)
    events = call.cluster.list("events", call.scope, field_selector=selector)
    if types:
        events = [event for event in events if event.get("type", "").lower() in types]
    events = go_sorted(events, lambda a, b: _when(a) < _when(b))
    if not events:
        if call.flags["watch"]:
            return
        where = "" if call.all_namespaces else f" in {call.namespace} namespace"
        call.warn(f"No events found{where}.")
        return
    if name == "name":
        call.print("".join(f"event/{event['metadata']['name']}\n" for event in events))
        return
    if name:
        found = {**as_list(events), "kind": "EventList", "metadata": {}}
        print_value(call, name, argument, found)
        return
    lines = [_line(call, event) for event in events]
    if not call.flags["no-headers"]:
        header = ["NAMESPACE"] if call.all_namespaces else []
        lines.insert(0, [*header, "LAST SEEN", "TYPE", "REASON", "OBJECT", "MESSAGE"])
    call.print(align(lines))


def _about(call: Call) -> str:
    word = call.flags["for"]
    if not word:
        return ""
    if word.count("/") != 1:
        raise failure("--for must be in resource/name form")
    token, _, name = word.partition("/")
    if call.lookup(token) is None:
        raise KubectlError(f'the server doesn\'t have a resource type "{token}"')
    resource = call.find(token)
    return (
        f"involvedObject.kind={resource.kind},involvedObject.apiVersion={resource.api_version},"
        f"involvedObject.name={name}"
    )


def _when(event: Manifest) -> int:
    """Microseconds; as times and not as texts, which differ in their digits."""
    first, last, _ = event_times(event)
    told = last or first or event["metadata"].get("creationTimestamp")
    return parse_rfc3339(told) if told else 0


def _line(call: Call, event: Manifest) -> list[str]:
    involved = event.get("involvedObject") or {}
    line = [event["metadata"].get("namespace", "")] if call.all_namespaces else []
    return [
        *line,
        event_age(event, call.cluster.now()),
        event.get("type", ""),
        event.get("reason", ""),
        f"{involved.get('kind', '')}/{involved.get('name', '')}",
        (event.get("message") or "").strip(),
    ]


VERB = Verb(
    "events",
    "List events",
    run,
    flags=(
        f.ALL_NAMESPACES,
        f.ALLOW_MISSING,
        f.CHUNK_SIZE,
        Flag("for", help="Filter events to only those pertaining to the specified resource."),
        f.NO_HEADERS,
        f.OUTPUT,
        f.SHOW_MANAGED_FIELDS,
        f.TEMPLATE,
        Flag("types", kind="csv", help="Output only events of given types."),
        Flag("watch", "w", kind="bool", help="After listing the requested events, watch for more events."),
    ),
    usage="events [(-o|--output=)json|yaml] [--for TYPE/NAME] [--watch] [--types=Normal,Warning] [options]",
    examples=(
        "# List recent events in the default namespace\n  kubectl events",
        "# List recent events in all namespaces\n  kubectl events --all-namespaces",
        "# List recent only events of type 'Warning' or 'Normal'\n  kubectl events --types=Warning,Normal",
    ),
    group="Deploy Commands",
)
