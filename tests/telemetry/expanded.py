"""Templates of annotations, as consoles of a real Prometheus expand them (whose text is HTML: no quotes in results)."""

EXPANSIONS = r"""
plain text
{{ 1 }} {{ 1.5 }} {{ -3 }} {{ 1e9 }} {{ 0.1 }} {{ true }}
{{ "text" }} {{ `raw` }}
{{ humanize 0 }} {{ humanize 1 }} {{ humanize 12.345678 }} {{ humanize 999 }} {{ humanize 1000 }} {{ humanize 1234567 }}
{{ humanize 1e12 }} {{ humanize 1.5e15 }} {{ humanize 1e24 }} {{ humanize 1e27 }} {{ humanize -1234567 }} {{ humanize 1e30 }}
{{ humanize 0.1 }} {{ humanize 0.00123 }} {{ humanize 1e-7 }} {{ humanize 1e-24 }} {{ humanize 1e-30 }} {{ humanize 0.9999 }}
{{ humanize "1500" }} {{ humanize "NaN" }} {{ humanize "+Inf" }} {{ humanize "-Inf" }}
{{ humanize1024 0 }} {{ humanize1024 1 }} {{ humanize1024 1023 }} {{ humanize1024 1024 }} {{ humanize1024 1048576 }} {{ humanize1024 134217728 }}
{{ humanize1024 1e12 }} {{ humanize1024 1e30 }} {{ humanize1024 -5000 }} {{ humanize1024 0.5 }} {{ humanize1024 "NaN" }} {{ humanize1024 "Inf" }}
{{ humanizeDuration 0 }} {{ humanizeDuration 1 }} {{ humanizeDuration 60 }} {{ humanizeDuration 3600 }} {{ humanizeDuration 86400 }}
{{ humanizeDuration 93784 }} {{ humanizeDuration 59.9 }} {{ humanizeDuration 899.99 }} {{ humanizeDuration -3661 }} {{ humanizeDuration 1234567.8 }}
{{ humanizeDuration 0.1 }} {{ humanizeDuration 0.0001 }} {{ humanizeDuration 0.0000123 }} {{ humanizeDuration 1e-12 }} {{ humanizeDuration "NaN" }} {{ humanizeDuration "Inf" }}
{{ humanizePercentage 0 }} {{ humanizePercentage 0.5 }} {{ humanizePercentage 0.123456789 }} {{ humanizePercentage 1 }} {{ humanizePercentage 12.5 }} {{ humanizePercentage "0.25" }} {{ humanizePercentage 0.99999 }}
{{ humanizeTimestamp 0 }} {{ humanizeTimestamp 1700003600 }} {{ humanizeTimestamp 1700003600.5 }} {{ humanizeTimestamp "NaN" }} {{ humanizeTimestamp 1435065584.128 }}
{{ 1234.5 | humanize }} {{ 0.5 | humanizePercentage | toUpper }}
{{ printf "%.2f" 3.14159 }} {{ printf "%d" 42 }} {{ printf "%s-%s" "a" "b" }} {{ printf "%5.1f|" 2.25 }} {{ printf "%v" 1.5 }} {{ printf "%.0f" 2.5 }} {{ printf "%g" 1e9 }}
{{ printf "%.2f%%" 12.345 }} {{ printf "%e" 12345.678 }} {{ printf "%x" 255 }} {{ printf "%t" true }} {{ printf "%05d" 42 }} {{ printf "%-5s|" "ab" }} {{ printf "%s" 5 }} {{ printf "%d" 1.5 }}
{{ toUpper "abc" }} {{ toLower "ABC" }} {{ title "hello world" }} {{ stripPort "a:80" }} {{ stripPort "a" }} {{ stripPort "[::1]:80" }} {{ stripDomain "a.b.c:80" }} {{ stripDomain "1.2.3.4" }}
{{ reReplaceAll "a(.)" "b$1" "axay" }} {{ reReplaceAll "(.*):(.*)" "$2:$1" "x:y" }} {{ match "a.*" "abc" }} {{ match "^b" "abc" }}
{{ if true }}yes{{ else }}no{{ end }} {{ if eq 1 2 }}yes{{ else }}no{{ end }} {{ if gt 3.5 2.0 }}yes{{ end }} {{ if and true false }}yes{{ else }}no{{ end }} {{ if not false }}yes{{ end }}
{{ $x := 5 }}{{ $x }} {{ with "v" }}{{ . }}{{ end }} {{ len "abc" }} {{ parseDuration "1h30m" }}
{{- " trimmed " -}}   x
{{ first (query "lonely @ 1700003700.0") | value }} {{ first (query "texts{city='Bern'} @ 1700003600") | label "city" }}
{{ range query "up{job='api'} @ 1700003600" }}{{ .Labels.instance }}={{ .Value }} {{ end }}
{{ range query "sort_desc(temperature_celsius @ 1700003600)" }}{{ .Labels.room }} {{ .Value | humanize }} {{ end }}
{{ with query "nothing" }}some{{ else }}none{{ end }} {{ query "up @ 1700003600" | len }}
{{ range query "sum by (job) (up @ 1700003600)" | sortByLabel "job" }}{{ .Labels.job }}:{{ printf "%.1f" .Value }} {{ end }}
{{ with query "lonely @ 1700003700.0" }}{{ . | first | value | printf "%.3f" }}{{ end }} {{ strvalue (first (query "texts @ 1700003600")) }}
{{ safeHtml "<b>" }} {{ pathPrefix }}
{{ args 1 2 }} {{ (args 1 2).arg1 }}
{{ nothing }}
{{ humanize "x" }}
{{ if }}
{{ first (query "nothing") }}
{{ query "up{" }}
""".strip("\n").split("\n")
