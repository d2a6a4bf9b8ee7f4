"""Queries that are none, each wrong in a way of its own."""

BROKEN = r"""

#only a comment
1 +
1 + )
+
-
(
)
((1)
(1))
()
(1
sum
sum(
sum()
sum(up
sum(up))
sum up
sum up by (job)
sum by job (up)
sum by (job (up)
sum by (job up
sum by (job,,instance) (up)
sum by (,job) (up)
sum by (job,) (up
sum by (1) (up)
sum by ("job") (up)
sum by (job:x) (up)
sum by (job) up
sum by (job) (up) by (job)
sum(up) by job
sum(up) by (job) by (instance)
sum(up, up)
sum(1)
sum("x")
sum(up[5m])
sum(up) without
sum without (up)
sum(up up)
sum(rate(up up))
rate(up up)
rate(sum(up up)[5m:])
topk(up)
topk(1)
topk(1, up, 2)
topk("a", up)
topk(up, up)
count_values(1, up)
count_values("1x", up)
quantile(0.5)
quantile("0.5", up)
avg()
group by (a)
foo bar
foo{} bar
up up
up 5
5 up
5 5
"a" "b"
"a
'a
`a
"a\z"
"a\x1"
"a\xzz"
"a\u12"
"a\ud800"
"a\400"
"a\
up{
up{job
up{job}
up{job=
up{job=}
up{job="a"
up{job="a",
up{job="a",,}
up{,}
up{,job="a"}
up{job="a" instance="b"}
up{job="a";instance="b"}
up{job==“a”}
up{job=a}
up{job=5}
up{5="a"}
up{"job"="a"}
up{job="a"}}
up{{job="a"}}
up{job="a"}{instance="b"}
up{job~"a"}
up{job=~"("}
up{job=~"[a"}
up{job=~"*"}
up{job=~"a**"}
up{job!~"a{2000}"}
up{job=~"a)"}
up{job=~"(?=a)"}
up{job=~"\\"}
up{job=~"\\8"}
up{job=~"(?P<x"}
up{job=~"[z-a]"}
up{job=~"a{2,1}"}
up{job=~"\\pX"}
up{job!"a"}
up{job !"a"}
up{job!=~"a"}
up{job=~a}
up{job='a"}
up{job="a\q"}
up{j-b="a"}
up{job:x="a"}
up{on="a"} on
{}
{job=""}
{job=~".*"}
{job!="a"}
{job!~"a"}
{job=~""}
up{__name__="x"}
up{__name__=~"x.*"}
up[
up[]
up[5]
up[5m
up[m]
up[5x]
up[5mm]
up[5m5]
up[1h5]
up[5m 5m]
up[5m:
up[5m:]]
up[5m:5]
up[5m:5x]
up[5m::]
up[5m:1m
up[5m:1m:]
up[:1m]
up[5m]]
up[[5m]]
up[5m][5m]
up[5m][5m:]
up[5m:1m][5m]
up[-5m]
up[0m]
up[0s:]
up[1m1h]
up[1y2y]
up[99999999y]
up[5M]
up["5m"]
up[abc]
up[1.5m]
up[$__interval]
up[5m] + 1
1 + up[5m]
-up[5m]
-"a"
+up[5m]
"a" + 1
1 + "a"
"a" == "a"
sum(up)[5m]
(up)[5m]
rate(up)[5m]
(up[5m])[5m]
5[5m]
5[5m:]
"a"[5m:]
up offset
up offset 5
up offset 5x
up offset -
up offset --5m
up offset foo
up offset 5m offset 3m
up offset 5m[5m]
up[5m] offset
sum(up) offset 5m
(up) offset 5m
5 offset 5m
up + up offset 5m offset 3m
offset 5m
up @
up @ foo
up @ "5"
up @ start
up @ start(
up @ start(1)
up @ 5 @ 6
up @ 5[5m]
up @ end() @ start()
up @ inf
up @ nan
up @ -inf
up @ 1e100
up @ -
up @ 5m
sum(up) @ 5
5 @ 5
@ 5
up @ start() [5m]
rate(up)
rate(up[5m], 1)
rate()
rate(5)
rate("a")
rate(up[5m]
rate up[5m]
rate[5m]
rate(up[5m:30s]) offset 5m
abs(up[5m])
abs(1)
abs()
abs(up,)
abs(,up)
abs(up up)
abs(up,up)
foo(up)
foo()
foo(up[5m])
histogram_quantile(up)
histogram_quantile(0.9)
histogram_quantile(0.9, 5)
histogram_quantile("0.9", up)
histogram_quantile(up, 0.9)
label_replace(up)
label_replace(up, "a", "b", "c")
label_replace(up, a, "b", "c", "d")
label_join(up)
label_join(up, "a")
label_join(up, "a", ",", b)
round()
round(up, 1, 2)
round(up, "a")
round("a", up)
clamp(up, 1)
clamp_min(up)
scalar(1)
vector(up)
time(1)
pi(1)
day_of_month(1)
day_of_month(up, up)
holt_winters(up, 0.5, 0.5)
predict_linear(up[5m])
quantile_over_time(up[5m], 0.5)
quantile_over_time(0.5, up)
absent(1)
absent_over_time(up)
timestamp(1)
sort(1)
1 == 1
1 > 2
1 == bool 1 == 2
1 + bool 2
up + bool up
up and bool up
up and 1
1 or up
1 and 2
up unless 5
up or "a"
up + on
up + on(
up + on()
up + on(a up
up + on(a)
up + on(a) 1
1 + on(a) up
1 + ignoring(a) 1
1 + on() 1
up + group_left up
up + on(a) group_left
up + on(a) group_left(a) up
up + on(a,b) group_right(b) up
up + ignoring(a) group_left(a) up
up and on(a) group_left up
up or on(a) group_right(b) up
up unless ignoring(a) group_left(b) up
up + on(a) ignoring(b) up
up + on(a) group_left(b) group_right(c) up
up + on(1) up
up == on(a) bool up
up bool == up
up =< 5
up => 5
up = 5
up =~ "a"
up !~ "a"
up ! 5
up !
up <> 5
up && up
up || up
up & up
up ** 2
up // 2
up ++
up -- up -
up ^
not up
up; up
up.foo
up#
up $ 5
up ? 1
$up
é
🚀
“up”
日本
up{🚀="a"}
up{job="a"} 日
"\🚀"
"\x🚀"
up ! 🚀
up{a!🚀}
up é
up{job="a"} é
\
~up
1..2
1.2.3
1e
1e+
0x
0xg
0b1
1_000
5m
5x
1h30
08
09.5
1e400
99999999999999999999999
0xffffffffffffffffff
.
..
.5.
Infx
NaNx
infinity
bool
on
by
by (a)
ignoring
group_left
without
and
or
unless
and up
start
end()
start()
end(up)
up{job="a"} or
up and and up
up or or
-
1 - -
sum(-)
sum(up) +
sum(up + )
sum(up +
avg(rate(http_requests_total[5m]) by (job)
sum(rate(http_requests_total{job="api"}[5m]) by (job))
sum(rate(http_requests_total{job="api"[5m])) by (job)
sum(rate(http_requests_total{job="api"}[5m])))
sum(rate(http_requests_total{job="api"}5m)) by (job)
rate(http_requests_total{job="api"})
rate(sum(http_requests_total)[5m])
increase(http_requests_total)
histogram_quantile(0.95, rate(request_seconds_bucket[5m]) by (le))
histogram_quantile(0.95, sum(rate(request_seconds_bucket[5m])) by le)
sum by (pod (kube_pod_info)
SELECT * FROM up
kubectl get pods
up where job="a"
up{job="a"} == 1 and
count(up == 0) > bool
topk(5 up)
topk 5 (up)
limitk(1, up)
info(up)
sort_by_label(up, "a")
mad_over_time(up[5m])
histogram_avg(up)
double_exponential_smoothing(up[5m], 0.5, 0.5)
{"up"}
{"my.metric"}
up{"my.label"="x"}
sum(up) by ("a.b")
1 + # comment
up offset 0s
up + on(a) group_left )
up + on(a) group_left + 1
up + on(a) group_left -1
up + on(a) group_left [5m]
up + on(a) group_left by
up + on(a) group_left bool up
up @ start() @ end()
up[5m] @ 5 offset 0m
sum(up @)
sum by (job)
sum by (job) (
sum by (without) (up)
sum by (by, on, bool, group_left, offset, ignoring, and, atan2, start, sum) (up)
sum by (job) [5m]
sum(rate(up[5m)))
sum{job="a"} by (job)
clamp(up, @, 1)
clamp(up,, 1)
clamp(up, 5m, 1)
clamp(up, on, 1)
quantile(1, [5m])
sum[5m] 1
sum offset
sum @ 5 x
sum 5
sum "a"
sum +
sum bool
sum,
count(count by (a)
(up
  + +
  foo bar
up{a="b"}[5m
up[5m] # range
""".split("\n")
