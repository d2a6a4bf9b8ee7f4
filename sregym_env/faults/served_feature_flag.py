"""A feature flag that is served with the wrong variant."""

from __future__ import annotations

from sregym_env.cluster.edits import AtBirth, RecreatePods, Substitute
from sregym_env.cluster.targets import FlagTarget, feature_flags
from sregym_env.faults.commands import apply, restart
from sregym_env.faults.drawn import drawn
from sregym_env.faults.fault import Fault, fault


@fault(layer="application", mechanism="feature_flag_enabled", targets=feature_flags(), level="hard")
def served_feature_flag(
    target: FlagTarget,
    variant: str = drawn(
        lambda target, chance: chance.choice("variant", target.flag.variants),
        published=lambda target: target.flag.variants[0],
    ),
) -> Fault:
    """A feature flag that the flag server hands out is on, and the component that asks for it fails in one of its ways.

    The file is read when the server's pod starts: the edit may be days old, and other flags of the file are on for good.
    """
    flag, file, config = target.flag, target.file, target.config
    place = f"{config.name} -n {config.namespace}"
    off = (
        f'.data["{file.key}"] |= (fromjson | .flags.{flag.name}.defaultVariant = "{target.variant}" | tojson)'
    )
    again = restart(target, [file.server])
    return Fault(
        resource=config,
        cause=f"The feature flag {flag.name}, which {file.server} serves to {flag.component}, is on: its default variant in ConfigMap "
        f"{config.name} ({file.key}) is {variant} instead of {target.variant}, so that {flag.effect}.",
        edits=[
            AtBirth(file.server),
            Substitute(config, f"/data/{file.key}", target.entry, target.switched(variant)),
        ],
        trigger=[RecreatePods(file.server)],
        details={"field": flag.name, "wrong": variant, "right": target.variant},
        facts={"server": file.server},
        remedies=[
            [f"kubectl get configmap {place} -o json | jq '{off}' | kubectl apply -f -", *again],
            [apply(target.config_manifest), *again],
        ],
        look=[
            f"kubectl get configmap {place} -o yaml",
            f"kubectl logs -n {config.namespace} deployment/{file.server} --tail=30",
        ],
        accepts=[target.workload_of(file.server)],
        aliases=[flag.name, file.server],
    )
