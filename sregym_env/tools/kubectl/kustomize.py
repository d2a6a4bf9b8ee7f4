"""``kubectl kustomize`` and the ``-k`` of other commands."""

from __future__ import annotations

from collections.abc import Sequence

from sregym_env.kube.kustomize import KustomizeError, build
from sregym_env.kube.types import Manifest
from sregym_env.kube.yamlout import to_yaml
from sregym_env.tools.kubectl.call import Call, Verb
from sregym_env.tools.kubectl.errors import KubectlError, failure
from sregym_env.tools.kubectl.flags import Flag

ONE_OF = "only one of -f or -k can be specified"
"""The complaint about both kinds of sources at once."""


class _Nothing:
    """The files where there are none."""

    def read_text(self, path: str) -> str:
        """No file is there."""
        raise FileNotFoundError(path)

    def list_files(self, path: str) -> Sequence[str]:
        """No directory is there."""
        return ()


def built(call: Call, folder: str) -> Sequence[Manifest]:
    """The objects of a kustomization, in the order in which they are handled; warnings go to stderr."""
    if call.flags.get("filename"):
        raise failure(ONE_OF)
    try:
        made = build(call.files or _Nothing(), folder, home=getattr(call.files, "folder", "/"))
    except KustomizeError as error:
        # What kubectl calls an error of its own has a prefix; that there is no kustomization is said plainly.
        plain = call.command in ("get", "describe")
        raise KubectlError(str(error) if plain else f"error: {error}") from None
    for warning in made.warnings:
        call.warn(warning)
    if made.ordered and call.command != "kustomize":
        call.warn(
            "I0806 log.go:245] Warning: Sorting order is set both in 'kustomization.yaml' ('sortOptions') and in a CLI "
            "flag ('--reorder'). Using the kustomization file over the CLI flag."
        )
    return made.objects


def run(call: Call) -> None:
    """Print what a kustomization stands for."""
    if len(call.args) > 1:
        raise failure("specify one path to kustomization.yaml")
    text = "---\n".join(to_yaml(obj) for obj in built(call, call.args[0] if call.args else "."))
    if not call.flags["output"]:
        call.print(text)
    elif call.desk is None:
        raise failure(f"open {call.flags['output']}: permission denied")
    else:
        call.desk.write_bytes(call.flags["output"], text.encode())


VERB = Verb(
    "kustomize",
    "Build a kustomization target from a directory or URL",
    run,
    flags=(
        Flag("as-current-user", kind="bool"),
        Flag("enable-alpha-plugins", kind="bool"),
        Flag("enable-helm", kind="bool"),
        Flag("env", "e", kind="strings"),
        Flag("load-restrictor", default="LoadRestrictionsRootOnly"),
        Flag("helm-api-versions", kind="strings"),
        Flag("helm-command", default="helm"),
        Flag("helm-debug", kind="bool"),
        Flag("helm-kube-version"),
        Flag("mount", kind="strings"),
        Flag("network", kind="bool"),
        Flag("network-name", default="bridge"),
        Flag("output", "o", help="If specified, write output to this path."),
    ),
    usage="kustomize DIR [flags] [options]",
    description="Build a set of KRM resources using a 'kustomization.yaml' file.",
)
