"""Pipelines, loops and documents put together by chance: what each tool bears alone need not be borne in combination.

The draws are keyed, so that everybody plays the same mixtures.
"""

from __future__ import annotations

from sregym_env.runtime.chance import Chance

from .attempt import Attempt

COUNT = 600
"""Mixtures that are drawn."""

N = "-n hotel-reservation"

PRODUCERS = (
    "seq 99999",
    "yes",
    "yes aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab",
    "head -c 400000 /dev/zero | tr '\\0' a",
    "printf 'a%.0s' {1..60000}",
    "printf '%99999s'",
    "echo {a..j}{a..j}{a..j}{a..j}",
    "echo {1..99999}",
    "kubectl get pods -A -o json",
    "kubectl get all -A -o yaml",
    "kubectl get --raw /openapi/v2",
    "kubectl get events -A",
    "kubectl describe pods -A",
    f"kubectl logs deploy/frontend {N}",
    "kubectl explain pods --recursive",
    "kubectl get pods -A -o go-template='{{range .items}}{{range $.items}}{{.metadata.name}} {{end}}{{end}}'",
    "kubectl get pods -A -o jsonpath='{..*}{..*}{..*}{..*}'",
    "kubectl get pods -A -o custom-columns='A:..metadata,B:..*'",
    "curl -s localhost:9090/metrics",
    "curl -s http://frontend.hotel-reservation:5000/hotels",
    "jq -n '[range(20000)|{a:., b:[range(3)]}]'",
    "jq -nc '[limit(15; repeat([range(200)]))]'",
    "awk 'BEGIN{for(i=0;i<60000;i++) print i, i*i, sqrt(i)}'",
    "bc <<< 'scale=300; for(i=1;i<300;i++) 1/i'",
    "find / 2>/dev/null",
    "env",
    "cat <<E\n$(seq 5000)\nE\n",
)
CONSUMERS = (
    "grep -E '(a+)+$'",
    "grep -cE '^(([a-z0-9])+.)+[A-Z]([a-z])+$'",
    "grep -P '(?=(a+))a*b\\1'",
    "grep -oE '[0-9]{1,9}(1|11|111)*'",
    "grep -c -f <(seq 3000)",
    "sed ':a;N;$!ba;s/\\n/,/g'",
    "sed -E 's/(.*)(.*)(.*)x/\\3\\2\\1/'",
    "sed 's/./&&/g;s/./&&/g'",
    "sed -n 'H;${x;s/\\n/,/g;p}'",
    "awk '{for(i=1;i<=NF;i++) c[$i]++} END{for(k in c) print c[k], k}'",
    "awk '{x=x $0} END{print length(x); gsub(/(a|aa)+b?/, \"z\", x); print length(x)}'",
    "awk 'match($0, /(a*)*b/){print RSTART}'",
    "awk -F '[ \\t:/]+' '{print $NF; $3=$2 $1; print}'",
    "sort | uniq -c | sort -rn",
    "sort -t: -k2,2n -k1,1r -u",
    "jq -R 'test(\"^(a|aa)+$\")'",
    "jq -R '[scan(\"a*?b?\")]|length'",
    "jq -Rs '[splits(\"(a+)+\")]|length'",
    "jq -Rn '[inputs]|group_by(length)|map(length)'",
    "jq '[..]|length'",
    "jq 'paths|tostring'",
    "jq -c 'def f: if . > 0 then .-1|f else . end; 30000|f'",
    "jq '[.,.,.]|tojson|fromjson|tojson|length'",
    "jq -s '[combinations]|length'",
    'jq \'walk(if type == "object" then with_entries(.value|=[.]) else . end)|getpath(["a"])?\'',
    "jq '[limit(99999; recurse)]|sort_by(tostring)|unique|length'",
    "jq '[.. | strings | gsub(\"(?<x>[a-z]+)\"; .x + .x)] | add'",
    "tr -cs a-z '\\n'",
    "tr a-z A-Z | rev | tac",
    "xargs -n1 echo",
    "xargs -I{} sh -c 'echo {} {}'",
    "xargs -n 50 kubectl get pods",
    'while read -r a b; do echo "${b//a/bb}" "${a%%*a}"; done',
    "while read -rn3 x; do y=$y$x; done",
    "paste - - - | column -t",
    "fold -w 1 | nl",
    "od -c | cut -c1-40",
    "base64 | base64 -d",
    "tee f g h",
    "cut -d' ' -f1-9999",
    "diff - <(seq 5000)",
    "comm -12 - <(seq 9999 | sort)",
    "join - <(seq 9999 | sort)",
    "bc",
    "kubectl apply -f -",
    f"kubectl create cm x {N} --from-file=a=/dev/stdin --dry-run=client -o yaml",
    f"kubectl exec -i {N} deploy/mongodb-geo -- bash -c 'while read x; do echo $x$x; done'",
    f"kubectl exec -i {N} deploy/consul -- awk '{{x=x $0}} END{{print length(x)}}'",
)
FRAMES = (
    "@p | tail -c 99",
    "for i in {1..200}; do @p; done | tail -c 99",
    'x=$(@p); for i in 1 2 3 4 5 6; do x=$(echo "$x$x" | tail -c 300000); done; echo ${#x}',
    "cat <<E | tail -c 99\n$(@p)\n$(@p)\nE",
    "f() { @p; }; f | f | tail -c 99",
    "timeout 30 bash -c \"while true; do $(cat <<'E'\n@p\nE\n) > /dev/null; sleep 1; done\"; echo $?",
    "(@p) > a & (@p) > b & wait; cat a b | wc -c",
    "eval \"$(printf '%q ' x)\"; diff <(@p) <(@p) | tail -c 99",
    'while read -r l; do [[ $l =~ ^(a+)+b$ ]] && echo "${l^^}"; done < <(@p) | tail -c 99',
    'mapfile -t a < <(@p); for i in "${!a[@]}"; do ((n+=${#a[i]}*i%7)); done; echo $n; echo "${a[*]//1/22}" | tail -c 99',
    "printf '%s\\n' $(@p) | tail -c 99; set -- $(@p); echo $# ${@: -3}",
    "@p > f; cp f g; sed -i 's/a/aa/g' f g; sort f g | uniq -d | tail -c 99",
)


def corpus() -> list[Attempt]:
    """All mixtures."""
    made = []
    for index in range(COUNT):
        chance = Chance(("hostile", index))
        stages = [chance.choice("producer", PRODUCERS)]
        if stages[0].startswith("yes"):
            stages.append("head -c 2000000")
        stages += [chance.choice(f"stage.{at}", CONSUMERS) for at in range(chance.between("stages", 1, 3))]
        # A document's end must stand alone on its line.
        pipeline = " | ".join(f"{{ {stage}\n}}" if stage.endswith("E\n") else stage for stage in stages)
        frame = chance.choice("frame", FRAMES)
        made.append(Attempt("mixture", f"{index:03d}", (frame.replace("@p", pipeline),)))
    return made
