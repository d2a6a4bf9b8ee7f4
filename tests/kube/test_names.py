"""Names: what Kubernetes accepts."""

from __future__ import annotations

from typing import Any

import pytest

from sregym_env.kube import names


@pytest.mark.parametrize(
    ("check", "good", "bad"),
    [
        (names.dns1123_label, ["a", "a-b", "0a"], ["", "A", "-a", "a.b", "a" * 64]),
        (names.dns1123_subdomain, ["a.b", "a"], ["a..b", "a_b", "a" * 254]),
        (names.dns1035_label, ["a1"], ["1a", "a.b"]),
        (names.qualified_name, ["a", "a.b/c_d", "A"], ["a/b/c", "/a", "a/", "-a", "a b"]),
        (names.label_value, ["", "a", "A.b_c-d"], ["-a", "a b", "a" * 64]),
        (names.env_var_name, ["A", "a.b", "1 b"], ["", "a=b", "é"]),
        (names.config_key, ["a.b-c_D"], ["a/b", "..", ""]),
        (names.port_name, ["http", "a-1"], ["a--b", "-a", "123", "a" * 16, "A"]),
        (names.path_segment, ["system:x"], ["a/b", "..", "a%b"]),
    ],
)
def test_names(check: Any, good: list[str], bad: list[str]) -> None:
    for value in good:
        assert check(value) == (), value
    for value in bad:
        assert check(value) != (), value
