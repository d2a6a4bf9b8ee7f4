"""The concrete details of a fault: its field, its values and its objects, as people and manifests write them."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property, lru_cache

from sregym_env.faults.spec import FaultSpec
from sregym_env.kube.quantity import bytes_
from sregym_env.rewards.names import plain

_COMMON = frozenset(
    "true false none null 0 1 admin the of on in to and is returns reads waits wait for latest role user roles http with "
    "from that env anyuid default command sh -c exec matchexpressions values exists notin doesnotexist key matchlabels".split()
)
"""Words of details that stand in any text."""

_NAMED_OBJECTS = frozenset(
    {"network_policy_isolation", "quota_blocks_pods", "missing_configmap", "webhook_unreachable", "recurring_overwrite",
     "shrunk_at_admission", "table_lock_held", "outdated_build_serves", "missing_permission", "wrong_source_of_truth",
     "registry_login_refused", "jobs_never_end", "autoscaler_counts_others", "proxy_upstream_unresolved"}
)  # fmt: skip
"""Mechanisms whose object is there, or gone, under a name that tells it."""

_NAMED_ALIASES = frozenset(
    {"blocked_init_container", "missing_secret", "missing_service_account", "port_conflict"}
)
"""Mechanisms whose fault lies in something beside the object that has a name of its own."""

ABSENT = frozenset(
    ("", "-", "none", "null", "nil", "absent", "missing", "deleted", "removed", "empty", "gone", "unset", "n/a", "revoked", "dropped",
     "does not exist", "not found", "nothing", "<none>", "[]", "{}", "not set", "(absent)", "(none)", "lost", "doesn't exist", "nonexistent", "missing key")
)  # fmt: skip
"""How one says that something is not there."""

_QUANTITY = re.compile(
    r"(?<![\w.:/-])(\d+(?:\.\d+)?) ?(mebibytes?|megabytes?|gibibytes?|gigabytes?|millicores?|cores?|cpus?|[kmgt]i?b|[kmgt]i|[kmg]|m)(?![\w/-])"
)
_UNITS = {
    "mebibyte": 2**20,
    "megabyte": 10**6,
    "gibibyte": 2**30,
    "gigabyte": 10**9,
    "millicore": 1,
    "core": 1000,
    "cpu": 1000,
}


@dataclass(frozen=True)
class Details:
    """What a text may give of one fault."""

    spec: FaultSpec
    known: frozenset[str] = frozenset()
    """Names of the application's components, which tell nothing in a value."""

    @cached_property
    def field_words(self) -> tuple[str, ...]:
        """Names of the field that was changed, lower case."""
        whole = self.spec.field.lower()
        parts = [part for part in re.split(r"[./\[\]\s]+", whole) if len(part) > 2 and not part.isdigit()]
        leaf = parts[-1:] if "." in whole or "/" in whole else []
        spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", self.spec.field).lower()
        return tuple(dict.fromkeys(word for word in (whole, spaced, *leaf) if len(word) > 2))

    @cached_property
    def values(self) -> tuple[str, ...]:
        """Telling values: the wrong one whole and in parts, the name of what is missing, other names of the place."""
        spec = self.spec
        found = [spec.wrong, *_parts(spec.wrong)]
        if not spec.wrong:
            found += [spec.right, *(part for part in _parts(spec.right) if not part.isdigit())]
        found += self._own_key
        if spec.mechanism == "incompatible_version":
            # "8.0" for mongo:8.0.14-rc0.
            found += re.findall(r"(?<=:)\d+\.\d+", spec.wrong)
        # A wrong command may be another component's; all else that is a component's name tells nothing.
        own = {name.lower() for name in (*spec.components, *spec.affected, *self.known)} - {
            spec.wrong.lower()
        }
        if spec.mechanism in _NAMED_OBJECTS:
            found.append(spec.resource_name)
        if spec.mechanism in _NAMED_ALIASES:
            found += [name for name in spec.aliases if "-" in name and not name.startswith("hotel-")]
        return tuple(
            dict.fromkeys(word for each in found if _telling(word := plain(each).strip()) and word not in own)
        )

    @cached_property
    def _own_key(self) -> list[str]:
        # A key that is gone is its own detail.
        return (
            [self.spec.field]
            if self.spec.mechanism
            in ("missing_config_key", "missing_variable", "wrong_variable", "feature_flag_enabled")
            else []
        )

    @cached_property
    def rights(self) -> tuple[str, ...]:
        """The healthy value and its parts."""
        return tuple(
            dict.fromkeys(
                word
                for each in (self.spec.right, *_parts(self.spec.right))
                if _telling(word := plain(each).strip())
            )
        )

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where a plain text gives a telling value."""
        found = [match.span() for value in self.values for match in _word(value).finditer(text)]
        wrong = quantity(self.spec.wrong)
        if wrong is not None:
            found += [match.span() for match in _QUANTITY.finditer(text) if quantity(match.group()) == wrong]
        return sorted(set(found))

    def given(self, text: str) -> str:
        """A detail that a plain text gives, field or value; empty if none."""
        whole = [plain(value) for value in (self.spec.wrong, self.spec.right) if len(value) > 2]
        for word in (*self.values, *self.field_words, *self.rights, *whole):
            if _word(word).search(text):
                return word
        return self.spec.wrong if self.spans(text) or self._paired(text) else ""

    def _paired(self, text: str) -> bool:
        """Whether a field and a value that are too short to tell anything by themselves stand side by side."""
        field, wrong = plain(self.spec.field), plain(self.spec.wrong)
        if not field or not wrong:
            return False
        between = r"(?:=|: ?| (?:(?:is|was|of|at|to|now|set|has been|been) ){1,3})"
        return bool(
            re.search(rf"(?<![\w-]){re.escape(field)}{between}{re.escape(wrong)}(?![\w-])(?!\.\d)", text)
        )

    def contradicted(self, text: str) -> str:
        """A value of the wrong one's sort that a plain text gives instead of it; empty if there is none."""
        if self._turned_round(text):
            return self.spec.wrong
        told = plain(f"{self.spec.cause} {self.spec.wrong} {self.spec.right}")
        wrong = _in_pairs(plain(self.spec.wrong))
        named = plain(self.spec.field) if not self.spec.wrong or self.spec.mechanism in _NAMED_FIELDS else ""
        for sort in self._sorts:
            said = {_canonical(match.group()): match.group() for match in sort.finditer(text)}
            known = {_canonical(match.group()) for match in sort.finditer(f"{told} {named}")}
            own = {_canonical(match.group()) for match in sort.finditer(f"{wrong} {named}")} or (
                known if self.spec.mechanism == "port_conflict" else set()
            )
            if sort in (_QUANTITY, _RATE, _SHARE) and own and said and not any(_among(v, own) for v in said):
                # Nothing but the healthy value is given, and not as one that was: "its limit is 1000m".
                if not _BEFORE.search(text):
                    return next(iter(said.values()))
            others = [word for value, word in said.items() if not _among(value, known)]
            if own and others and not any(_among(value, own) for value in said):
                return others[0]
        return ""

    def stranger(self, text: str) -> str:
        """A name or value in a plain text with components masked, which gives none of the fault's own, that is unknown to it."""
        if not self.values:
            return ""
        spec = self.spec
        known = plain(
            " ".join(
                (
                    spec.cause,
                    spec.wrong,
                    spec.right,
                    spec.field,
                    spec.resource_name,
                    spec.namespace,
                    *spec.aliases,
                )
            )
        )
        known = _in_pairs(known)
        found = [match.group().rstrip(".") for match in _IDENTIFIER.finditer(text)]
        return next((word for word in found if word not in known), "")

    def _turned_round(self, text: str) -> bool:
        """Whether the wrong value is called the right one, or the right one the wrong."""
        wrong, right = plain(self.spec.wrong), plain(self.spec.right)
        if right.isalpha() and wrong and not self.spans(text):
            # "internalTrafficPolicy is Cluster, the default"
            field = re.escape(plain(self.spec.field))
            said = rf"(?<![\w-]){field}(?: \S+){{0,3}}? ?(?:is|are|reads|says|=|:|has|set to)(?: \w+)? ?[\"']?{re.escape(right)}(?![\w-])"
            if re.search(said, text) and not re.search(
                r"\b(?:should|must|ought|was|not|instead)\b|n't\b", text
            ):
                return True
        if wrong and len(wrong) < 80:
            ought = r"(?:should (?:be|have been)|must be|instead of|rather than|expected(?: to be)?|correct(?: \w+)? is|healthy(?: \w+)? is)"
            if re.search(rf"\b{ought}(?: \w+)? {re.escape(wrong)}(?![\w-])", text):
                return True
            if (
                right
                and (leads := _LEADS.get(self.spec.mechanism))
                and re.search(
                    rf"(?:{leads})(?: (?:the|a|its|port|image|key|number|node|claim|label))* [\"'`]?{re.escape(right)}(?![\w.-]*\w)",
                    text,
                )
                and not re.search(
                    rf"(?:{_OUGHT})\b[^,;.]{{0,40}}{re.escape(right)}|{re.escape(right)}[\"'`]? (?:before|originally|until|once|yesterday|previously)",
                    text,
                )
            ):
                return True
            if (
                self.spec.mechanism == "wrong_target_port"
                and re.search(
                    rf"(?<!nothing )(?<!nobody )(?<!not )(?<!n't )(?<!never )\blisten(?:s|ing)?(?: \w+){{0,3}} {re.escape(wrong)}(?![\w-])",
                    text,
                )
                and not re.search(r"\b(?:nothing|nobody|no ?one|none|no|not|never|n't)\b", text)
            ):
                return True
            if self.spec.mechanism == "untolerated_taint" and re.search(
                rf"\b(?:have|has|only|with|carry|carries|had)(?: (?!no\b)\w+){{0,3}} toleration\w*(?: \w+){{0,2}} {re.escape(wrong.split(':')[0])}",
                text,
            ):
                return True
        gone = self.spec.mechanism == "missing_volume_claim" and right and wrong
        return bool(gone and says(right, text) and not says(wrong, text) and _LOST.search(text))

    @cached_property
    def _sorts(self) -> list[re.Pattern[str]]:
        mechanism = self.spec.mechanism
        if mechanism in ("wrong_target_port", "wrong_service_port", "failing_readiness_probe", "failing_liveness_probe", "port_conflict"):  # fmt: skip
            return [_PORT]
        if mechanism in (
            "memory_limit_too_low",
            "cpu_throttling",
            "excessive_resource_request",
            "quota_blocks_pods",
            "recurring_overwrite",
            "shrunk_at_admission",
        ):
            return [_QUANTITY]
        if mechanism == "rate_limit_too_low":
            return [_RATE]
        if mechanism in ("impatient_retries", "collector_overworked"):
            return [_TUNED]
        if mechanism == "unsafe_rollout_strategy":
            return [_SHARE]
        if mechanism == "missing_config_key":
            return [_ADDRESS]
        if mechanism in ("feature_flag_enabled", "missing_variable", "wrong_variable"):
            return [_SWITCH]
        if mechanism == "unsatisfiable_node_selector":
            return [_PAIR]
        if mechanism == "untolerated_taint":
            return [_TAINT]
        if mechanism in (
            "image_unavailable",
            "defective_image",
            "incompatible_version",
            "outdated_build_serves",
        ):
            return [_IMAGE]
        return []


_OUGHT = (
    "instead of|should|must|ought|not|n't|rather than|was|were|used to|before|previously|formerly|expected?|correct|healthy|right|back|until|from|if|would|from|"
    "restor\\w*|set|change\\w*|revert\\w*|never|no longer|nothing|nobody|nor|longer|stopped|once|originally|needs?|than|claims?"
)
"""Before a healthy value that is not said to be the present one."""

_LEADS = {
    "wrong_target_port": r"\bforwards?(?: \w+){0,2} to|\b(?:sends|hands|routes|relays|passes)(?: \S+){0,3} (?:on )?(?:to|at)|\btarget ?ports? (?:is|=|reads|says|stands at)|\btarget ?port:",
    "wrong_service_port": r"\b(?:offered|exposed|published|available|listens|listening|exposes|offers|publishes)(?: \w+)? (?:on|at|under)?|\bservice port (?:is|=|reads)",
    "image_unavailable": r"\b(?:runs?|running|uses|has|pulls|pulled) (?:\w+ ){0,3}?image,?|\bimage (?:is|=|reads)",
    "missing_volume_claim": r"\b(?:references|mounts|claims|wants|asks for|uses|names)",
}
"""Before the healthy value of a field where it is said to be the present one."""


def _in_pairs(text: str) -> str:
    """A text in which ``{"key":"value"}`` is said as ``key=value``, as people say it."""
    return re.sub(r'"([^"{}]+)": ?"([^"{}]+)"', r" \1=\2 ", text)


_IDENTIFIER = re.compile(
    r"(?<![\w@./=:-])(?!(?:failurepolicy|dnspolicy|internaltrafficpolicy|imagepullpolicy|restartpolicy|effect|operator|type|status|phase|reason|exit_?code|severity|namespace|replicas|ready|unschedulable|value|key|port|targetport|name|kind|level|code)[=:])(?!10\.|172\.|192\.|e\.g|i\.e|http|and/|w/|read/|deploy|svc/|pod/|cm/|po/|/)(?:[a-z][\w-]*\.[\w.-]+/[\w./-]*\w(?:=[\w.-]+)?|[a-z][\w./-]*=[\w.-]*[a-z][\w.-]*|[a-z][\w./-]*:v?\d[\w.-]*|(?:sre|kind)-worker\d*)(?![\w@/=-])"
)
"""What nobody says by chance: an image, a path, a key with its value, a node."""

_NAMED_FIELDS = frozenset({"feature_flag_enabled", "missing_variable", "wrong_variable"})
"""Mechanisms whose field is what tells one from another."""

_ADDRESS = re.compile(r"(?<![\w.-])(?!localhost)[a-z]{4,}(?:address|addr|url|uri|host)(?![\w-])")
_SWITCH = re.compile(r"(?<![\w.-])[a-z]+(?:_[a-z]+)+(?![\w-])")
_PAIR = re.compile(r"(?<![\w./-])(?!io\.|current_|service-)[\w./-]*\w=[\w.-]*\w")
_TAINT = re.compile(
    r"(?<![\w./-])(?!node-role)[\w./-]+(?:=[\w.-]*)?(?=:no(?:schedule|execute))|(?<=taint with key )[\w./-]+|(?<=taint with the key )[\w./-]+|(?<=taint called )[\w./-]+|(?<=\{)(?!node-role)[\w./-]+: \w+(?=\})"
)
_RATE = re.compile(
    r"(?<![\w.-])\d{1,6}(?= ?(?:requests?|queries|calls|qps|rps|per second|/ ?s\b|a second))|(?<=_limit=)\d{1,6}\b|(?<=_limit: )\d{1,6}\b|(?<=limit of )\d{1,6}(?![\w.])"
)
_TUNED = re.compile(
    r"(?<![\w.-])\d{1,5}(?= (?:more )?(?:retries|times|attempts|percent))|(?<=_on_error=)\d{1,5}\b|(?<=_on_error: )\d{1,5}\b|(?<=\bgc=)\d{1,5}\b|(?<=\bgogc=)\d{1,5}\b"
)
_BEFORE = re.compile(
    r"\b(?:was|were|from|before|earlier|previously|formerly|used to|instead|should|must|ought|needs?|rather|originally|less|lower\w*|cut|reduced|down|too|once|normal\w*|other|others|yesterday|raise\w*|fraction|hundredth)\b"
)
"""Words beside a healthy value that is not said to be the present one."""

_SHARE = re.compile(r"(?<![\w.])\d{1,3} ?(?:%|percent)(?= |\W*$|[,;.)])")
_LOST = re.compile(r"\b(?:deleted|removed|gone|lost|disappeared|missing|not exist|doesn't exist|not found)\b")
_PORT = re.compile(r"(?<![\w.-])(?<!error )(?<!code )(?!(?:500|503|404|502|504|200|137)(?!\d))\d{2,5}(?![\w%-])(?! (?:s|sec\w*|min\w*|ms|times|%|pods?|replicas?|hours?|errors?|requests?)\b)(?!\.\d)")  # fmt: skip
_IMAGE = re.compile(
    r"(?<![\w.:/-])(?!\d\d?:\d\d(?!\d))[\w.-]+(?:/[\w.-]+)*:[\w.-]*[\w](?![\w:/-])|(?<![\w.:/-])[\w-]+\.[\w.-]+/[\w./-]+"
)


@lru_cache(maxsize=4096)
def _word(value: str) -> re.Pattern[str]:
    # A dot may follow, as at the end of a sentence; before the word it is part of a longer name.
    return re.compile(rf"(?<![\w.-]){re.escape(value)}(?![\w-])")


def says(value: str, text: str) -> bool:
    """Whether a plain text has a value as a word of its own."""
    return len(value) > 1 and _word(value.lower()).search(text) is not None


def places(value: str, text: str) -> list[tuple[int, int]]:
    """Where a plain text has a value as a word of its own."""
    return [match.span() for match in _word(value.lower()).finditer(text)] if len(value) > 1 else []


def _telling(word: str) -> bool:
    return word not in _COMMON and (len(word) > 2 or (word.isdigit() and len(word) > 1))


def _parts(value: str) -> list[str]:
    """The words of a value that is more than one."""
    return [
        part
        for part in re.split(r"[\s,;:=\[\]{}\"'()]+", value)
        if len(part) > 3 and part.lower() not in _COMMON and not part.isalpha()
    ]


def quantity(text: str) -> float | None:
    """A memory or CPU quantity in base units, however it is written; None for anything else."""
    word = text.strip().lower().replace(" ", "")
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([a-z]*)", word)
    if match is None or not match[2]:
        return None
    unit = match[2].rstrip("s") if match[2].rstrip("s") in _UNITS else match[2]
    if unit in _UNITS:
        return float(match[1]) * _UNITS[unit]
    if unit == "m":
        return float(match[1])
    # People write MB where manifests have Mi, and mean it.
    binary = unit.endswith("b") or "i" in unit
    letter = unit[0].upper() if unit[0] != "k" else "K" if binary else "k"
    try:
        return float(bytes_(f"{match[1]}{letter}{'i' if binary else ''}"))
    except (ValueError, ArithmeticError):
        return None


def _among(value: str, known: Collection[str]) -> bool:
    """Whether a value is one of those known, or the last part of one, as people say ``hostname=`` for ``kubernetes.io/hostname=``,
    or an image of those without its tag."""
    if value in known or any(each.endswith(f"/{value}") for each in known):
        return True
    return "/" in value and any(each.startswith(f"{value}:") for each in known)


def _canonical(text: str) -> str:
    amount = quantity(text)
    if amount is None:
        return text.rstrip(".").replace(": ", "=")
    return f"{amount:.3g}"
