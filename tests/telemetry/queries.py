"""Queries that were put to a real Prometheus about the drawn series.

A line is an instant query in the middle of the series; ``@AT`` and ``@RANGE`` below say otherwise. ``tests/telemetry/
broken.py`` has those that are none.
"""

from __future__ import annotations

from tests.telemetry.drawn import BEGIN, END

INSTANT = r"""
1
-1
+1
1.5e3
0x1F
010
Inf
-Inf
NaN
"a text"
'single \' quote'
`raw \n`
"\u00e9\x41\101\n"
1 + 2 * 3 ^ 2 % 7 - 4 / 8
2 ^ 3 ^ 2
-2 ^ 2
2 ^ -1 * 4
(1 + 2) * 3
1 / 0
-1 / 0
0 / 0
5 % 0
5 % -3
-5 % 3
5.5 % 2.1
5 % Inf
1 atan2 2
1 == bool 1
1 != bool 1
2 > bool 1
2 < bool 1
2 >= bool 2
NaN == bool NaN
NaN != bool NaN
1e308 * 10
1e-320 / 10
1e21
1e20
123456789.123456789
0.000001
0.0000001
0.1 + 0.2
1 == bool 1 + 1
up
up{}
up{job="api"}
up{job!="api"}
up{job=~"a.*"}
up{job!~"a.*"}
up{job=~"api|web",instance=~".*:80"}
up{job=~""}
up{missing=""}
up{missing!=""}
up{job=~"ap"}
{__name__="up",job="api"}
{__name__=~"up|lonely"}
{__name__=~"kube_pod_.+",namespace="shop",pod="pod-7"}
{job="api",code="500"}
{job=~".+",code=~"5.."}
up{job="api",job=~"a.*"}
up{instance='a:80'}
up{instance=`a:80`}
texts{path=~"/a b/.*"}
texts{city="Zürich"}
texts{emoji="🚀"}
texts{path="/a b/\"c\"\\d\n"}
texts{city=~"Z.rich|Gen.ve"}
texts{city=~"(?i)bern"}
nothing
nothing{a="b"}
up offset 5m
up offset -5m
up offset 2h
lonely
lonely offset -2m
gone
gone offset 1h
late_total
late_total offset -30m
late_total @ 1700006000
up @ 1700001000
up @ 1700001000.5
up @ start()
up @ end()
up @ 1700001000 offset 2m
up offset 2m @ 1700001000
sparse
sparse offset 4m
timestamp(up)
timestamp(up offset 1m)
timestamp(up * 1)
timestamp((up))
timestamp(up @ 1700001000)
timestamp(sparse)
timestamp(vector(1))
time()
time() - timestamp(up{job="api"})
vector(time())
vector(1)
scalar(lonely offset -2m)
scalar(up)
scalar(nothing)
scalar(disk_free{device="sda"})
pi()
up[1m]
up[1m] offset 10m
up[1m] @ 1700001000
temperature_celsius[2m]
lonely[10m]
lonely[2h] offset -1h
sparse[30m]
odd{kind="nan"}[30s]
nothing[5m]
up{job="api"}[3m:1m]
up{job="api"}[3m:]
up{job="api"}[3m:7s]
rate(http_requests_total{code="200",job="web"}[5m])[5m:1m]
(rate(http_requests_total{code="200",job="web"}[5m]))[5m:1m] offset 1m
up{job="api"}[3m:1m] @ 1700001000
up{job="api"}[3m:1m] @ end() offset 1m
vector(1)[3m:1m]
(time())[1m:10s]
vector(time())[1m:10s]
-up
+up
-(up)
-http_requests_total{code="500"}
-1 * up
- - up
-{__name__=~"up|lonely"}
abs(temperature_celsius)
ceil(temperature_celsius)
floor(temperature_celsius)
round(temperature_celsius)
round(temperature_celsius, 5)
round(temperature_celsius, 0.1)
round(temperature_celsius, -2)
round(temperature_celsius, 0)
round(-temperature_celsius)
exp(temperature_celsius)
sqrt(temperature_celsius)
ln(temperature_celsius)
log2(temperature_celsius)
log10(temperature_celsius)
sgn(temperature_celsius)
sin(temperature_celsius)
cos(temperature_celsius)
tan(temperature_celsius)
asin(temperature_celsius / 40)
acos(temperature_celsius / 40)
atan(temperature_celsius)
sinh(temperature_celsius)
cosh(temperature_celsius)
tanh(temperature_celsius)
asinh(temperature_celsius)
acosh(temperature_celsius)
atanh(temperature_celsius / 40)
deg(temperature_celsius)
rad(temperature_celsius)
abs(odd)
ceil(odd)
floor(odd)
round(odd)
exp(odd)
sqrt(odd)
ln(odd{kind!="tiny"})
sgn(odd)
sin(odd)
atan(odd)
odd
-odd
odd + 1
odd * 0
odd / 0
odd % 3
odd ^ 2
2 ^ odd
odd atan2 1
odd > 0
odd != odd
odd == odd
odd >= bool 0
clamp(temperature_celsius, 0, 10)
clamp(temperature_celsius, 10, 0)
clamp(temperature_celsius, NaN, 10)
clamp_min(temperature_celsius, 5)
clamp_max(temperature_celsius, 5)
clamp_min(odd, 0)
clamp_max(odd, NaN)
absent(up)
absent(nothing)
absent(nothing{a="b",c=~"d",e!="f",g="h"})
absent(nothing{a="b",a="c",g="h"})
absent(sum(nothing))
absent(nothing{a="b"} > 1)
absent(nothing{a=""})
absent((nothing{a="b"}))
absent(up{job="api"} == 5)
absent_over_time(up[5m])
absent_over_time(nothing{a="b"}[5m])
absent_over_time(nothing{a="b"}[5m:1m])
absent_over_time(gone{kind="early"}[5m])
absent_over_time(sparse[1m])
sort(temperature_celsius)
sort_desc(temperature_celsius)
sort(odd{kind!="negzero"})
sort_desc(odd{kind!="negzero"})
sort(http_requests_total{code="200"})
sort_desc(sum by (job, code) (http_requests_total))
minute(boot_time_seconds)
hour(boot_time_seconds)
day_of_week(boot_time_seconds)
day_of_month(boot_time_seconds)
day_of_year(boot_time_seconds)
days_in_month(boot_time_seconds)
month(boot_time_seconds)
year(boot_time_seconds)
minute()
hour()
day_of_week()
day_of_month()
day_of_year()
days_in_month()
month()
year()
day_of_month(vector(1709164800))
days_in_month(vector(1709164800))
day_of_year(vector(1735603200))
year(vector(-1))
month(vector(-86401))
hour(vector(-1))
minute(vector(-61))
day_of_week(vector(-86400 * 3))
days_in_month(vector(951782400))
minute(odd)
hour(odd)
year(odd)
month(odd)
day_of_week(odd)
day_of_month(odd)
day_of_year(odd)
days_in_month(odd)
year(vector(-62135596801))
year(vector(1e15))
day_of_year(vector(1e15))
label_replace(up, "host", "$1", "instance", "(.*):.*")
label_replace(up, "host", "${1}-x", "instance", "(.*):(.*)")
label_replace(up, "host", "$1x", "instance", "(.*):(.*)")
label_replace(up, "host", "$2$1", "instance", "(.*):(.*)")
label_replace(up, "host", "${port}", "instance", "(?P<name>.*):(?P<port>.*)")
label_replace(up, "host", "$port/$name", "instance", "(?P<name>.*):(?P<port>.*)")
label_replace(up, "host", "$9", "instance", "(.*):(.*)")
label_replace(up, "host", "$$1", "instance", "(.*):(.*)")
label_replace(up, "host", "a$", "instance", "(.*):(.*)")
label_replace(up, "host", "${1", "instance", "(.*):(.*)")
label_replace(up, "host", "$(1)", "instance", "(.*):(.*)")
label_replace(up, "host", "", "instance", ".*")
label_replace(up, "instance", "", "instance", "a.*")
label_replace(up, "host", "$1", "instance", "nomatch(.*)")
label_replace(up, "host", "x", "missing", "")
label_replace(up, "host", "x", "missing", "y")
label_replace(up, "job", "same", "job", ".*")
label_replace(up, "instance", "same", "job", ".*")
label_replace(up, "__name__", "down", "job", "api")
label_replace(up, "1x", "$1", "instance", "(.*)")
label_replace(up, "a-b", "$1", "instance", "(.*)")
label_replace(up, "host", "$1", "instance", "(")
label_replace(nothing, "1x", "$1", "instance", "(.*)")
label_replace(texts, "version", "$1", "path", "/api/(v[0-9]+)/.*")
label_join(up, "both", "-", "job", "instance")
label_join(up, "both", "", "job", "instance", "missing")
label_join(up, "both", ",")
label_join(up, "job", "", "missing")
label_join(up, "instance", "", "job")
label_join(up, "1x", "", "job")
label_join(up, "x", "", "1job")
sum(up)
sum by (job) (up)
sum by (job, instance) (up)
sum(up) by (job,)
sum by () (up)
sum without () (up)
sum without (instance) (up)
sum without (instance, job) (http_requests_total)
sum by (missing) (up)
sum by (job, missing) (up)
sum by (__name__) ({__name__=~"up|lonely"})
sum without (__name__) ({__name__=~"up|lonely"})
avg(temperature_celsius)
avg by (job) (http_requests_total)
avg(odd{kind=~"big|inf"})
avg(odd{kind=~"inf|neginf"})
avg(odd{kind=~"big|tiny"})
avg(odd)
sum(odd{kind=~"inf|neginf"})
sum(odd{kind=~"cancel|tiny"})
min(odd)
max(odd)
min(odd{kind="nan"})
min by (job) (http_requests_total)
max by (job, code) (http_requests_total)
count(up)
count by (job) (up)
count(nothing)
sum(nothing)
count by (code) (http_requests_total > 1000)
group(up)
group by (job) (up)
stddev(temperature_celsius)
stdvar(temperature_celsius)
stddev by (job) (http_requests_total)
stddev(up{job="api",instance="a:80"})
stddev(odd)
stddev by (kind) (odd)
stdvar(tied)
stddev(boot_time_seconds)
quantile(0.5, temperature_celsius)
quantile(0.9, http_requests_total)
quantile by (job) (0.25, http_requests_total)
quantile(-1, temperature_celsius)
quantile(2, temperature_celsius)
quantile(NaN, temperature_celsius)
quantile(0.5, odd)
quantile(0, odd)
quantile(1, odd)
quantile(0.3, tied)
topk(2, temperature_celsius)
bottomk(2, temperature_celsius)
topk(1, http_requests_total)
topk(3, http_requests_total)
topk by (job) (2, http_requests_total)
topk without (instance, code) (1, http_requests_total)
topk(100, temperature_celsius)
topk(0, temperature_celsius)
topk(-1, temperature_celsius)
topk(1.9, temperature_celsius)
topk(1e30, temperature_celsius)
topk(NaN, temperature_celsius)
bottomk(1e19, temperature_celsius)
topk(3, tied)
bottomk(3, tied)
topk(1, tied)
bottomk(1, tied)
topk(2, tied)
topk(4, tied)
topk(5, tied)
bottomk(2, tied)
bottomk(5, tied)
topk(3, http_requests_total * 0)
topk(9, round(http_requests_total, 20000))
bottomk(11, round(http_requests_total, 20000))
bottomk(7, odd)
topk(7, odd)
topk(2, odd{kind=~"nan|inf|tiny"})
bottomk(3, odd{kind=~"nan|inf|tiny"})
topk(scalar(count(up)) - 4, temperature_celsius)
count_values("value", up)
count_values("value", temperature_celsius)
count_values by (job) ("value", up)
count_values without (instance) ("value", up)
count_values("job", up)
count_values("1bad", up)
count_values("v", odd{kind=~"big|inf|neginf|nan|tiny|negzero"})
count_values by (phase) ("v", kube_pod_status_phase)
up + up
up + 1
1 + up
up * 2 - 1
up == 1
up == 0
up != 1
1 == up
up == bool 1
1 > bool up
0 < up
temperature_celsius > 10
10 > temperature_celsius
temperature_celsius > bool 10
temperature_celsius >= temperature_celsius
temperature_celsius > 100
up + on(job, instance) up
up + on(instance) up{job="api"}
up + on(job) up
up{job="api"} + on(instance) up{job="web"}
up{job="api"} + ignoring(job) up{job="web"}
up{job="api"} == ignoring(job) up{job="web"}
up{job="api"} == on(instance) up{job="web"}
up{job="api"} == bool ignoring(job) up{job="web"}
http_requests_total{code="500"} / ignoring(code) http_requests_total{code="200"}
http_requests_total / ignoring(code) http_requests_total{code="200"}
http_requests_total / ignoring(code) group_left http_requests_total{code="200"}
http_requests_total / ignoring(code) group_left() http_requests_total{code="200"}
http_requests_total / ignoring(code) group_right http_requests_total{code="200"}
http_requests_total{code="200"} / ignoring(code) group_right http_requests_total
http_requests_total{code="200"} > ignoring(code) group_right http_requests_total
http_requests_total{code="200"} > bool ignoring(code) group_right http_requests_total
http_requests_total * on(job, instance) group_left up
http_requests_total * on(instance) group_left up
http_requests_total / on(job) group_left sum by (job) (http_requests_total)
sum by (job) (http_requests_total) / on(job) group_right http_requests_total
container_memory_bytes / on(namespace, pod) container_memory_limit_bytes
container_memory_bytes * on(namespace, pod) group_left(node) kube_pod_info
kube_pod_info * on(namespace, pod) group_right(node) container_memory_bytes
container_memory_bytes * on(namespace, pod) group_left(node, missing) kube_pod_info
container_memory_bytes * on(namespace, pod) group_left(container) kube_pod_info
kube_pod_info * on(namespace, pod) group_left container_memory_bytes
kube_pod_status_phase * on(namespace) group_left kube_pod_info
kube_pod_status_phase * on(pod) group_left(node) kube_pod_info
kube_pod_status_phase == on(pod) kube_pod_info
kube_pod_status_phase == on(pod) group_left kube_pod_info
kube_pod_status_phase == on(pod) group_left(node) kube_pod_info
left + on(host) right
left + on(host) group_right right
left + on(host) group_left right
right + on(host) left
right + on(host) group_left left
right + on(host) group_left(extra) left
right + on(host) group_left(extra, side) left
right{host="x"} + on(host) left
left + ignoring(extra, side) right
left > on(host) right
left - on() right
left * ignoring(host, extra, side) right
left + on(missing) right
left{host="x"} + on() right{extra="x"}
nothing + up
nothing + on(host) right
up + nothing
{__name__=~"up|lonely"} + on(job, instance) up
{__name__=~"left|right",extra="x"} * 2
{__name__=~"left|right",extra="x"} + on(side) {__name__=~"left|right",extra="x"}
{__name__=~"tied|boot_time_seconds",host="h0"} == {__name__=~"tied|boot_time_seconds",host="h0"}
{__name__=~"tied|boot_time_seconds",host="h0"} * 1
{__name__=~"tied|boot_time_seconds",host="h0"} > bool 1
{__name__=~"tied|boot_time_seconds",host="h0"} > 1
abs({__name__=~"tied|boot_time_seconds",host="h0"})
rate({__name__=~"tied|boot_time_seconds",host="h0"}[5m])
last_over_time({__name__=~"tied|boot_time_seconds",host="h0"}[5m])
up and up
up and nothing
up and on(job) up{job="api"}
up and ignoring(job) up{job="api"}
up and on() vector(1)
up and on(instance) (up{job="api"} == 1)
up or nothing
nothing or up
up or lonely
up{job="api"} or up{job="web"}
up{job="api"} or on(instance) up{job="web"}
up{job="api"} or ignoring(job) up
up or on() vector(0)
nothing or on() vector(0)
sum(nothing) or vector(0)
up unless up
up unless nothing
up unless on(job) up{job="api"}
up unless ignoring(job) up{job="api"}
up and up or up unless up
up == 1 and on(job, instance) http_requests_total{code="200",method="GET"} > 100
up and on(job) up or vector(5) + 1
up * on(job, instance) up == 1
rate(http_requests_total[5m])
rate(http_requests_total[1m])
rate(http_requests_total[20s])
rate(http_requests_total[10s])
rate(http_requests_total[1h])
rate(http_requests_total[5m] offset 10m)
rate(http_requests_total[5m] @ 1700001000)
increase(http_requests_total{code="404"}[10m])
increase(http_requests_total{code="404"}[7m13s])
increase(late_total[2h])
increase(late_total[2h] offset -1h)
increase(gone[2h])
rate(gone[2h])
delta(temperature_celsius[10m])
delta(disk_free[15m])
idelta(temperature_celsius[10m])
irate(http_requests_total{code="200"}[5m])
irate(http_requests_total{code="200"}[20s])
irate(process_cpu_seconds_total[5m])
rate(process_cpu_seconds_total[5m])
deriv(disk_free[30m])
deriv(temperature_celsius[20m])
deriv(up[5m])
deriv(odd[5m])
predict_linear(disk_free[30m], 3600)
predict_linear(disk_free{device="sda"}[1h], 4 * 3600)
predict_linear(temperature_celsius[20m], -600)
predict_linear(odd[5m], 60)
predict_linear(disk_free[30m] offset 10m, 3600)
predict_linear(disk_free[30m] @ 1700003000, 3600)
predict_linear(disk_free[30m:1m], 3600)
holt_winters(disk_free[30m], 0.5, 0.5)
holt_winters(temperature_celsius[20m], 0.3, 0.1)
holt_winters(temperature_celsius[20m], 0.01, 0.99)
holt_winters(temperature_celsius[20m], 0, 0.5)
holt_winters(temperature_celsius[20m], 0.5, 1)
holt_winters(temperature_celsius[20m], 1.5, 0.5)
holt_winters(temperature_celsius[20m], 0.5, NaN)
holt_winters(nothing[20m], 5, 5)
changes(up[30m])
changes(odd[10m])
changes(kube_pod_container_status_restarts_total[1h])
resets(http_requests_total[1h])
resets(odd[10m])
resets(temperature_celsius[10m])
avg_over_time(temperature_celsius[10m])
avg_over_time(odd[10m])
avg_over_time(up[1h])
sum_over_time(temperature_celsius[10m])
sum_over_time(odd[10m])
sum_over_time(up[1h])
min_over_time(temperature_celsius[10m])
min_over_time(odd[10m])
max_over_time(temperature_celsius[10m])
max_over_time(odd[10m])
count_over_time(temperature_celsius[10m])
count_over_time(sparse[1h])
stddev_over_time(temperature_celsius[10m])
stddev_over_time(odd[10m])
stdvar_over_time(temperature_celsius[10m])
stdvar_over_time(boot_time_seconds[10m])
quantile_over_time(0.5, temperature_celsius[10m])
quantile_over_time(0.95, odd[10m])
quantile_over_time(0.1, odd[10m])
quantile_over_time(-0.1, temperature_celsius[10m])
quantile_over_time(1.1, temperature_celsius[10m])
quantile_over_time(NaN, temperature_celsius[10m])
quantile_over_time(scalar(vector(0.25)), temperature_celsius[10m])
last_over_time(temperature_celsius[10m])
last_over_time(sparse[1h])
last_over_time(gone[2h])
present_over_time(sparse[1h])
present_over_time(nothing[1h])
max_over_time(rate(http_requests_total{job="web"}[5m])[30m:1m])
min_over_time(sum by (job) (rate(http_requests_total[5m]))[30m:1m])
avg_over_time(sum(rate(http_requests_total[1m]))[10m:30s])
quantile_over_time(0.9, (container_memory_bytes / on(namespace, pod) container_memory_limit_bytes)[30m:1m])
rate(sum by (job) (http_requests_total)[10m:1m])
increase((http_requests_total{job="web"} * 2)[10m:1m])
deriv(rate(http_requests_total{job="web",code="200"}[2m])[20m:1m] offset 5m)
sum_over_time(up[10m:])
count_over_time(up[10m:17s])
count_over_time(up[10m:1m] offset 3m)
count_over_time(up[10m:1m] @ 1700002000)
count_over_time(up[10m:1m] @ 1700002000 offset 100s)
count_over_time((up @ 1700002000)[10m:1m])
count_over_time(up[1m:5m])
count_over_time((up == 1)[10m:1m])
absent_over_time((up == 5)[10m:1m])
max_over_time(time()[10m:1m])
max_over_time(vector(time())[10m:1m])
max_over_time(timestamp(up)[10m:1m])
sum_over_time(sum_over_time(up{job="api"}[5m:1m])[10m:2m])
sum_over_time((up{job="api"} @ start())[5m:1m])
histogram_quantile(0.5, request_seconds_bucket)
histogram_quantile(0.9, rate(request_seconds_bucket[5m]))
histogram_quantile(0.99, sum by (le) (rate(request_seconds_bucket[5m])))
histogram_quantile(0.95, sum by (job, le) (rate(request_seconds_bucket[5m])))
histogram_quantile(0.95, sum by (job) (rate(request_seconds_bucket[5m])))
histogram_quantile(0, request_seconds_bucket)
histogram_quantile(1, request_seconds_bucket)
histogram_quantile(-1, request_seconds_bucket)
histogram_quantile(2, request_seconds_bucket)
histogram_quantile(NaN, request_seconds_bucket)
histogram_quantile(0.5, bad_bucket)
histogram_quantile(0.1, bad_bucket)
histogram_quantile(0.9, bad_bucket)
histogram_quantile(0.01, bad_bucket)
histogram_quantile(2, bad_bucket)
histogram_quantile(0.5, up)
histogram_quantile(0.5, sum by (le) (bad_bucket))
histogram_quantile(scalar(vector(0.5)), request_seconds_bucket)
histogram_quantile(0.5, {__name__=~"request_seconds_bucket|bad_bucket"})
histogram_count(up)
histogram_sum(up)
histogram_fraction(0, 1, up)
sum(rate(request_seconds_sum[5m])) / sum(rate(request_seconds_count[5m]))
sum by (job) (rate(request_seconds_bucket{le="0.1"}[5m])) / sum by (job) (rate(request_seconds_count[5m]))
sum(rate(http_requests_total{code=~"5.."}[5m])) by (job) / sum(rate(http_requests_total[5m])) by (job)
sum by (job) (rate(http_requests_total{code=~"5.."}[5m])) / sum by (job) (rate(http_requests_total[5m])) > 0.001
100 * (1 - avg by (instance) (rate(process_cpu_seconds_total[5m])))
count(up == 0) or vector(0)
count by (namespace) (kube_pod_status_phase{phase!="Running"} == 1)
sum by (namespace, phase) (kube_pod_status_phase)
topk(5, sum by (pod) (container_memory_bytes))
sum by (node) (kube_pod_info)
sum by (node) (container_memory_bytes * on(namespace, pod) group_left(node) kube_pod_info)
increase(kube_pod_container_status_restarts_total[1h]) > 0
container_memory_bytes / on(pod, namespace) container_memory_limit_bytes > 0.5
avg_over_time(up[5m]) < 1
(time() - timestamp(up)) > 5
max(time() - boot_time_seconds) / 86400
ALERTS
sum(up) > bool 3
sum(up) # a comment
  sum  (  up  )
SUM(up)
sum BY (job) (up)
up AND up
up OFFSET 5m
sum(up) by (on, by, sum)
sum by (bool, offset, and) (up)
count(sum)
sum
offset
and
by
start
end
sum + sum
count + 1
start{a="b"}
{on="x"}
rate(sum[5m])
""".strip("\n").split("\n")

SOME_RANGES = r"""
1
time()
"x"
up[5m]
up
up * 2
sum(up)
count(up) by (job)
vector(time())
gone
late_total
lonely
sparse
-temperature_celsius
temperature_celsius > 5
temperature_celsius > bool 5
up == 0
scalar(temperature_celsius{room="hall"})
scalar(late_total)
absent(late_total)
absent(gone)
absent(nothing{a="b"})
absent_over_time(late_total[10m])
absent_over_time(gone{kind="early"}[10m])
rate(http_requests_total{code="200"}[5m])
irate(http_requests_total{code="404"}[2m])
increase(http_requests_total{job="web",code="500"}[10m])
sum by (job) (rate(http_requests_total[5m]))
sum(rate(http_requests_total[5m])) without (instance, method)
topk(1, temperature_celsius)
bottomk(2, temperature_celsius)
topk(2, rate(http_requests_total[5m]))
topk(scalar(count(kube_pod_info)) - 5, temperature_celsius)
quantile(0.5, rate(http_requests_total[5m]))
quantile(scalar(up{job="api",instance="c:81"}), temperature_celsius)
count_values("value", up)
count_values("v", kube_pod_container_status_restarts_total)
stddev(temperature_celsius)
stdvar by (job) (process_cpu_seconds_total)
avg(odd)
min(odd)
max by (kind) (odd)
avg by (namespace) (container_memory_bytes)
histogram_quantile(0.9, sum by (le) (rate(request_seconds_bucket[5m])))
histogram_quantile(0.5, request_seconds_bucket{job="api"})
histogram_quantile(scalar(temperature_celsius{room="hall"}) / 30, request_seconds_bucket{job="api"})
histogram_quantile(0.3, bad_bucket)
up{job="api"} + ignoring(job) up{job="web"}
up and on(job) (up{instance="a:80"} == 1)
up or on() vector(7)
up{job="api"} unless on(instance) (up{job="web"} == 1)
(up == 0) or (up{job="api"} == 1)
late_total or vector(3)
gone or late_total
http_requests_total * on(job, instance) group_left up
left + on(host) right
kube_pod_status_phase{phase="Running"} == on(pod) kube_pod_info
kube_pod_status_phase == on(pod) kube_pod_info
kube_pod_status_phase * on(pod) group_left(node) kube_pod_info
container_memory_bytes / on(namespace, pod) container_memory_limit_bytes > 0.8
up @ 1700001000
sum(up @ start()) + sum(up @ end())
rate(http_requests_total{code="200",job="api"}[5m] @ 1700003000)
up @ 1700001000 + up
timestamp(up @ 1700001000)
timestamp(up)
timestamp(up + 0)
predict_linear(disk_free[30m], 3600)
predict_linear(disk_free[10m], time() - 1700000000)
deriv(temperature_celsius[10m])
holt_winters(temperature_celsius[10m], 0.5, 0.3)
avg_over_time(temperature_celsius[5m])
avg_over_time(odd[2m])
sum_over_time(odd{kind="cancel"}[10m])
stddev_over_time(temperature_celsius[10m])
quantile_over_time(0.7, temperature_celsius[10m])
quantile_over_time(scalar(up{job="api",instance="c:81"}) / 3, temperature_celsius[10m])
min_over_time(odd{kind=~"holes|spikes"}[1m])
last_over_time(sparse[10m])
present_over_time(sparse[2m])
count_over_time(up[1m])
changes(up[10m])
resets(http_requests_total{job="web"}[20m])
delta(disk_free[5m])
idelta(disk_free[5m])
max_over_time(sum(rate(http_requests_total[2m]))[10m:1m])
count_over_time(up[5m:45s])
count_over_time(up[5m:45s] @ 1700002000)
sum_over_time((up @ end())[5m:1m])
avg_over_time(rate(http_requests_total{code="404",job="web"}[3m])[9m:])
up offset 5m
up offset -5m
rate(process_cpu_seconds_total[3m] offset 7m)
hour()
minute(boot_time_seconds)
day_of_week(vector(time()))
label_replace(up, "host", "$1", "instance", "(.*):.*")
label_join(up, "all", "/", "job", "instance")
label_replace(kube_pod_info, "pod", "one", "pod", ".*")
{__name__=~"gone|late_total"} * 1
abs({__name__=~"gone|late_total",kind=~".*"})
sum({__name__=~"gone|late_total"}) by (kind)
label_replace({__name__=~"gone|late_total"}, "kind", "x", "", "")
-label_replace({__name__=~"gone|late_total"}, "kind", "x", "", "")
rate(label_replace({__name__=~"gone|late_total"}, "kind", "x", "", "")[5m:1m])
sum_over_time(label_replace({__name__=~"gone|late_total"}, "kind", "x", "", "")[5m:1m])
clamp(temperature_celsius, scalar(up{job="api",instance="c:81"}), 10)
round(temperature_celsius, 0.5)
sgn(temperature_celsius)
sort(temperature_celsius)
sort_desc(temperature_celsius)
scalar(up)
1 + 1
1 > bool 2
vector(1) > 2
temperature_celsius ^ 2 % 7
-1 ^ 2
sum(nothing)
nothing
""".strip("\n").split("\n")

STALE = r"""
flapping_total
gauge
over
over offset 5m
timestamp(gauge)
count(flapping_total)
sum by (job) (flapping_total)
absent(over)
absent(flapping_total{pod="p1"})
rate(flapping_total[5m])
rate(flapping_total[1m])
irate(flapping_total[2m])
increase(gauge[10m])
delta(gauge[10m])
deriv(gauge[10m])
changes(flapping_total[10m])
resets(flapping_total[10m])
count_over_time(flapping_total[5m])
sum_over_time(gauge[10m])
avg_over_time(flapping_total[3m])
last_over_time(over[20m])
last_over_time(gauge[2m])
present_over_time(over[1m])
absent_over_time(over[3m])
quantile_over_time(0.5, flapping_total[5m])
stddev_over_time(gauge[9m])
count_over_time(flapping_total[5m:30s])
max_over_time(count(flapping_total)[5m:15s])
flapping_total or on(pod) steady
steady unless on(pod) over
steady and on(pod) over
gauge - on(pod) flapping_total
steady * on(pod) group_right flapping_total
flapping_total @ 1700000900
flapping_total[2m]
gauge[10m]
over[10m]
gauge[5m:1m]
topk(2, flapping_total)
scalar(over)
{pod="p0"}
predict_linear(gauge[10m], 60)
holt_winters(gauge[10m], 0.3, 0.3)
label_replace(over, "x", "$1", "pod", "(.*)")
""".strip("\n").split("\n")

MIDDLE = BEGIN + 3_600_000

Question = tuple[str, dict[str, str]]


def questions() -> list[Question]:
    """Every question: the endpoint and its parameters, each once."""
    asked: list[Question] = []
    for text in INSTANT:
        asked.append(("query", {"query": text, "time": _seconds(MIDDLE)}))
    for text in INSTANT[::5]:
        asked.append(("query", {"query": text, "time": _seconds(BEGIN + 4_807_331)}))
    for number, text in enumerate(SOME_RANGES):
        step = ("420", "307.5", "11m")[number % 3]
        asked.append(
            ("query_range", {"query": text, "start": _seconds(BEGIN), "end": _seconds(END), "step": step})
        )
    for endpoint, query in PARAMETERS:
        parts = [part.partition("=") for part in query.split("&") if part]
        asked.append((endpoint, {name: value for name, _, value in parts}))
    return asked


def stale_questions() -> list[Question]:
    """Questions about the series with stale markers."""
    asked: list[Question] = []
    for text in STALE:
        for seconds in (301, 480.25, 900, 1500):
            asked.append(("query", {"query": text, "time": _seconds(BEGIN + round(seconds * 1000))}))
        times = {"start": _seconds(BEGIN), "end": _seconds(BEGIN + 1_900_000)}
        asked.append(("query_range", {"query": text, **times, "step": "47"}))
    return asked


def _seconds(milliseconds: int) -> str:
    return f"{milliseconds / 1000:.3f}"


PARAMETERS = [
    (endpoint, query)
    for line in r"""
query query=up&time=x
query query=1&time=1700000000.0005
query query=1&time=1.0015
query query=1&time=-5
query query=1&time=0x10
query query=1&time=1_000
query query=1&time=2020-01-01T00:00:00.123456+02:00
query query=1&time=2020-01-01T00:00:00Z
query query=1&time=2020-13-01T00:00:00Z
query query=1&time=2020-01-01
query query=1&time=1e9
query query=1&timeout=x
query query=1&time=5&timeout=5s
query time=5
query_range query=up
query_range query=up&start=1
query_range query=up&start=1&end=x
query_range query=up&start=5&end=1
query_range query=up&start=5&end=10
query_range query=up&start=5&end=10&step=x
query_range query=up&start=5&end=10&step=0
query_range query=up&start=5&end=10&step=-1
query_range query=up&start=5&end=10&step=1e30
query_range query=up&start=5&end=10&step=1m1h
query_range query=up&start=5&end=10&step=0.0001
query_range query=1&start=0&end=11001&step=1
query_range query=1&start=0&end=10&step=1&timeout=y
query_range query=1+&start=0&end=10&step=1
query_range query=1&start=0&end=10&step=2.5
query_range query=1&start=2020-01-01T00:00:00Z&end=2020-01-01T00:03:00Z&step=1m
query_range query=rate(up)&start=0&end=10&step=1
series match[]=up
series match[]=
series match[]={}
series match[]={a=""}
series match[]=up[5m]
series match[]=up{
series match[]=1
series match[]=sum(up)
series match[]=up up
series match[]={job="api",code="500"}
series match[]={__name__=~"up|lonely"}
series match[]=nothing
series match[]=up&start=x
series match[]=up&end=2020-01-01T00:00:00
series start=1
labels
labels match[]=up
labels match[]={__name__=~"kube.*"}
labels match[]=up)
labels start=x
label/job/values
label/__name__/values
label/nothing/values
label/a-b/values
label/1a/values
label/instance/values match[]=up{job="api"}
label/instance/values match[]={x!="y"}
label/le/values end=y
metadata limit=x
metadata limit=-1
metadata metric=up
alerts
rules
rules type=alert
rules type=x
targets
targets state=x
""".strip().split("\n")
    for endpoint, _, query in [line.partition(" ")]
]
