"""In which order kubectl looks at what is wrong, as drawn lines have shown it of the real one."""

from __future__ import annotations

import shlex

import pytest

from sregym_env.apps.hotel_reservation import APP
from sregym_env.cluster.identity import User
from sregym_env.sim.bringup.deploy import deployed_world
from sregym_env.tools.kubectl import Kubectl

NAMESPACE = "hotel-reservation"
TIMEOUT = (
    "Invalid timeout value. Timeout must be a single integer in seconds, or an integer followed by a corresponding time unit "
    "(e.g. 1s | 2m | 3h)\n"
)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("get pods --request-timeout=x", f"error: {TIMEOUT}"),
        ("get secrets,deployments --request-timeout=x", TIMEOUT * 2),
        ("describe pods,svc,cm --request-timeout=x", TIMEOUT * 3),
        ("api-versions --request-timeout=x", f"error: {TIMEOUT}"),
        ("api-resources --request-timeout=x", f"error: {TIMEOUT}"),
        ("autoscale deploy geo --max=0 --request-timeout=x", f"error: {TIMEOUT}"),
        ("taint nodes sre-worker --request-timeout=x", f"error: {TIMEOUT}"),
        ("run x --request-timeout=x", 'error: required flag(s) "image" not set\n'),
        ("taint x a-", 'the server doesn\'t have a resource type "x"\n'),
        ("taint pods x a=b:NoSchedule", "error: invalid resource type pods, only node types are supported\n"),
        ("top node x --selector a=b", "error: only one of NAME or --selector can be provided\n"),
        ("auth can-i --list --quiet", "error: list option can't be specified with neither quiet, all-namespaces nor subresource options\n"),
        ("create token x --bound-object-uid=y", "error: --bound-object-uid can only be set if --bound-object-kind is provided\n"),
        ("set env deploy/geo A=b --context=x", 'error: context "x" does not exist\n'),
        ("set image deploy/geo A=b --context=x", "Error in configuration: context was not found for specified context: x\n"),
        ("rollout pause deploy -n nowhere", "No resources found in nowhere namespace.\n"),
        ("top svc -n x", "error: unknown command \"svc\"\nSee 'kubectl top -h' for help and examples\n"),
        ("wait --for=create pv,limits --timeout=0", "error: resource(s) were provided, but no name was specified\n"),
        ("wait --for=create pv --timeout=0", "error: resource(s) were provided, but no name was specified\n"),
        ("wait --for=create pod/x --timeout=1s", "error: timed out waiting for the condition\n"),
        (
            "wait --for=create pod/x pod/y --timeout=1s",
            'Error from server (NotFound): pods "x" not found\nError from server (NotFound): pods "y" not found\n',
        ),
        (
            "wait --for=delete deploy geo rate --timeout=1s",
            "timed out waiting for the condition on deployments/geo\n"
            "client rate limiter Wait returned an error: context deadline exceeded\n",
        ),
        ("run x --context=x", 'error: required flag(s) "image" not set\n'),
        ("autoscale deploy geo --context=x", 'error: required flag(s) "max" not set\n'),
        ("create cronjob x --context=x", 'error: required flag(s) "image", "schedule" not set\n'),
        ("create ns --dry-run=bad", "error: exactly one NAME is required, got 0\nSee 'kubectl create namespace -h' for help and examples\n"),
        ("create token --context=x", "error: exactly one NAME is required, got 0\nSee 'kubectl create token -h' for help and examples\n"),
        ("apply x --dry-run=bad", "error: Unexpected args: [x]\nSee 'kubectl apply -h' for help and examples\n"),
        ("replace x", "error: must specify one of -f and -k\n"),
        ("replace -f x --timeout=1s", "error: --timeout must have --force specified\n"),
        ("replace -f x --grace-period=1", "error: --grace-period must have --force specified\n"),
        ("get -f x -k y", "error: only one of -f or -k can be specified\n"),
        ("get no/sre-worker -n default -lapp=x --context=x", "error: selectors and the all flag cannot be used when passing resource/name arguments\n"),
        ("set env deploy/ --list -o yaml", "error: --list and --output may not be specified together\n"),
        ("set env deploy/geo A- 1", "error: all resources must be specified before environment changes: deploy/geo A- 1\n"),
        ("set resources deploy/geo -o jsonpath={.items", "error: error parsing jsonpath {.items, unclosed action\n"),
        ("scale deploy/nothing --replicas=1 -o jsonpath={.items", "error: error parsing jsonpath {.items, unclosed action\n"),
        ("set selector svc x a", 'Error from server (NotFound): services "x" not found\n'),
        ("set selector svc geo a=b,c", "error: match expression [{c Exists []}] not supported on this object\n"),
        ("events --for condition=Ready --types x", "error: --for must be in resource/name form\n"),
        ("events --types x --request-timeout=x", f"error: {TIMEOUT}"),
        ("set env deploy/nothing A=b --env=x", "error: unknown environment variable: x\n"),
        (
            "set image deploy/geo x=a:1 y=b:1",
            'error: unable to find container named "x"\nerror: unable to find container named "y"\n',
        ),
        (
            "config get-contexts -o json",
            "error: --output json is not available in kubectl config get-contexts; resetting to default output format\n",
        ),
        ("top nodes --sort-by x --request-timeout=x", f"error: {TIMEOUT}"),
        ("expose deploy geo --port=80 --selector==x", "error: unexpected empty label key\n"),
        ("expose deploy geo --port=80 --selector=a=b=c", "error: unexpected label spec: a=b=c\n"),
        ("run x --image=y --labels=a=b=c", "error: unexpected label spec: a=b=c\n"),
        ("apply view-last-applied deploy", "error: resource(s) were provided, but no name was specified\n"),
        ("apply view-last-applied deploy x y", 'Error from server (NotFound): deployments.apps "x" not found\n'),
        ("get deploy.v9.apps nothing", 'Error from server (NotFound): deployments.apps "nothing" not found\n'),
        ("get deployments.v9.apps nothing", 'error: the server doesn\'t have a resource type "deployments"\n'),
    ],
)  # fmt: skip
def test_what_is_told_first(line: str, said: str) -> None:
    done = Kubectl(deployed_world(APP).fork().cluster, NAMESPACE).run(shlex.split(line))
    assert done.stderr == said


NAMELESS = "apiVersion: v1\nkind: ConfigMap\ndata: {a: b}\n"
UNVERSIONED = "kind: ConfigMap\nmetadata: {name: x}\n"
EMPTY = "resource name may not be empty\n"
RETRIEVING = (
    'error: error when retrieving current configuration of:\nResource: "/v1, Resource=configmaps", GroupVersionKind: "/v1, '
    'Kind=ConfigMap"\nName: "", Namespace: "hotel-reservation"\nfrom server for: "STDIN": '
)
NOWHERE = "the server could not find the requested resource\n"


@pytest.mark.parametrize(
    ("line", "stdin", "printed", "said"),
    [
        ("get", NAMELESS, "NAME   AGE\n       <unknown>\n", ""),
        ("get -o name", NAMELESS, "configmap/<unknown>\n", ""),
        ("describe", NAMELESS, "", f"error: {EMPTY}"),
        ("label a=b", NAMELESS, "", f"error: {EMPTY}"),
        ("delete", NAMELESS, "", f'error: error when deleting "STDIN": {EMPTY}'),
        ("replace", NAMELESS, "", f'error: error when replacing "STDIN": {EMPTY}'),
        ("diff", NAMELESS, "", f"error: {EMPTY}"),
        ("apply", NAMELESS, "", f"{RETRIEVING}{EMPTY}"),
        ("apply --server-side", NAMELESS, "", f"error: {EMPTY}"),
        ("apply set-last-applied", NAMELESS, "", f"{RETRIEVING}{EMPTY}"),
        ("describe", UNVERSIONED, "", 'Error from server (NotFound): configmaps "x" not found\n'),
        ("get", UNVERSIONED, "", f"Error from server (NotFound): {NOWHERE}"),
        ("delete", UNVERSIONED, "", f'Error from server (NotFound): error when deleting "STDIN": {NOWHERE}'),
        ("apply --validate=false", UNVERSIONED, "", f'Error from server (NotFound): error when creating "STDIN": {NOWHERE}'),
        ("describe -lapp=x", UNVERSIONED, "", "No resources found in hotel-reservation namespace.\n"),
        ("delete -lapp=x", f"apiVersion: v1\n{UNVERSIONED}", "No resources found\n", ""),
    ],
)  # fmt: skip
def test_what_a_file_does_not_say(line: str, stdin: str, printed: str, said: str) -> None:
    kubectl = Kubectl(deployed_world(APP).fork().cluster, NAMESPACE)
    verb, *rest = shlex.split(line)
    words = ["apply", "set-last-applied"] if rest[:1] == ["set-last-applied"] else [verb]
    done = kubectl.run([*words, "-f", "-", *rest[len(words) - 1 :]], stdin)
    assert (done.stdout, done.stderr) == (printed, said)


@pytest.mark.parametrize(
    "form", ["yaml", "json", "name", "jsonpath={.x}", "go-template={{.x}}", "custom-columns=A:.x"]
)
def test_nothing_is_printed_of_what_may_be_missing(form: str) -> None:
    kubectl = Kubectl(deployed_world(APP).fork().cluster, NAMESPACE)
    for words in (["get", "cm", "x", "y"], ["get", "cm", "-n", "nowhere"]):
        done = kubectl.run([*words, "-o", form, "--ignore-not-found"])
        assert (done.stdout, done.stderr, done.exit_code) == ("", "", 0)


def test_a_pod_is_there_before_the_service_that_exposes_it() -> None:
    world = deployed_world(APP).fork()
    kubectl = Kubectl(world.cluster, NAMESPACE)
    done = kubectl.run(shlex.split("run x --image=nginx --port=80 --expose"))
    assert done.stdout == "service/x created\npod/x created\n"
    of = {
        kind: int(world.cluster.get(kind, "x", NAMESPACE)["metadata"]["resourceVersion"])
        for kind in ("pods", "services")
    }
    assert of["pods"] < of["services"]
    taken = kubectl.run(shlex.split("run frontend --image=nginx --port=80 --expose"))
    assert (taken.stdout, taken.exit_code) == ("pod/frontend created\n", 1)
    assert taken.stderr == 'Error from server (AlreadyExists): services "frontend" already exists\n'


@pytest.mark.parametrize(
    ("template", "flags", "code", "written", "told"),
    [
        ("{{.nothing}}", "", 0, "<no value>", ""),
        ("{{.nothing}}", "--allow-missing-template-keys=false", 1, "", '1:2: executing "output" at <.nothing>: map has no entry for key "nothing"'),
        ("{{.metadata.x.y}}", "--allow-missing-template-keys=false", 1, "", '1:11: executing "output" at <.metadata.x.y>: map has no entry for key "x"'),
        ("a {{  .spec.replicas.y }}", "", 1, "a ", '1:11: executing "output" at <.spec.replicas.y>: can\'t evaluate field y in type interface {}'),
        ("{{with $x := .metadata}}\n{{$x.name.y}}{{end}}", "", 1, "\n", '2:4: executing "output" at <$x.name.y>: can\'t evaluate field y in type interface {}'),
        ("{{if .nothing}}x{{end}}", "--allow-missing-template-keys=false", 1, "", '1:5: executing "output" at <.nothing>: map has no entry for key "nothing"'),
    ],
)  # fmt: skip
def test_a_template_that_fails_says_where(
    template: str, flags: str, code: int, written: str, told: str
) -> None:
    kubectl = Kubectl(deployed_world(APP).fork().cluster, NAMESPACE)
    done = kubectl.run(["get", "deploy", "geo", "-o", f"go-template={template}", *shlex.split(flags)])
    assert done.exit_code == code
    if not code:
        assert (done.stdout, done.stderr) == (written, "")
        return
    assert done.stderr.endswith(f": template: output:{told}\n")
    assert done.stdout.startswith(
        f"{written}Error executing template: template: output:{told}. Printing more information"
    )
    assert done.stdout.count("raw data was:") == 1
    assert (
        '"managedFields":[' in done.stdout
        and "object given to template engine was:\n\t\tmap[apiVersion:apps/v1 " in done.stdout
    )


def test_a_deletion_needs_no_reading() -> None:
    world = deployed_world(APP).fork()
    kubectl = Kubectl(world.cluster, NAMESPACE)
    kubectl.run(shlex.split("create role remover --verb=delete --resource=configmaps"))
    kubectl.run(shlex.split("create rolebinding remover --role=remover --user=jane"))
    kubectl.run(shlex.split("create configmap x"))
    jane = Kubectl(world.cluster.as_user(User("jane", ("system:authenticated",))), NAMESPACE)
    done = jane.run(["delete", "configmap", "x"])
    assert (done.stdout, done.stderr) == ('configmap "x" deleted\n', "")
    assert not [each for each in world.store.list("configmaps", NAMESPACE) if each["metadata"]["name"] == "x"]
    refused = jane.run(["delete", "secret", "x"])
    assert refused.stderr.startswith(
        'Error from server (Forbidden): secrets "x" is forbidden: User "jane" cannot delete'
    )


def test_a_prefix_is_put_before_every_variable() -> None:
    world = deployed_world(APP).fork()
    Kubectl(world.cluster, NAMESPACE).run(shlex.split("set env deploy/geo A=b --prefix=X_"))
    spec = world.cluster.get("deployments.apps", "geo", NAMESPACE)["spec"]["template"]["spec"]
    assert {"name": "X_A", "value": "b"} in spec["containers"][0]["env"]
