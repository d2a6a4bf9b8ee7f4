"""What is copied is told from what is said, and what acquits from what accuses, by general English alone."""

from __future__ import annotations

import time

import pytest

from sregym_env.rewards.reading import output
from sregym_env.rewards.reading.polarity import acquittals, alternative, disputes, leaning


@pytest.mark.parametrize(
    "block",
    [
        "NAME     READY   UP-TO-DATE   AVAILABLE   AGE\nconsul   0/0     0            0           12d",
        "spec:\n  ports:\n  - name: http\n    targetPort: 9999",
        "root@ws:~# kubectl get deploy consul\napp-image:latest",
        "Message: secret not found\nReason: CreateContainerConfigError",
        '{"kind":"Deployment","metadata":{"name":"consul"}}',
        "Name: consul\nSelector: app=consul\nType: ClusterIP\nPort: 8500/TCP\nEndpoints: <none>",
        "Warning  Failed  4m  kubelet  Error: ErrImagePull",
    ],
)
def test_output_is_told_by_its_form(block: str) -> None:
    assert all(output.copied(block.split("\n")))


@pytest.mark.parametrize(
    "block",
    [
        "Component: consul\nCause: the selector asks for a label that no pod has",
        "consul is scaled to 0 replicas.",
        "Root cause: readinessProbe asks 8080, nothing is there",
    ],
)
def test_what_people_write_is_none(block: str) -> None:
    assert not any(output.copied(block.split("\n")))


def test_a_message_within_a_sentence_is_blanked_and_the_rest_stays() -> None:
    said = output.without_messages("it logs rpc error: code notfound - the image is gone")
    assert said.startswith("it logs ") and said.endswith(" - the image is gone") and "notfound" not in said
    assert len(said) == len("it logs rpc error: code notfound - the image is gone")


@pytest.mark.parametrize(
    "text",
    [
        "and it is meant to",
        "that leaves it ample room",
        "the probe succeeds each time",
        "it played no part in the outage",
        "anyone suggesting so is mistaken",
        "nobody took anything away",
    ],
)
def test_what_acquits(text: str) -> None:
    assert acquittals(text)


@pytest.mark.parametrize(
    "text",
    [
        "the pod fits nowhere",
        "with false it works",
        "it is not enough for it",
        "one surge was enough to fill the queue",
        "before the change it worked",
        "the service has no endpoints",
    ],
)
def test_what_does_not(text: str) -> None:
    assert not acquittals(text)


def test_doubt_dispute_and_alternatives() -> None:
    assert leaning("take it with a grain of salt") and leaning("were the secret absent, it would hang")
    assert not leaning("the secret is absent, so it hangs")
    assert disputes("it is hereby declared irrelevant") and not disputes("every query is denied")
    assert alternative("or perhaps the node is down") and not alternative("the node is down")


@pytest.mark.parametrize(
    "piece", ["@:", "a.", "a=1", "  x", "it is ", "- a: ", "error creating: ", "not ", "{["]
)
def test_hostile_texts_take_no_time(piece: str) -> None:
    text = piece * (8_000 // len(piece))
    began = time.process_time()
    output.copied([text])
    output.without_messages(text)
    acquittals(text[:1_500])
    leaning(text[:1_500])
    assert time.process_time() - began < 2.0
