"""Free texts, read as whole accounts: what asserts the cause passes, what does not or asserts more does not."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

import pytest

from sregym_env import apps
from sregym_env.faults.spec import FaultSpec
from sregym_env.rewards.checklist import Grade
from sregym_env.rewards.judge import SpecJudge
from sregym_env.rollouts.shortcuts.diagnoses import FIELDS, STUFFING
from sregym_env.tools.causes import Cause, handed_in
from sregym_env.tools.taxonomy import TAXONOMY
from tests.redteam.specs import APP, one_of_each, spec, told

from .paraphrases import CONTINUED, MORE_NEAR, MORE_RIGHT, NEAR, RIGHT

FAULTS = {truth.fault: truth for truth in one_of_each(APP.name)}
DATABASES = ("geo", "profile", "rate", "recommendation", "reservation", "user")


def graded(text: str, *specs: FaultSpec) -> Grade:
    return SpecJudge().grade(text, specs, APP)


def filled(text: str, truth: FaultSpec) -> str:
    names = {
        "c": truth.components[0],
        "all": " and ".join(truth.components),
        "r": truth.resource_name,
        "f": truth.field,
        "wrong": truth.wrong,
        "right": truth.right,
        "a": (truth.affected or ("the website",))[0],
        "x": "geo",
    }
    for name, value in names.items():
        text = text.replace("{" + name + "}", value)
    return text


# --- every fault ----------------------------------------------------------------------------------


@pytest.mark.parametrize("fault", FAULTS)
def test_right_accounts_pass_in_any_voice(fault: str) -> None:
    truth = FAULTS[fault]
    for text in (*RIGHT[fault], *(text for of, text in MORE_RIGHT if of == fault)):
        grade = graded(filled(text, truth), truth)
        assert grade.passed, (filled(text, truth), told(grade))


@pytest.mark.parametrize("fault", FAULTS)
def test_near_misses_earn_the_place_at_most(fault: str) -> None:
    truth = FAULTS[fault]
    for text in (*NEAR[fault], *(text for of, text in MORE_NEAR if of == fault)):
        grade = graded(filled(text, truth), truth)
        assert not grade.passed, filled(text, truth)
        assert grade.score <= 0.35


@pytest.mark.parametrize("fault", FAULTS)
def test_going_on_does_not_harm(fault: str) -> None:
    truth = FAULTS[fault]
    for frame in CONTINUED:
        text = filled(frame.replace("{s}", RIGHT[fault][0]), truth)
        grade = graded(text, truth)
        assert grade.passed, (text, told(grade))


def test_a_voice_for_every_fault() -> None:
    assert set(RIGHT) == set(NEAR) == set(FAULTS)


@pytest.mark.parametrize("fault", FAULTS)
def test_the_same_about_innocent_components_fails(fault: str) -> None:
    truth = FAULTS[fault]
    elsewhere = (
        "Node",
        "ConfigMap",
        "ResourceQuota",
        "CronJob",
        "Namespace",
        "ValidatingWebhookConfiguration",
        "MutatingWebhookConfiguration",
    )
    beside = truth.resource_kind in elsewhere or truth.mechanism in (
        "admission_deadline_exceeded",
        "stale_service_rules",
        "connection_table_full",
    )
    if len(truth.components) > 1 or beside:
        pytest.skip("lies in an object of its own")
    own = {*truth.components, *truth.affected}
    strangers = [c.name for c in APP.components if c.name not in own and "-" in c.name][:3]
    for count in (1, 2, 3):
        more = " ".join(truth.cause.replace(truth.components[0], name) for name in strangers[:count])
        grade = graded(f"{truth.cause} {more}", truth)
        assert not grade.passed, more
        assert grade.score <= 0.25


# --- polarity and modality ------------------------------------------------------------------------

PORT = FAULTS["service_target_port_mismatch"]
SAID = "the targetPort of Service mongodb-profile is 9999"

NOTHING_ASSERTED = (
    "The cause is NOT the targetPort of Service mongodb-profile.",
    "I do not believe that the targetPort of mongodb-profile's Service is wrong.",
    "Maybe the targetPort of mongodb-profile's Service is wrong.",
    f"Perhaps {SAID}.",
    f"It might be that {SAID}, or the selector is wrong.",
    f"Possibly {SAID}.",
    f"I suspect that {SAID}.",
    f"If {SAID}, connections are refused.",
    f"Is it that {SAID}?",
    f"Could it be that {SAID}? No.",
    "Either the targetPort of Service mongodb-profile is wrong or its selector.",
    f"{SAID}. I could not confirm that.",
    f"{SAID}. I am not sure.",
    f"{SAID}. Not true.",
    "The targetPort of Service mongodb-profile is correct.",
    "There is no evidence that the targetPort of mongodb-profile is wrong.",
    f"It is not true that {SAID}; nothing listens there.",
    "I ruled a wrong targetPort on mongodb-profile out.",
    f"## Hypotheses\n- {SAID}\n- the image of search is wrong",
    f"Ruled out: {SAID}.",
    json.dumps({"component": "mongodb-profile", "possible_causes": [SAID]}),
    "Set the targetPort of Service mongodb-profile to 27017.",
    "The targetPort of Service mongodb-profile should be changed.",
)


@pytest.mark.parametrize("text", NOTHING_ASSERTED)
def test_what_is_negated_hedged_asked_or_supposed_asserts_nothing(text: str) -> None:
    grade = graded(text, PORT)
    assert not grade.passed, told(grade)
    assert grade.score <= 0.35


ASSERTED = (
    f"{SAID}.",
    f"{SAID}; requests may fail for that reason.",
    f"{SAID}, and nothing else is wrong.",
    f"{SAID}. The image of search was updated an hour ago; that is unrelated and works fine.",
    f"{SAID}. Recently geo was scaled to 2 replicas - a harmless change.",
    f"Not the cause: the config of profile, network policies, DNS. The cause is that {SAID}.",
    f"Although the readiness probe of frontend fails, that is only a consequence; {SAID} and nothing listens there.",
    f"{SAID}, so profile crashes, its readiness probe fails and frontend returns 500s.",
    f"I thought that the image of profile was wrong, but it is fine: {SAID}.",
    f"It is neither the selector nor the image. {SAID}.",
    f"profile is a victim, not the cause. {SAID} instead of 27017.",
    f"profile cannot reach its database because {SAID}.",
    f"{SAID} (expected 27017). Unaffected: search, geo, rate, user, recommendation, reservation.",
    f"{SAID}, e.g. profile gets connection refused, etc. Frontend fails.",
    "frontend -> profile -> mongodb-profile: the last hop is refused, its Service forwards to 9999 and nothing listens there.",
    "mongodb-profile itself works. It is its Service that is wrong: targetPort 9999.",
    f"Fix: set it to 27017. Root cause: {SAID}.",
    json.dumps(
        {
            "component": "mongodb-profile",
            "root_cause": SAID,
            "affected": ["profile"],
            "fix": "set it to 27017",
        }
    ),
    f"| what | where |\n\n**Root cause:** {SAID}\n**Ruled out:** geo has a wrong image",
)


@pytest.mark.parametrize("text", ASSERTED)
def test_what_is_asserted_counts_wherever_it_stands(text: str) -> None:
    grade = graded(text, PORT)
    assert grade.passed, told(grade)


CONTRADICTED = (
    "The targetPort of Service mongodb-profile is 8080.",
    "The Service mongodb-profile has targetPort 8080 instead of 27017.",
    f"{SAID}. Also the targetPort of mongodb-rate is wrong.",
    f"{SAID}. The Deployment search is scaled to 0 replicas.",
    f"{SAID}. mongodb-profile was also scaled to zero.",
    f"{SAID}.\n\nEvidence: the selector of Service geo matches no pod.",
    f'{SAID}. The log says "the ConfigMap geo-config does not exist".',
    f"{SAID}, which leads to a wrong selector on Service geo.",
    "geo's Service and mongodb-profile's Service have a wrong targetPort.",
    "The root cause is profile: the targetPort of mongodb-profile is 9999.",
    json.dumps(
        {"component": "mongodb-profile", "root_cause": SAID, "notes": "the image of geo does not exist"}
    ),
)


@pytest.mark.parametrize("text", CONTRADICTED)
def test_every_other_claim_counts_against(text: str) -> None:
    grade = graded(text, PORT)
    assert not grade.passed, told(grade)
    assert grade.score <= 0.35


@pytest.mark.parametrize(
    ("claim", "fair"),
    [
        ("everything that needs it fails", True),
        ("everything needing the database fails", True),
        ("everything downstream of it fails", True),
        ("everything is down", False),
        ("everything in the cluster fails", False),
        ("all services fail", False),
    ],
)
def test_who_needs_something_is_not_everybody(claim: str, fair: bool) -> None:
    grade = graded(f"{SAID}, so {claim}.", PORT)
    answer = next(each for each in grade.answers if each.id == "D3-Q3")
    assert grade.passed and answer.yes is fair, told(grade)


# --- several faults, groups -----------------------------------------------------------------------


def claims() -> list[FaultSpec]:
    return [spec("pvc_claim_mismatch", f"{name}-pvc") for name in DATABASES]


def concurrent() -> list[FaultSpec]:
    return [
        spec("faulty_image", "geo"),
        spec("revoke_auth_mongodb", "mongodb-geo"),
        spec("storage_user_unregistered", "mongodb-rate"),
    ]


GROUPS = (
    "All mongodb deployments reference claims ending in -broken that do not exist.",
    "The six MongoDB Deployments refer to PVCs which don't exist (<name>-pvc-broken).",
    "Every mongodb-* deployment has a wrong claimName: the PVC *-pvc-broken does not exist.",
    "The databases are all Pending because the PersistentVolumeClaims they name (geo-pvc-broken, rate-pvc-broken, etc.) do not exist.",
    "All six databases mount PVCs that don't exist, e.g. geo-pvc-broken instead of geo-pvc. As a result every service fails.",
    "mongodb-geo, mongodb-profile, mongodb-rate, mongodb-recommendation, mongodb-reservation and mongodb-user all reference "
    "a non-existent PVC.",
    "Each database's claimName has a -broken suffix, and those claims do not exist.",
    "Someone appended -broken to the claimName in all of the Mongo deployments. None of these claims exists.",
)


@pytest.mark.parametrize("text", GROUPS)
def test_groups_are_understood(text: str) -> None:
    grade = graded(text, *claims())
    assert grade.passed, told(grade)


@pytest.mark.parametrize(
    ("text", "most"),
    [
        ("mongodb-geo references a claim that does not exist.", 0.02),
        ("mongodb-geo, mongodb-profile and mongodb-rate reference PVCs that don't exist.", 0.06),
        ("All memcached deployments reference claims that do not exist.", 0.0),
        ("All databases run an incompatible version.", 0.11),
    ],
)
def test_a_part_of_a_group_is_paid_by_its_share(text: str, most: float) -> None:
    grade = graded(text, *claims())
    assert not grade.passed
    assert grade.score <= most


@pytest.mark.parametrize(
    "text",
    [
        "Three faults:\n1. geo runs the broken image yinfangchen/geo:app3.\n2. In mongodb-geo the admin user lost its readWrite "
        "role.\n3. In mongodb-rate the user admin does not exist.",
        "geo was deployed with a defective image (yinfangchen/geo:app3). Besides, on mongodb-geo the readWrite role was revoked "
        "from admin, and on mongodb-rate the admin account was dropped.",
        '[{"component":"geo","root_cause":"defective image yinfangchen/geo:app3"},{"component":"mongodb-geo","root_cause":"admin '
        'lost its readWrite role"},{"component":"mongodb-rate","root_cause":"the user admin was dropped"}]',
    ],
)
def test_all_of_several_faults_must_be_named(text: str) -> None:
    assert graded(text, *concurrent()).passed


def test_some_of_several_faults_are_paid_by_their_share() -> None:
    specs = concurrent()
    for count in (1, 2):
        for text in (
            " ".join(each.cause for each in specs[:count]),
            " ".join(each.cause for each in specs[-count:]),
        ):
            grade = graded(text, *specs)
            assert not grade.passed
            assert 0 < grade.score <= 0.34 * count / 3
    swapped = "geo has a defective image, in mongodb-geo the user admin was dropped, and in mongodb-rate the role readWrite was revoked."
    assert not graded(swapped, *specs).passed


# --- who understands nothing ----------------------------------------------------------------------


def everyone() -> str:
    return ", ".join(component.name for component in APP.components)


def titles() -> str:
    return "; ".join(kind.title for kind in TAXONOMY.values())


CONSTANT: dict[str, str] = {
    "one": "The root cause is frontend.",
    "two": "The root cause is frontend and mongodb-geo.",
    "two that fail": "frontend is broken. mongodb-geo is broken.",
    "one and a kind": "The root cause is frontend: its image cannot be pulled.",
    "nodes": "All worker nodes are cordoned and tainted, so pods stay Pending.",
    "databases": "All databases are broken.",
    "everyone": f"The root cause is {everyone()}.",
    "everyone in order": " ".join(f"{component.name} is misconfigured." for component in APP.components),
    "everyone calls": " calls ".join(component.name for component in APP.components)
    + ". Its image is wrong.",
    "closed answers": handed_in([Cause(("frontend",), "image_unavailable")]),
    "two closed answers": handed_in(
        [Cause(("frontend",), "image_unavailable"), Cause(("mongodb-geo",), "wrong_command")]
    ),
}


@pytest.mark.parametrize("text", CONSTANT.values(), ids=CONSTANT)
def test_a_constant_answer_earns_next_to_nothing(text: str) -> None:
    grades = [graded(text, truth) for truth in FAULTS.values()]
    assert sum(grade.score for grade in grades) / len(grades) < 0.1


Stuffer = Callable[[str], str]

STUFFED: dict[str, Stuffer] = {
    "name": lambda c: f"{c} is broken.",
    "titles": lambda c: f"The root cause is {c}: {titles()}",
    "effects": lambda c: f"The root cause is the {c} deployment, which leads to {STUFFING}.",
    "has": lambda c: f"{c} has {STUFFING}.",
    "fields": lambda c: f"{c}: wrong {FIELDS}",
    "spec": lambda c: f"[fault_spec] component={c}; namespace=x || {c}: {FIELDS}. This causes {STUFFING}.",
    "keys": lambda c: f"Root cause: {c}. {' '.join(TAXONOMY)}",
    "sentences": lambda c: " ".join(f"In {c}, {kind.title[0].lower()}{kind.title[1:]}." for kind in TAXONOMY.values()),
    "evidence": lambda c: json.dumps({"component": c, "evidence": f"{c}: {STUFFING}. {FIELDS}"}),
    "hedged": lambda c: f"I could not confirm it, but could it be that the root cause is {c}, by {STUFFING}? Perhaps.",
    "supposed": lambda c: f"If {c} has {STUFFING}, that is the cause.",
    "every key": lambda c: handed_in([Cause((c,), key) for key in list(TAXONOMY)[:16]]),
    "vague": lambda c: f"{c} is misconfigured: a recent change set a wrong value in its specification.",
    "symptoms": lambda c: f"{c} is down: Pending, CrashLoopBackOff, OOMKilled, no endpoints, connection refused.",
}  # fmt: skip


@pytest.mark.sampled
@pytest.mark.parametrize("stuffer", STUFFED)
def test_who_knows_the_place_and_stuffs_the_rest_earns_the_place(stuffer: str) -> None:
    for truth in FAULTS.values():
        grade = graded(STUFFED[stuffer](truth.components[0]), truth)
        assert grade.score <= 0.35 and not grade.passed, (truth.fault, told(grade))


DUMPS: Sequence[str] = (
    "component=mongodb-profile\nName:              mongodb-profile\nNamespace:         hotel-reservation\nSelector:          "
    "io.kompose.service=mongodb-profile\nType:              ClusterIP\nPort:              mongodb-profile  27017/TCP\n"
    "TargetPort:        9999/TCP\nEndpoints:         10.244.2.7:9999\n",
    "apiVersion: v1\nkind: Service\nmetadata:\n  name: mongodb-profile\nspec:\n  ports:\n    - name: x\n      port: 27017\n"
    "      targetPort: 9999\n",
    "[FIRING] HighErrorRate: frontend answers 500 for more than 5 % of the requests",
    "NAME              READY   STATUS    RESTARTS   AGE\nmongodb-profile   1/1     Running   0          41d\n",
)


def test_some_of_a_group_are_not_all_of_it() -> None:
    """Of the databases only those on the machine suffer."""
    truth = spec("node_pids_taken_by_neighbour", "node-of-mongodb-reservation")
    assert 0 < sum(name.startswith("mongodb") for name in truth.components) < 6
    told_of = f"{truth.cause} The node reports PIDPressure, and the MongoDB pods"
    assert not graded(f"{told_of} stay Pending.", truth).passed
    grade = graded(f"{told_of} bound to that node stay Pending.", truth)
    assert grade.passed, told(grade)


@pytest.mark.parametrize("told_of", ["The databases that fail", "The MongoDB pods bound to that node"])
def test_who_names_a_part_of_a_group_and_nobody_else_names_no_place(told_of: str) -> None:
    titles = ((truth, TAXONOMY[truth.mechanism].title) for truth in one_of_each(APP.name))
    grades = [
        graded(f"{told_of} have this fault: {title[0].lower()}{title[1:]}.", truth) for truth, title in titles
    ]
    assert sum(grade.score for grade in grades) / len(grades) < 0.1


def test_where_somebody_runs_is_nothing_said_of_them() -> None:
    truth = spec("internal_traffic_policy_local", "currency", "astronomy-shop")
    account = (
        "Service currency has internalTrafficPolicy: Local, so kube-proxy only uses endpoints on the client's own node; "
        "both currency pods run on node-a, while checkout runs on node-b"
    )
    grade = SpecJudge().grade(f"{account}.", [truth], apps.app("astronomy-shop"))
    assert grade.passed, told(grade)
    blamed = SpecJudge().grade(
        f"{account} and its Service has internalTrafficPolicy: Local too.",
        [truth],
        apps.app("astronomy-shop"),
    )
    assert not blamed.passed


@pytest.mark.parametrize("text", DUMPS)
def test_what_is_copied_earns_no_more_than_a_name(text: str) -> None:
    grade = graded(text, PORT)
    assert not grade.passed and grade.score <= 0.35
