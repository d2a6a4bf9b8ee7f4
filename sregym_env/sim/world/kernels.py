"""Who has built a kernel, with what and as which build: what ``uname -v``, ``/proc/version`` and the kernel's log say of it."""

from __future__ import annotations

import re
from typing import NamedTuple


class Build(NamedTuple):
    """How the kernel of a release was built."""

    builder: str
    tools: str
    """Compiler and linker."""
    version: str
    """What ``uname -v`` prints."""

    def banner(self, release: str) -> str:
        """The line with which a kernel begins its log, and that ``/proc/version`` holds."""
        return f"Linux version {release} ({self.builder}) ({self.tools}) {self.version}"


_DEBIAN = Build(
    "debian-kernel@lists.debian.org",
    "gcc-12 (Debian 12.2.0-14) 12.2.0, GNU ld (GNU Binutils for Debian) 2.40",
    "#1 SMP PREEMPT_DYNAMIC Debian 6.1.129-1 (2025-03-06)",
)
_UBUNTU = re.compile(r"(\d+\.\d+)\.0-(\d+)-(?:generic|aws|gcp|azure)")
_UBUNTUS = {
    "5.4": ("gcc version 9.4.0 (Ubuntu 9.4.0-1ubuntu1~20.04.2)", 20, "SMP"),
    "5.15": (
        "gcc (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0, GNU ld (GNU Binutils for Ubuntu) 2.38",
        10,
        "SMP",
    ),
    "6.8": (
        "x86_64-linux-gnu-gcc-13 (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0, GNU ld (GNU Binutils for Ubuntu) 2.42",
        1,
        "SMP PREEMPT_DYNAMIC",
    ),
}
"""By the kernel's series: what it was compiled with, how far uploads are ahead of the ABI's number, and its options."""
_OTHERS = (
    (
        ".el9",
        Build(
            "mockbuild@iad1-prod-build001.bld.equ.rockylinux.org",
            "gcc (GCC) 11.5.0 20240719 (Red Hat 11.5.0-5), GNU ld version 2.35.2-54.el9",
            "#1 SMP PREEMPT_DYNAMIC Fri Mar 7 11:43:59 UTC 2025",
        ),
    ),
    (
        ".amzn2023",
        Build(
            "mockbuild@ip-10-0-41-169",
            "gcc (GCC) 11.5.0 20240719 (Red Hat 11.5.0-5), GNU ld version 2.41-50.amzn2023.0.3",
            "#1 SMP PREEMPT_DYNAMIC Tue Apr 22 18:12:06 UTC 2025",
        ),
    ),
    (
        "-flatcar",
        Build(
            "build@pony-truck.infra.kinvolk.io",
            "x86_64-cros-linux-gnu-gcc (Gentoo Hardened 13.3.1_p20240614 p17) 13.3.1 20240614, GNU ld (Gentoo 2.42 p6) 2.42.0",
            "#1 SMP PREEMPT_DYNAMIC Tue Mar 18 17:09:15 -00 2025",
        ),
    ),
    (
        "-talos",
        Build(
            "@buildkitsandbox",
            "gcc (GCC) 14.2.0, GNU ld (GNU Binutils) 2.43.1",
            "#1 SMP Wed Mar 26 12:09:11 UTC 2025",
        ),
    ),
    (
        "+",
        Build(
            "builder@localhost",
            "Chromium OS 17.0_pre498229-r33 clang version 17.0.0, LLD 17.0.0",
            "#1 SMP PREEMPT_DYNAMIC Sat Feb 15 10:06:33 UTC 2025",
        ),
    ),
)


def build_of(release: str) -> Build:
    """The build behind a release, by whose release it is; Debian's where that cannot be told."""
    ubuntu = _UBUNTU.fullmatch(release)
    if ubuntu and ubuntu[1] in _UBUNTUS:
        tools, ahead, options = _UBUNTUS[ubuntu[1]]
        number = int(ubuntu[2])
        # Those of clouds begin at 1001.
        upload = number - 1000 + 2 if number > 1000 else number + ahead
        return Build(
            "buildd@lcy02-amd64-090", tools, f"#{upload}-Ubuntu {options} Fri Mar 14 09:21:37 UTC 2025"
        )
    return next((build for part, build in _OTHERS if part in release), _DEBIAN)
