"""What lies around: settings and Secrets that nobody reads, and tasks that run by night."""

from __future__ import annotations

from base64 import b64encode

from sregym_env.kube.types import Manifest
from sregym_env.runtime.chance import Chance
from sregym_env.worlds.tenants.tasks import equipped
from sregym_env.worlds.variation import words
from sregym_env.worlds.variation.draft import Draft

_MAPS = ("feature-flags", "legacy-settings", "grafana-dashboard", "nginx-snippets", "release-notes", "email-templates",
         "alert-rules", "maintenance-page", "log-levels", "rate-plan-import", "smoke-tests")  # fmt: skip
_SECRETS = ("old-api-keys", "wildcard-tls-2024", "smtp-relay", "ci-deploy", "slack-webhook", "payment-sandbox",
            "backup-bucket", "sftp-partner")  # fmt: skip
_TASKS = ("cleanup-sessions", "nightly-export", "rotate-reports", "cache-statistics", "invoice-digest", "data-quality",
          "sitemap", "usage-report")  # fmt: skip

SCHEDULES = {"0 2 * * *": 0.2, "30 1 * * *": 0.15, "15 3 * * *": 0.15, "45 4 * * *": 0.1, "0 3 * * 0": 0.15,
             "0 6 * * 1": 0.15, "10 5 1 * *": 0.1}  # fmt: skip
"""By night, once a week or once a month: what runs every few minutes runs a thousand times in a past."""


def draw(draft: Draft, chance: Chance) -> None:
    """Unread ConfigMaps and Secrets, CronJobs."""
    for namespace in draft.namespaces:
        own = chance.at("leftovers", namespace)
        for stem in words.some(own, "maps", _MAPS, 1.3):
            value = words.text(own.at(stem), "value", own.between(f"length {stem}", 12, 60))
            draft.start_with(
                words.named("ConfigMap", _name(draft, own, stem), namespace, data={_key(own, stem): value})
            )
        for stem in words.some(own, "secrets", _SECRETS, 0.9):
            value = b64encode(words.text(own.at(stem), "value", 32).encode()).decode()
            made = words.named(
                "Secret", _name(draft, own, stem), namespace, type="Opaque", data={"value": value}
            )
            draft.start_with(made)
        for stem in words.some(own, "tasks", _TASKS, 0.6):
            draft.end_with(_task(_name(draft, own, stem), namespace, own.at(stem)))


def _name(draft: Draft, chance: Chance, stem: str) -> str:
    """Some teams begin every name with the application's, some tools end them in a hash."""
    name = f"{draft.app.name}-{stem}" if chance.yes("prefixed", 0.4) else stem
    return (
        f"{name}-{words.text(chance.at(stem), 'hash', 10, words.SUFFIX)}"
        if chance.yes("hashed", 0.2)
        else name
    )


def _key(chance: Chance, stem: str) -> str:
    return chance.choice(f"key {stem}", ("config.yaml", "settings.json", "data", "values.properties"))


def _task(name: str, namespace: str, chance: Chance) -> Manifest:
    seconds = chance.between("seconds", 5, 80)
    container = {
        "name": chance.choice("container", ("task", "job", "run")),
        "image": f"busybox:{chance.choice('tag', ('1.36', '1.35', '1.37'))}",
        "command": ["sh", "-c", f"echo starting {name}; sleep {seconds}; echo finished {name}"],
        "resources": {
            "requests": {"cpu": "10m", "memory": "16Mi"},
            "limits": {"cpu": "100m", "memory": "64Mi"},
        },
    }
    pod = {
        "containers": [container],
        "restartPolicy": chance.choice("restart", ("Never", "OnFailure")),
    }
    pod = equipped(pod, chance)
    labels = {"task": name}
    template = {"metadata": {"labels": labels}, "spec": pod}
    job: Manifest = {"spec": {"backoffLimit": 1, "template": template}}
    if chance.yes("labelled", 0.4):
        job["metadata"] = {"labels": labels}
    spec: Manifest = {
        "schedule": chance.weighted("schedule", SCHEDULES),
        "concurrencyPolicy": chance.choice("concurrency", ("Forbid", "Replace", "Allow")),
        "successfulJobsHistoryLimit": chance.choice("kept", (1, 2, 3)),
        "jobTemplate": job,
    }
    if chance.yes("suspended", 0.12):
        spec["suspend"] = True
    return words.named("CronJob", name, namespace, "batch/v1", spec=spec)
