"""What a kernel counts of IP and TCP in a network of its own, a machine's or a pod's: /proc/net/snmp and netstat, ``nstat``, ``netstat -s``.

A machine's are those that node-exporter shows; of these a pod has as much as it has sent.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase

from sregym_env.cluster.streams import ExecResult
from sregym_env.runtime.clock import SECOND
from sregym_env.shell.shell import Shell
from sregym_env.sim.network import resending
from sregym_env.sim.processes.context import ProcessContext
from sregym_env.sim.programs.machine.commands import machine_of

Counts = Mapping[str, int]
"""By the names that ``nstat`` gives them."""

_IP = (
    "Forwarding DefaultTTL InReceives InHdrErrors InAddrErrors ForwDatagrams InUnknownProtos InDiscards InDelivers OutRequests "
    "OutDiscards OutNoRoutes ReasmTimeout ReasmReqds ReasmOKs ReasmFails FragOKs FragFails FragCreates"
)
_ICMP = (
    "InMsgs InErrors InCsumErrors InDestUnreachs InTimeExcds InParmProbs InSrcQuenchs InRedirects InEchos InEchoReps InTimestamps "
    "InTimestampReps InAddrMasks InAddrMaskReps OutMsgs OutErrors OutDestUnreachs OutTimeExcds OutParmProbs OutSrcQuenchs OutRedirects "
    "OutEchos OutEchoReps OutTimestamps OutTimestampReps OutAddrMasks OutAddrMaskReps"
)
_TCP = (
    "RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs "
    "OutRsts InCsumErrors"
)
_UDP = (
    "InDatagrams NoPorts InErrors OutDatagrams RcvbufErrors SndbufErrors InCsumErrors IgnoredMulti MemErrors"
)
_TCP_EXT = (
    "SyncookiesSent SyncookiesRecv SyncookiesFailed EmbryonicRsts PruneCalled RcvPruned OfoPruned OutOfWindowIcmps LockDroppedIcmps "
    "ArpFilter TW TWRecycled TWKilled PAWSActive PAWSEstab DelayedACKs DelayedACKLocked DelayedACKLost ListenOverflows ListenDrops "
    "TCPHPHits TCPPureAcks TCPHPAcks TCPRenoRecovery TCPSackRecovery TCPSACKReneging TCPSACKReorder TCPRenoReorder TCPTSReorder "
    "TCPFullUndo TCPPartialUndo TCPDSACKUndo TCPLossUndo TCPLostRetransmit TCPRenoFailures TCPSackFailures TCPLossFailures "
    "TCPFastRetrans TCPSlowStartRetrans TCPTimeouts TCPLossProbes TCPLossProbeRecovery TCPAbortOnData TCPAbortOnClose "
    "TCPAbortOnMemory TCPAbortOnTimeout TCPAbortOnLinger TCPAbortFailed TCPMemoryPressures TCPMTUPFail TCPMTUPSuccess TCPSynRetrans "
    "TCPBacklogDrop TCPRcvQDrop"
)
_IP_EXT = "InNoRoutes InTruncatedPkts InMcastPkts OutMcastPkts InBcastPkts OutBcastPkts InOctets OutOctets"
_SNMP = (("Ip", _IP), ("Icmp", _ICMP), ("Tcp", _TCP), ("Udp", _UDP))
_NETSTAT = (("TcpExt", _TCP_EXT), ("IpExt", _IP_EXT))
_CONSTANT = {
    "IpForwarding": 1, "IpDefaultTTL": 64, "TcpRtoAlgorithm": 1, "TcpRtoMin": 200, "TcpRtoMax": 120_000, "TcpMaxConn": -1,
}  # fmt: skip


def of(ctx: ProcessContext) -> Counts:
    """What has been counted where a process sees the network."""
    ctx.unnoted()
    if ctx.process.host_network:
        return _of_machine(ctx)
    return _of_pod(ctx)


def _of_machine(ctx: ProcessContext) -> Counts:
    each = machine_of(ctx)
    told = each.tcp
    never = resending.total(ctx.world, ctx.process.node)
    return _counted(told, never, each.received, each.sent, max(ctx.now() - each.booted, 0) / SECOND)


def _of_pod(ctx: ProcessContext) -> Counts:
    world, uid = ctx.world, ctx.process.key[0]
    here = [each for each in machine_of(ctx).containers if each.process.key[0] == uid]
    age = max((ctx.now() - each.process.started_at for each in here), default=0) / SECOND
    out = sum(each.requests for each in here) * resending.SEGMENTS + age * resending.SEGMENTS_OF_POD
    told = machine_of(ctx).tcp
    share = out / told["OutSegs"] if told.get("OutSegs") else 0.0
    elsewhere = resending.total(world, ctx.process.node)
    never = resending.total(world, uid)
    usual = max(told.get("RetransSegs", 0.0) - elsewhere, 0.0) * share
    late = max(told.get("TCPTimeouts", 0.0) - elsewhere * _LATE, 0.0) * share
    mine = {
        "OutSegs": out, "InSegs": out * 0.97, "RetransSegs": usual + never, "TCPTimeouts": late + never * _LATE,
        "TCPSynRetrans": told.get("TCPSynRetrans", 0.0) * share,
    }  # fmt: skip
    received, sent = sum(each.received for each in here), sum(each.sent for each in here)
    return _counted(mine, never, received, sent, age)


_LATE = 1.0 - resending.PROBED / resending.TIMES
"""Of what is sent again in vain, that for which a kernel had to wait."""


def _counted(told: Mapping[str, float], never: float, received: float, sent: float, seconds: float) -> Counts:
    out, back = told.get("OutSegs", 0.0), told.get("InSegs", 0.0)
    resent, late = told.get("RetransSegs", 0.0), told.get("TCPTimeouts", 0.0)
    names = seconds * 0.8
    found = {
        "TcpOutSegs": out, "TcpInSegs": back, "TcpRetransSegs": resent, "TcpActiveOpens": out / 60.0, "TcpPassiveOpens": out / 70.0,
        "TcpOutRsts": out / 900.0, "TcpEstabResets": out / 4000.0, "UdpInDatagrams": names, "UdpOutDatagrams": names, "IpInReceives": back + names,
        "IpInDelivers": back + names, "IpOutRequests": out + resent + names, "TcpExtTCPTimeouts": late,
        "TcpExtTCPLossProbes": never * resending.PROBED / resending.TIMES + resent / 50.0, "TcpExtTCPSynRetrans": told.get("TCPSynRetrans", 0.0),
        "TcpExtTCPLostRetransmit": never * (1.0 - 1.0 / resending.TIMES), "TcpExtTCPSlowStartRetrans": late - never * _LATE,
        "TcpExtTCPFastRetrans": max(resent - late - never, 0.0), "TcpExtTCPAbortOnClose": never / resending.TIMES, "TcpExtTW": out / 75.0,
        "TcpExtDelayedACKs": back / 30.0, "TcpExtTCPHPHits": back / 3.0, "TcpExtTCPPureAcks": back / 4.0, "IpExtInOctets": received,
        "IpExtOutOctets": sent,
    }  # fmt: skip
    return {name: max(int(value), 0) for name, value in found.items()} | _CONSTANT


def _table(counts: Counts, groups: Sequence[tuple[str, str]]) -> str:
    lines = []
    for group, names in groups:
        values = " ".join(str(counts.get(f"{group}{name}", 0)) for name in names.split())
        lines += [f"{group}: {names}\n", f"{group}: {values}\n"]
    return "".join(lines)


def snmp(ctx: ProcessContext) -> str:
    """/proc/net/snmp."""
    return _table(of(ctx), _SNMP)


def netstat(ctx: ProcessContext) -> str:
    """/proc/net/netstat."""
    return _table(of(ctx), _NETSTAT)


def nstat(ctx: ProcessContext, argv: Sequence[str], stdin: str, shell: Shell) -> ExecResult:
    """``nstat [-asnz] [PATTERN ...]``: the counters, those that are zero with ``-z``; nobody remembers what was shown before."""
    letters = "".join(word[1:] for word in argv[1:] if word.startswith("-") and not word.startswith("--"))
    patterns = [word for word in argv[1:] if not word.startswith("-")]
    if unknown := next((letter for letter in letters if letter not in "asnzjprtdVh"), ""):
        return ExecResult(stderr=f"nstat: invalid option -- '{unknown}'\n", exit_code=255)
    counts, lines = of(ctx), ["#kernel\n"]
    for group, names in (*_SNMP, *_NETSTAT):
        for name in names.split():
            full = f"{group}{name}"
            if full in _CONSTANT or (patterns and not any(fnmatchcase(full, each) for each in patterns)):
                continue
            value = counts.get(full, 0)
            if value or "z" in letters or "--zeros" in argv:
                lines.append(f"{full:<32}{value:<16}0.0\n")
    return ExecResult("".join(lines))


_SAID = (
    ("Ip:", (("IpInReceives", "total packets received"), ("IpInDelivers", "incoming packets delivered"), ("IpOutRequests", "requests sent out"))),
    ("Tcp:", (
        ("TcpActiveOpens", "active connection openings"), ("TcpPassiveOpens", "passive connection openings"),
        ("TcpEstabResets", "connection resets received"), ("TcpCurrEstab", "connections established"), ("TcpInSegs", "segments received"),
        ("TcpOutSegs", "segments sent out"), ("TcpRetransSegs", "segments retransmitted"), ("TcpInErrs", "bad segments received"),
        ("TcpOutRsts", "resets sent"),
    )),
    ("Udp:", (("UdpInDatagrams", "packets received"), ("UdpNoPorts", "packets to unknown port received"), ("UdpOutDatagrams", "packets sent"))),
    ("TcpExt:", (
        ("TcpExtTW", "TCP sockets finished time wait in fast timer"), ("TcpExtDelayedACKs", "delayed acks sent"),
        ("TcpExtTCPFastRetrans", "fast retransmits"), ("TcpExtTCPSlowStartRetrans", "retransmits in slow start"),
        ("TcpExtTCPTimeouts", "other TCP timeouts"), ("TcpExtTCPLossProbes", "TCPLossProbes"), ("TcpExtTCPSynRetrans", "TCPSynRetrans"),
        ("TcpExtTCPLostRetransmit", "TCPLostRetransmit"), ("TcpExtTCPAbortOnClose", "connections reset due to early user close"),
    )),
)  # fmt: skip


def summary(ctx: ProcessContext) -> str:
    """``netstat -s``."""
    counts, lines = of(ctx), []
    for head, rows in _SAID:
        lines.append(f"{head}\n")
        for name, text in rows:
            value = counts.get(name, 0)
            if value or head != "TcpExt:":
                shown = (
                    f"{text}: {value}" if text.startswith("TCP") and " " not in text else f"{value} {text}"
                )
                lines.append(f"    {shown}\n")
    return "".join(lines)


TOOLS = {"nstat": nstat}
