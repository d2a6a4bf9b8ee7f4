"""Where a team keeps the images it runs, and which builds of them there are: what every family draws alike."""

from __future__ import annotations

from dataclasses import dataclass

from sregym_env.runtime.chance import Chance

_HEX = "0123456789abcdef"
_LETTERS = "abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"

WORDS = ("travel", "stays", "lodging", "booking", "voyage", "roomly", "innkeep", "harbour", "northstar", "meridian",
          "atlas", "wayfare", "acorn", "bluefin", "cobalt", "juniper")  # fmt: skip
"""Names of teams and their products."""


@dataclass(frozen=True, slots=True)
class Builds:
    """One image of the application: what runs, and what else of it has been published."""

    runs: str
    works: tuple[str, ...] = ()
    """References of builds that work here, oldest first, the running one among them."""
    fails: str = ""
    """The reference of one that does not; empty where none is known."""
    versions: tuple[str, ...] = ()
    """Releases that the working references are of, in their order; empty where the program does not say."""
    copies: tuple[str, ...] = ()
    """Other references under which what runs is published."""

    @property
    def all(self) -> tuple[str, ...]:
        """References of everything that works."""
        return self.works or (self.runs,)


@dataclass(frozen=True, slots=True)
class Registry:
    """Where a team keeps its images, and whether it mirrors those of others."""

    own: str
    others: str


_LOCATIONS = ("europe-west1", "us-central1", "asia-southeast1", "europe-north1")
_REGIONS = ("eu-west-1", "eu-central-1", "us-east-1", "us-west-2", "ap-southeast-2", "ca-central-1")


def registry(chance: Chance) -> Registry:
    word, region = chance.choice("word", WORDS), chance.choice("region", _REGIONS)
    account = chance.between("account", 100_000_000_000, 999_999_999_999)
    location = chance.choice("location", _LOCATIONS)
    own = {
        "ecr": f"{account}.dkr.ecr.{region}.amazonaws.com",
        "acr": f"{word}{chance.between('number', 1, 99):02d}.azurecr.io",
        "artifact": f"{location}-docker.pkg.dev/{word}-prod/{chance.choice('folder', ('apps', 'images', 'backend'))}",
        "ghcr": f"ghcr.io/{word}{chance.choice('suffix', ('', '-io', '-labs', 'hq'))}",
        "quay": f"quay.io/{word}",
        "harbor": f"harbor.{word}.{chance.choice('domain', ('internal', 'io', 'corp'))}/{word}",
        "hub": f"{word}{chance.choice('suffix', ('', 'io', 'labs', 'hq'))}",
    }
    kind = chance.weighted("kind", _KINDS)
    mirrors = {
        "harbor": f"{own['harbor'].partition('/')[0]}/dockerhub/library/",
        "ecr": "public.ecr.aws/docker/library/",
    }
    mirrored = kind in mirrors and chance.yes("mirrored", 0.4)
    return Registry(
        own[kind], mirrors[kind] if mirrored else chance.choice("prefix", ("", "", "docker.io/library/"))
    )


_KINDS = {"ecr": 0.2, "acr": 0.12, "artifact": 0.15, "ghcr": 0.2, "quay": 0.05, "harbor": 0.13, "hub": 0.15}
"""Where teams keep their images, as counted (with what is left given to the others)."""


def beside(registry: Registry, repository: str) -> str:
    """Somebody else's repository, in the mirror where there is one."""
    mirror = registry.others.removesuffix("library/")
    return f"{mirror}{repository}" if mirror.startswith("harbor") else repository


def released(chance: Chance, repository: str, versions: tuple[str, ...], fails: str = "") -> Builds:
    """Three or so releases in a row, of which the last or the one before runs."""
    count = chance.between("count", 2, 4)
    first = chance.below("first", len(versions) - count + 1)
    chosen = versions[first : first + count]
    runs = chosen[-1] if chance.yes("newest", 0.7) else chosen[-2]
    return Builds(
        f"{repository}:{runs}", tuple(f"{repository}:{version}" for version in chosen), fails, chosen
    )


def login(chance: Chance, host: str, owner: str) -> str:
    """``user:password`` of an account that may only pull, as such are called in a registry."""
    secret = text(chance, "secret", 40, _LETTERS)
    if ".dkr.ecr." in host:
        return f"AWS:{text(chance, 'token', 120, _LETTERS)}"
    if host.endswith(".azurecr.io"):
        return f"{owner}-pull:{secret}"
    if host.endswith(".pkg.dev") or host == "gcr.io":
        return f"oauth2accesstoken:ya29.c.{text(chance, 'token', 100, _LETTERS)}"
    if host == "ghcr.io":
        return f"{owner}-bot:ghp_{secret[:36]}"
    if host == "quay.io":
        return f"{owner}+pull:{secret.upper()}"
    if host == "docker.io":
        return f"{owner}ci:dckr_pat_{secret[:27]}"
    return f"robot${owner}+pull:{secret[:32]}"


def tags(chance: Chance) -> list[str]:
    """Tags of builds with what stands before them, oldest first: those that work, then one more."""
    count = chance.between("count", 4, 8)
    style = chance.weighted("style", _TAG_STYLES)
    hashes = [text(chance, f"hash-{n}", 7, _HEX) for n in range(count)]
    if style == "counter":
        number = chance.between("number", 11, 900)
        return [f":v{number + n}" for n in _climb(chance, count)]
    if style == "hash":
        return [f":{each}" for each in hashes]
    if style == "dated":
        name = chance.choice("environment", ("prod", "main", "release"))
        month = chance.between("month", 1, 9)
        return [
            f":{name}-{each}-2025{month + n // 3:02d}{1 + n % 3 * 9 + chance.below(f'day-{n}', 8):02d}"
            f"{chance.between(f'hour-{n}', 7, 18):02d}{chance.below(f'minute-{n}', 60):02d}"
            f"{chance.below(f'second-{n}', 60):02d}"
            for n, each in enumerate(hashes)
        ]
    major, minor = chance.between("major", 0, 5), chance.between("minor", 1, 30)
    letter = chance.choice("letter", ("", "", "v"))
    versions = [f":{letter}{major}.{minor + n // 3}.{n % 3}" for n in _climb(chance, count)]
    if style == "latest":
        return [*versions[:-2], ":latest", versions[-1]]
    if style == "digest":
        return [
            f"{version}@sha256:{text(chance, f'digest-{n}', 64, _HEX)}" for n, version in enumerate(versions)
        ]
    return versions


_TAG_STYLES = {"semver": 0.35, "counter": 0.2, "hash": 0.2, "dated": 0.15, "latest": 0.05, "digest": 0.05}


def _climb(chance: Chance, count: int) -> list[int]:
    """Numbers that grow by one or two."""
    found = [0]
    for step in range(count - 1):
        found.append(found[-1] + chance.between(f"step-{step}", 1, 2))
    return found


def text(chance: Chance, name: str, length: int, letters: str) -> str:
    """Random letters, ten for every draw."""
    found = ""
    for part in range(0, length, 10):
        left = chance.bits(f"{name}-{part}")
        for _ in range(10):
            left, letter = divmod(left, len(letters))
            found += letters[letter]
    return found[:length]
