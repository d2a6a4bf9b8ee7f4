"""The words of a cause, as concepts: what engineers call the objects, fields and defects of Kubernetes.

Each concept is a regular expression for lower-case text, found as words of their own. Mechanisms are said in concepts
(:mod:`~sregym_env.faults.mechanisms`), so that a new wording of "is missing" serves them all.
"""

from __future__ import annotations

from collections.abc import Mapping

_BE = r"(?:is|are|was|were|be|been|being|has been|have been|had been|got|gets)"
_NOT = r"(?: not|n't|not)"
_MEM = r"(?:memory|mem|ram)"
_GIVEN = r"(?<!has )(?<!have )(?<!had )(?<!holds )(?<!given )(?<!got )(?<!only )(?<!just )(?<!with )(?<!to )(?<!granted )"
"""Before what an account has for what it lost, which is not what it lost."""

OBJECTS: Mapping[str, str] = {
    # what else runs, or is asked, beside the application
    "anti_affinity": r"(?:required |hard |pod )*(?:pod)?[ _-]?anti[ _-]?affinit(?:y|ies)(?: rule| term| requirement)?s?"
    r"|(?:must|may|can|shall)(?:not| not) (?:share|run (?:beside|with|next to|together with)|be (?:placed )?(?:with|beside|next to))"
    r"|(?:keeps?|kept|stays?|told to (?:keep|stay)) away from|refus\w+ to (?:share|run (?:beside|with|next to))"
    r"|(?:may|must|can|shall)(?:not| not|n't) (?:be )?(?:placed|put|scheduled|run|sit|live) (?:in|on|into|within) the same|not allowed (?:beside|next to|near|together with)|must not be neighbou?rs?|keep(?:s|ing)? (?:it|them|its pods?) apart|(?:must|should) stay away from",
    "topology_key": r"topology ?keys?|topology domains?|domains? of (?:the|its) topology|one (?:single )?domain|same (?:topology )?domain",
    "webhook": r"(?:(?:validating|mutating|admission) )*web-?hooks?(?: config\w*)?|(?:validating|mutating)webhookconfigurations?"
    r"|failure ?policy(?:: ?fail)?|admission (?:check|control|controller|plugin|step|gate)",
    "certificate": r"(?:(?:tls|ssl|serving|server|x\.?509|webhook) ?-?)*cert(?:ificate)?s?(?: chain)?|x\.?509",
    "authority": r"ca[ -]?bundles?|(?:certificate |signing |issuing )?authorit(?:y|ies)|(?:wrong |old |other |root |trust |signing |issuing )*cas?(?: cert\w*)?(?: bundle)?|(?:trust|root)[ -]?(?:bundle|anchor|store)s?|ca\.crt|issuers?",
    "api_server": r"(?:kube-?)?api-?servers?|api servers?|kube-?apiserver|control[ -]plane",
    "pod_security": r"pod[- ]?security(?:\.kubernetes\.io/enforce)?(?: ?(?:standards?|admission|polic(?:y|ies)|levels?|profiles?|labels?))?|psa|pss|(?:security|restricted) (?:standard|profile|level)s?|enforce(?:d|s|ment)?(?: label)?[ :=]+restricted",
    "host_port": r"host[ _-]?ports?|ports? (?:on|of) (?:the|its|their|every|each|all) (?:node|host|machine)s?(?: itself)?|node'?s'? ports?|ports? of the node"
    r"|ports? (?:\d+ )?(?:itself )?(?:on|of) (?:the|its|their|every|each|all|any|whatever) (?:worker |single )?(?:node|host|machine|worker|box)(?:s|es)?(?: itself)?|(?:node|host|machine|box)(?:'s)? (?:own )?ports?(?! (?:forward|map))|ports? straight on the (?:node|host|machine)"
    r"|(?:\d{4,5}|ports?) (?:\d+ )?on (?:the|its|their|every|each|any|all)(?: of the)? (?:node|host|machine|worker)s?(?: itself)?",
    "update_strategy": r"max ?-?unavailable|max ?-?surge|roll-?outs?(?= (?:\S+ ){0,4}(?:free to|allowed to|may|permitted to|kill|remove|took|takes|removed|killed))|(?:rolling ?-?)?(?:update|rollout|deployment) ?-?strateg(?:y|ies)|strategy|rollingupdate",
    "kube_proxy": r"kube[- _]?proxy(?:-\w+)?(?:'s)?|service prox(?:y|ies)",
    "proxy_rules": r"ip-?tables(?: (?:nat|rules?|chains?|entr(?:y|ies)))*|(?:d?nat|forwarding|proxy|kube-?proxy|service[- ]routing) (?:rules?|entr(?:y|ies)|tables?)"
    r"|kube-(?:svc|sep)\S*|rules? (?:on|of) (?:the |that |this |one |its )?(?:node|machine|host)",
    "upstream": r"upstreams?(?: (?:server|entry|entries|host|block|name|list)s?)?",
    "proxy_sidecar": r"(?:nginx |side-?car |edge |tcp |egress |mesh )*(?:(?:edge|tcp|egress|mesh|nginx|sidecar)-)?prox(?:y|ies)(?: (?:side-?car|container|process(?:es)?)s?)?|nginx|ambassador",
    "headless": r"headless(?: services?)?",
    "empty_service": r"empty services?|services? (?:\S+ ){0,8}?(?:has|have|had|with|without|is left with|are left with|lost|of) (?:no|zero|any|all|its)(?: \w+){0,2} endpoints",
    "lossy": r"packet[ -]?loss(?:es)?|(?:los(?:es?|ing|t)|drop(?:s|ping|ped)?) (?:\S+ ){0,5}packets|packets (?:\S+ ){0,5}(?:lost|dropped)|retransm\w+|lossy"
    r"|(?:nic|network (?:card|cable|interface|link|adapter)|uplink|transceiver|switch port)s?",
    "mtu": r"(?:veth|path|interface|pod|cni|calico|felix)?[ _-]?mtus?|felix_ipinipmtu|maximum transmission units?|jumbo frames?|pmtu\w*|(?:max(?:imum)?|largest) (?:packet|frame|segment) sizes?"
    r"|fragmentation(?: |-)needed|(?:packets?|frames?) (?:\S+ ){0,3}(?:too (?:large|big|long)|larger than|bigger than|exceed\w*)|(?:too large|oversized|over-sized) (?:packets?|frames?)",
    "local_ports": r"(?:net\.ipv4\.)?ip_local_port_range|sysctls?(?: (?:net\S+|setting|entry|override|parameter|value)s?)*"
    r"|(?:local|ephemeral|source|outgoing|outbound|client|dynamic)[ -](?:tcp )?ports?(?:[ -]?ranges?)?|port[ _-]ranges?|ports? (?:to|it can) (?:dial|connect) (?:out|from)|range of (?:\w+ )?ports",
    "conntrack": r"(?:nf_)?conntrack\w*(?: (?:tables?|entries|entry|maximum|limit))*|connection[ -]track(?:ing|er)?(?: (?:tables?|entries|limit))*|(?:tables?|list) of (?:tracked )?connections|(?:tracked|kernel'?s?) connections? tables?|connection tables?|netfilter (?:state )?tables?"
    r"|table full,? dropping packets?",
    "many_connections": r"(?:holds?|opens?|keeps?|opening|holding|keeping|hoards?|piles? up) (?:\S+ ){0,4}?connections|connections? (?:without (?:end|bound|limit|closing)|flood\w*|leak\w*|hoard\w*)|(?:floods?|flooding|flooded) (?:\S+ ){0,6}?connections",
    "open_files": r"ulimits?(?: (?:-[sh]?n|nofile|of|setting|value|command))*|(?:max(?:imum)? )?open[ -]?(?:file|descriptor|socket)s?(?: (?:handle|descriptor)s?)?(?: limit)?|(?:file[ -]?)?(?:descriptor|handle)s?(?: limit)?"
    r"|(?:rlimit_?)?nofile|fds?(?: limit)?|how many files (?:it|a process|the process|its process) may (?:have )?open|files (?:that )?(?:it|the process) may (?:have )?open",
    "producers": r"(?:kafka |idempotent |librdkafka |rdkafka |broker )?producers?(?: (?:instance|client|connection|object|handle)s?)?|reuse[_ -]?producers?|producer[ -]reuse",
    "regex": r"(?:regular|rule'?s?|filter|waf|pcre2?) (?:expression|pattern|regex\w*)s?|reg-?ex(?:p|es|ps)?|redos|pcre2?",
    "request_filter": r"request[- ]filter(?:'s|s)?(?: rules?)?|waf(?: rules?)?|web application firewall|filter rules?|(?:edge|wasm|envoy) filters?(?: rules?)?|rule \d{5,7}",
    "cronjob": r"cron ?-?jobs?|cron (?:task|entry)|scheduled (?:job|task|run|script)s?|(?:periodic|recurring|nightly|hourly) (?:job|task|script|run)s?",
    # services
    "endpoint_slice": r"(?:discovery\.k8s\.io/)?(?:endpoint ?-?)?slices?(?! of (?:time|cpu|the cpu|memory))",
    "target_port": r"target[ _-]?ports?|\.targetport|backend[ _-]ports?|port mapping|mapping in the service"
    r"|tgt[ _-]?ports?|target[ _-]?prt",
    "service_port": r"(?:service|svc)(?:'s)?(?: own)?[ _-]ports?|ports?(?: field)? of (?:the )?(?:service|svc)|ports\[?\.?0?\]?\.port"
    r"|exposed port|published port|service ?port|front port"
    r"|(?:published|advertised|client-facing|outer|listening) port|port (?:number )?(?:of|on) (?:the |its )?(?:service|svc)|(?:service|svc) port",
    "selector": r"(?<!node)(?<!node[ _-])(?:selectors?|spec\.selector|label query|label selectors?)"
    r"|pod filter|what (?:the )?(?:service|svc) (?:\S+ )?uses to (?:find|select|pick)|match(?:ing)? (?:rule|criteria)|spec\.selector",
    "selects": r"(?:selects?|selecting|selected|matches|matching|match|targets|picks?(?: up)?|picking|captures?|catches|grabs)"
    r"|look(?:s|ing)? for|search(?:es|ing)? for|find(?:s|ing)?|filters? (?:on|by)|wants?|asks? for|insists? on|includes?|covers?|sweeps? up|sweeping up|pulls? in|drags? in|scoops? up|collects?|demands?|requires?",
    "label": r"labels?|labell?ed",
    "endpoints": r"endpoints?|endpoint ?slices?|back-?ends?"
    r"|eps?",
    # images
    "image": r"(?:container |docker |pod )?images?|image ?tags?|image ?references?|tags?|imgs?|[\w-]*image:[\w.-]+",
    "build": r"builds?|releases?|versions?|release candidate|binary release",
    "pull": r"pull\w*|image ?pull ?back ?off|err ?image ?pull|fetch(?:ed)?|download(?:ed)?"
    r"|registry|registries",
    "pull_secret": r"image ?pull ?secrets?|pull[- ]secrets?|reg-?creds?|(?:image |container )?(?:registry|pull)(?:'s)?[- ](?:credentials?|creds|log-?ins?|passwords?|tokens?|secrets?|accounts?|robot)"
    r"|(?:credentials?|creds|log-?ins?|passwords?|tokens?) (?:for|of|at|to|against) (?:the |its |their |our |that )?(?:private |image |container )?registr(?:y|ies)|\.?docker ?config ?(?:json)?|docker-?registry secret|robot (?:account|token|user)s?",
    "registry": r"registr(?:y|ies)|harbor|docker hub|\becr\b|\bacr\b|ghcr(?:\.io)?|quay(?:\.io)?",
    # programs
    "command": r"(?<!exec )(?<!execute )(?:commands?|entry ?-?points?|cmd|command line|command override|start-?up command|args?)"
    r"|(?:told|made|asked|instructed) to (?:run|start|launch|exec\w*)(?! (?:only )?(?:on|in|under|as)\b)|start(?:-?up)? line|launch line|invocation|command:|args:",
    "binary": r"binar(?:y|ies)|executables?|programs?"
    r"|process|main program",
    # configuration
    "configmap": r"config ?-?maps?|cm",
    "config": r"config\.json|[a-z]+-config|config(?:uration)?(?: ?-?(?:map|file|data|document|json))?s?|settings? file|\.json|\.ya?ml|cm",
    "config_key": r"(?:config(?:uration)? )?(?:keys?|entr(?:y|ies)|settings?|propert(?:y|ies)|parameters?|options?|values?|lines?)"
    r"|(?:data ?base|db|mongo\w*) (?:address|url|uri|location)|address of (?:its|the|their) (?:own )?(?:data ?base|db|mongo\w*|store)",
    "address_key": r"(?!localhost)[a-z_]{3,}(?:address|addr|url|uri|host|dsn)|(?:data ?base |mongo\w* |db |server |host )?(?:addresses|address|addr|host name|url|uri|connection string|endpoint)",
    "secret": r"secrets?(?: ?key ?ref)?|secretkeyref|credentials? secret",
    "named_key": r"(?!localhost)[a-z_]{3,}(?:address|addr|url|uri|host|dsn)",
    # Not those of a command line.
    "flag": r"(?<!unknown )(?<!invalid )(?<!obsolete )(?<!deprecated )(?<!unsupported )(?<!unrecogni[sz]ed )(?<!removed )(?<!command-line )(?<!command line )(?<!kubelet )"
    r"(?:(?:feature |config(?:uration)? )?(?:flags?|toggles?|feature gates?|feature switch(?:es)?)|feature-flag\w*"
    r"|switch(?:es)?(?! (?:to|over|from|of|back|was made)\b)|knob|option)(?!:? -{1,2}\w| (?:that was |which was |that has been )?removed\b| (?:that|which) (?:it|this \w+|the kubelet) no longer\b)",
    "named_variable": r"[a-z]+(?:_[a-z]+)*_(?:addr|address|port|host|url|uri|endpoint|string|suffix)",
    "variable": r"[a-z]+(?:_[a-z]+)*_(?:version|enabled|flag|feature|mode|backend)|env(?:ironment)?(?: ?var(?:iable)?s?)?|variables?|env vars?",
    # probes
    "readiness_probe": r"readiness ?-?(?:http ?)?(?:probes?|checks?|endpoint|gate|test|health check|probing)|readyz? probes?|readiness(?= (?:of|is|never|always|on))"
    r"|read(?:y|iness)[- ](?:check|test|signal|endpoint)|(?:check|test|probe|question) (?:that|which) (?:\w+ ){0,3}?(?:lets?|admits?|puts?|declares?|decides?|marks?|makes?|tells?)(?: \S+){0,5}? (?:traffic|ready|service|rotation|endpoints|requests|load)"
    r"|rp"
    r"|(?:check|probe|test) (?:\S+ ){0,6}?(?:whether|if|that) (?:it|the \w+|@\w*) (?:is )?(?:ready|may (?:get|receive|take)|can (?:take|serve|get))",
    "liveness_probe": r"liveness ?-?(?:http ?)?(?:probes?|checks?|endpoint|test|health check|probing)|live-?check|liveness(?= (?:of|is|never|always|on))"
    r"|live(?:ness)?[- ](?:check|test|signal)|alive[- ]?(?:check|test|probe)|(?:check|test|probe) (?:that|which) (?:\w+ ){0,3}?(?:kills?|restarts?|decides?|tells?)(?: \S+){0,5}? (?:alive|dead|kill|restart\w*|container|it)"
    r"|lp"
    r"|(?:check|test|probe|question) (?:\S+ ){0,6}?(?:whether|if|that) (?:it|the \w+|@\w*) (?:is |still )*(?:lives?|alive|runs|dead)|probe of life|health check that restarts",
    "probe_timing": r"initial ?delay(?: ?seconds)?|failure ?thresholds?|(?:probe|check)s? (?:timing|period|interval)|period ?seconds",
    "startup_probe": r"start ?-?up ?-?probes?",
    "probe": r"probes?|probing|health ?-?checks?|health path|healthz|health endpoint"
    r"|checks?|test",
    # scheduling
    "node_selector": r"node ?-?_?selectors?|node ?-?affinity(?: rule| requirement)?|nodeaffinity|nodename|node name|placement (?:rule|constraint)s?"
    r"|scheduling constraint|affinity",
    "node": r"(?:worker ?-?)?(?:nodes?|machines?|hosts?|workers?)"
    r"|boxes|box|hostname",
    "volume": r"(?:persistent ?)?volumes?|pvs?|data (?:volume|directory)|storage(?!=)|its data|their data|disk(?!=)",
    "claim": r"(?:persistent ?)?(?:volume )?claims?(?! that| it\b| to\b)(?: ?-?names?)?|pvcs?|persistentvolumeclaims?|claimnames?",
    "taint": r"taint\w*|[\w./-]+=[\w-]*:no(?:schedule|execute)"
    r"|noschedule|repel\w*",
    "toleration": r"(?:un-?)?tolerat\w+"
    r"|(?:no|lacks?|without|has no) (?:leave|permission|exemption) to run",
    "cordon": r"cordon\w*|scheduling ?disabled|(?:closed|shut|closed off|barred|locked) (?:to|for) (?:all |any )?(?:new )?(?:pods|scheduling|work\w*)|scheduling (?:is |was |has been )?(?:turned off|switched off|disabled)"
    r"|(?:spec\.)?unschedulable(?: is| was| set| flag|:|=)*(?: ?to)? ?[=:]? ?true|(?:marked|made|set|put|left|flagged)(?: as| to)? unschedulable"
    rf"|(?:nodes?|workers?|machines?|them|they|all|three|both) {_BE} (?:all |now |also |currently |both )?(?:marked )?(?:as )?(?:unschedulable|not schedulable)"
    r"|unschedulable (?:worker )?nodes?|nodes? \(?unschedulable"
    r"|closed for business|(?:nodes?|workers?|machines?) (?:(?!since\b|because\b|as\b|so\b|when\b|after\b|that\b|and\b)\S+ ){0,4}(?:closed|shut|barred|off limits|no longer accept\w*|accepts? no|take no|takes no) ?(?:\w+ )?(?:pods?|work\w*)?"
    r"|(?:forgot\w* to|nobody(?: has)?|never|not|no ?one) (?:\w+ )?uncordon\w*|drained and (?:closed|never)|(?:lifted|lift|removed|undid) the cordon",
    # resources
    "memory_limit": rf"(?:{_MEM}) ?-?(?:limits?|caps?|ceiling|allowance|budget|cgroup limit)|limits?\.memory|limits?: \{{ ?memory|limits? (?:on|for|of) (?:the |its )?{_MEM}"
    r"|cgroup limit|allowed (?:\w+ ){0,3}(?:memory|mem|ram)|memory is (?:limited|capped)|limits? memory"
    r"|may (?:only |just |not )?(?:use|have|take|grow)(?: \S+){0,6} (?:of )?(?:memory|ram|mem)|(?:memory|ram) (?:is )?(?:capped|bounded|restricted|limited)"
    r"|(?:memory|mem|ram) lim|lim(?:it)? (?:of |on )?mem"
    r"|(?:confined|restricted|limited|held|squeezed|boxed|reduced|cut|left|granted|given|allowed|allotted|make do|gets? by|live)(?: \w+)? (?:to|into|in|with|on|only|just|no more than|at most) (?:\S+ ){0,2}?(?:\d\S*|ten) ?(?:mi|mib|mb|mebibytes?|megabytes?)"
    r"|(?:\d\S*|ten) ?(?:mi|mib|mb|mebibytes?|megabytes?)(?: of (?:memory|ram|mem))? (?:is|are) (?:all|everything)|(?:memory|mem|ram) (?:limited|capped|restricted|cut|confined|clamped) (?:to|at)"
    r"|(?:taken|withdrawn) (?:out of|from) scheduling|(?:disabled|closed|barred|blocked|locked) (?:for|from|to) scheduling|no scheduling (?:is )?(?:allowed|possible|on)|(?:nodes?|workers?|machines?) (?:\S+ ){0,3}(?:refuse|reject|won't (?:accept|take)|do not (?:accept|take)|don't (?:accept|take)) (?:any |all )?(?:new )?pods",
    "rate_limit": r"qps(?:[ _-]?(?:limits?|caps?|budget|ceiling))?|\w+_qps_limit|(?:request ?-?)?rate[ -]?limit(?:s|ers?|ing|ed)?|limiters?"
    r"|(?:request|throughput) (?:limits?|caps?)|(?:limits?|caps?|ceiling) (?:on|of|for) (?:the |its )?(?:\w+ )?(?:requests?|rate|throughput|qps)"
    r"|(?:limited|paced|capped|restricted|held) to (?:about |only |just )?\S+ (?:requests?|queries|calls|qps|rps|per second|a second|/s)",
    "throughput": r"throughput|(?:requests?|queries|calls)(?: per|/| a|/ )(?: ?second| ?sec| ?s)|per second|a second|rps|qps",
    "headroom": r"head ?room|spare capacity|(?:hardly|barely) (?:more|above)(?: than)?|no slack|too little capacity",
    "retries": r"retr(?:y|ies|ied|ying)(?: storms?)?|metastable|self[- ]sustaining|tried again|asked (?:for )?again",
    "impatience": r"grpc_client_\w+|(?:(?:grpc|rpc|client|call|request|attempt)s?(?:'s)? (?:\w+ )?)?(?:time-?outs?|deadlines?|patience)(?= (?:of|is|was|to|at|set|only|and|plus|with|\(|\d))"
    r"|\d+ ?(?:ms|milliseconds)(?: \w+){0,2} (?:time-?outs?|deadlines?)|impatient\w*|gives? up (?:\S+ ){0,4}after|hasty|(?:cancels?|drops?|abandons?|aborts?|times? out|loses? patience)(?: with)? (?:\S+ ){0,4}?after (?:\S+ ){0,2}?(?:\d+ ?m?s|(?:\w+ )?milliseconds)|los(?:es|ing) patience",
    "attempts": r"attempts?|tries(?! (?:to|/|http|its|it|the)\b| /)|repeat(?:s|ed|ing)? (?:\w+ ){0,3}calls?|calls? (?:\w+ ){0,2}(?:again|repeatedly)|repeated calls|(?:repeats?|repeating|sends?|issues?|asks?) (?:\S+ ){0,3}?(?:up to )?(?:\d+|thirty|dozens of) (?:more )?times|(?:\d+|thirty) times (?:again|over)",
    "unbounded": r"aggressive\w*|dozens|unbounded|without (?:a )?(?:budget|back-?off)|no (?:budget|back-?off)|excessive\w*|too (?:many|often|much|aggressive|short|soon|small)|storm",
    "collector": r"gogc|gc(?:_?percent|[ -]percent(?:age)?| target)?|(?:garbage[- ])?collect(?:or|ors|ion|ions|ing|s)? (?:of )?garbage|garbage[- ]?collect\w*|collectors?|set ?gc ?percent",
    "queue": r"queues?|queued|queueing|backlog|expired?",
    "cpu_limit": r"cpu ?-?(?:limits?|quotas?|caps?|ceiling|allowance|budget|bandwidth)|limits?\.cpu|limits? (?:on|for|of) (?:the |its )?cpu|cfs(?: quota| limit)?"
    r"|processor (?:limit|quota)|cpu is (?:limited|capped)|limits? cpu"
    r"|may (?:only |just |not )?(?:use|have|take)(?: \S+){0,6} (?:of )?(?:cpu|processor|core)|(?:cpu|processor) (?:is )?(?:capped|bounded|restricted|limited|time|share|ration)|(?:share|slice|fraction) of (?:a |the |one )?(?:cpu|core|processor)"
    r"|cpu lim|processor allowance|cpu time slice"
    r"|(?:confined|restricted|limited|held|squeezed|reduced|cut|left|granted|given|allowed|allotted|make do|gets? by|gets?|live)(?: \w+)? (?:to|in|with|on|only|just|no more than|at most|a mere) (?:\S+ ){0,2}?(?:\d+ ?m|\d+ ?millicores?|ten millicores?|(?:a |one )?(?:hundredth|percent|1 ?%) of (?:a|one) (?:cpu|core|processor))(?!\w)"
    r"|(?:a|one) hundredth of (?:a|one) (?:cpu|core|processor)",
    "limit": r"limits?(?:ed)?|capped|cap",
    "cpu": r"cpu|cores?|millicores?|processor|compute",
    "memory": _MEM,
    "throttled": r"throttl\w*|cfs|starv\w+|squeez\w+|slowed (?:down )?by the kernel"
    r"|hold\w* (?:it )?back|held back|slowed",
    "oom": r"oom ?-?kill\w*|oom(?:s|ed)?|out ?-?of ?-?memory|exit (?:code|status) 137|kernel kills?|killed by the kernel|memory killer|137",
    "memory_request": rf"(?:{_MEM}|cpu|resources?|processor) ?-?requests?|requests?\.(?:memory|cpu)|requests? (?:of|for) (?:\S+ ){{0,3}}(?:{_MEM}|cpu|cores?)"
    rf"|requests? \d\S*(?: \S+){{0,2}} {_MEM}|asks? (?:the scheduler )?for \S+ (?:of )?(?:{_MEM}|cpu|cores?)|requesting \S+ (?:of )?(?:{_MEM}|cpu)"
    r"|resource ?requirements?|reservation of memory|requests? more (?:memory|cpu|resources)|requested (?:memory|cpu)"
    r"|(?:memory|cpu|ram) (?:reservation|demand|claim|ask)|(?:reserves?|wants?|demands?|asks? for|claims?|needs?|reserving|demanding) (?:\S+ ){0,4}(?:memory|ram|cpu|cores?|[gmk]i?b?)",
    "quota": r"(?<!cpu )(?<!cpu-)(?<!cfs )(?:[a-z][\w-]*-|resource ?-?)?quotas?"
    r"|(?:namespace|memory)(?:'s)?(?: memory)? budget|budget (?:for|of|on) memory|namespace(?:'s)? (?:memory )?(?:limit|cap)",
    # network
    "policy": r"(?:network|net) ?-?polic(?:y|ies)|netpols?|deny-all(?: polic(?:y|ies))?|(?:ingress|egress|isolation|isolating|deny|(?<!internal )traffic) polic(?:y|ies)|np"
    r"|rule(?:s)? of the network|firewall(?: rule)?s?|netpol"
    r"|(?:that|this|a|new|such|deny|isolating|isolation|one) policy(?! (?:of|is|=|:) ?(?:always|never|local|cluster|fail))",
    "internal_traffic": r"internal ?-?traffic ?-?polic(?:y|ies)|traffic ?policy local|local (?:internal )?traffic polic(?:y|ies)|(?:internal|traffic) policy (?:of|on|for) (?:the |its )?service",
    # names
    "dns_policy": r"dns ?-?polic(?:y|ies)|dns ?-?config\w*|dns settings?|resolver settings?",
    "nameserver": r"name ?-?servers?|resolvers?|(?:external|public|custom|foreign|outside|wrong|other|google|internet|upstream) dns(?: servers?)?|dns servers?|resolv\.conf|8\.8\.8\.8"
    r"|(?<![.\w])google(?![.\w])(?:'s)?(?: public)?(?: dns)?|(?:public|outside|internet|foreign) (?:resolver|dns)|8\.8\.4\.4|1\.1\.1\.1",
    "cluster_dns": r"(?:cluster|in-cluster|kube|kubernetes|internal)(?:'s)?[ -]?(?:dns|name ?-?servers?|resolver)(?: server| service)?|core ?-?dns|kube-dns|clusterfirst"
    r"|cluster(?:'s)?(?: own)? (?:name ?server|resolver)|(?:name ?server|dns|dns server) (?:of|in) the cluster",
    "corefile": r"core ?-?file|core ?-?dns(?:'s)?(?: config\w*| server| settings?| rule)*|(?:cluster|kube)[ -]?dns(?:'s)? (?:config\w*|rule)",
    "nxdomain": r"nx ?-?domain|rcode|template (?:plugin|block|rule|stanza|directive|entry)?|no such (?:name|domain)|hosts plugin|rewrite (?:rule|plugin)|dns (?:rule|override|block|entry)"
    r"|(?:rule|stanza|block|snippet|entry|clause|line|plugin) (?:\S+ ){0,4}(?:for|that|which|denies|denying|answer\w*|return\w*)",
    "host_alias": r"host ?-?_?aliases|host ?-?_?alias(?: entry)?|hosts? overrides?"
    r"|hosts (?:entry|override|line|record)s?|static (?:entry|mapping|record|address|host)\w*|alias(?:es)? (?:entry|for hosts)",
    "hosts_file": r"/etc/hosts|hosts ?-?files?|hosts entry|static host entry|hosts mapping",
    # startup
    "init_container": r"init ?-?_?containers?|init step|initialization container|initialisation container|init phase|pod initiali[sz]ation"
    r"|init (?:stage|job|(?<!its init )(?<!the init )script|task|hook|pod)|initcontainers?|(?:step|container) (?:\S+ ){0,3}(?:that|which|to) (?:\S+ ){0,3}(?:runs?|comes?|run|put|goes) (?:before|first)"
    r"|wait-for-[\w-]+|init-?container called|container (?:that|which) (?:must|has to|should) (?:finish|run|complete) first",
    "sidecar": r"side ?-?cars?|(?:second|extra|additional|another|added|helper|injected|new|two|both) containers?"
    r"|(?:second|extra|additional|another|added|helper|injected|new|two|2|third|foreign|superfluous|stray) containers?|container (?:called|named) [\"']?sidecar"
    r"|second (?:process|program)|(?:extra|second|added|another) (?:thing|one)|two (?:processes|programs) in",
    "address_in_use": r"address already in use|eaddrinuse|port(?: \d+)? (?:is |was )?(?:already )?(?:taken|in use|occupied|bound)|bind(?:ing)? (?:error|fail\w*|conflict)|bind: address"
    r"|same port|port (?:\S+ )?(?:is |was )?(?:already )?(?:held|owned|grabbed|claimed)|in use",
    # stores in memory
    "maxmemory": r"-{0,2}max[ _-]?memory(?:[ -]polic\w+| (?:setting|value|option|argument|limit|parameter|cap))?|oom command not allowed|(?:redis|valkey)(?:'s)?(?: own)? (?:memory )?(?:limit|cap|budget)",
    # locks
    "schema_change": r"(?:(?:schema|data ?base|db|table|column|start-?up|breaking|destructive|incompatible|contract\w*|premature) )*(?:migrations?|migrat\w+)|(?:schema|ddl|table) (?:change|update|contraction)s?|changed the (?:schema|table)|renam\w+|drop(?:s|ped|ping)?(?= (?:\S+ ){0,3}columns?)",
    "half_rolled": r"(?:two|both|mixed|different) (?:\S+ )?(?:builds|versions|generations|releases|revisions|replica ?sets)|half[- ](?:way )?(?:rolled(?: out)?|finished|done|deployed)|rolling update|side by side"
    r"|roll-?outs? (?:\S+ ){0,4}?(?:stands? still|stuck|stalls?|stalled|paused|hangs?|never (?:ends?|finishes|completes)|(?:is|was) ?(?:not|n't) (?:over|finished|complete\w*)|(?:does|did|do) ?(?:not|n't) (?:end|finish|complete|get ahead)|unfinished|slowed)|(?:unfinished|paused|stalled|incomplete|stuck) roll-?out",
    "column": r"(?:data ?base |table |missing |old |required )?columns?|schema",
    "table_lock": r"(?:access ?-?exclusive|accessexclusivelock|exclusive)(?: (?:table )?(?:locks?|mode))?|(?:table|row|relation|exclusive|postgres\w*|database|ddl)[ -]?(?:level )?locks?|lock ?(?:table|contention|queue)|pg_locks|locks?|locked|locking|lock waits?",
    "table": r"(?:data ?base )?tables?|relations?|[a-z]+\.(?:products|productreviews|orders?)",
    "open_transaction": r"(?:(?:open|long|long-?running|idle|uncommitted|unfinished|hanging|stuck|never[- ]ending|single|pending) )*(?:transactions?|sessions?|txn|xact)|pg_sleep|idle[ -]in[ -]transaction|migrations?|back-?fill|ddl",
    # credentials
    "requirepass": r"require ?-?_?pass\w*|no_?auth\b|password[- ]protect\w*|auth(?:entication)? (?:was |is |has been )?(?:enabled|switched on|turned on|required|demanded)",
    "password": r"(?:data ?base |db |account |login |client )?(?:passwords?|passwd|pwds?|pass ?phrases?|pw)|(?:data ?base |db |login )?credentials|(?:db|database)_connection_string|dsn",
    "role": r"(?:read ?-?write ?)?(?:roles?(?!=)|permissions?|privileges?|rights|(?:the |any |no )right(?= (?:to|on|for)\b)|grants?|authori[sz]ations?|access rights?)|readwrite|read ?/ ?write(?: access)?"
    r"|(?:read|write) access|access to (?:its|the|their) (?:data|data ?base|collections?)"
    r"|rw|privs?|perms?|read-write|may (?:no longer |not )?(?:read|write)",
    "pool": r"(?:connection |database |db |client |server )?pool(?:er|ing)?s?(?: sizes?)?|(?:min|max|default)_pool_size|[\w-]*pgbouncer[\w-]*|pgpool|hikari\w*",
    "too_many_clients": r"max_connections?|max connections|(?:connection|session|client) (?:limit|cap|ceiling|quota|maximum)s?|(?:limit|maximum|cap) (?:of|on|for) (?:\w+ )?(?:connections|sessions|clients)|more (?:\w+ )?(?:connections|sessions|clients) than|out of (?:connections?|connection slots?|slots)|no (?:connection slots?|connections|slots) (?:is |are )?(?:left|free)|connection exhaustion",
    "account": r"(?<!this )(?<!service )(?:data ?base |mongo\w* |db |admin\w* |login |client |application )?(?:user(?!'s (?:new |only |own )?(?:pods?|deployments?|services?|containers?|replica))(?! (?:to|cannot|can't|fails?|times|logs|and|service|requests?|journeys?|traffic|impact|facing|experience|errors?|service|interface|agent))"
    r"|accounts?|credentials?|logins?|principal)|(?:data ?base|mongo\w*|db) users|admin",
    "not_authorized": r"not authori[sz]ed|unauthori[sz]ed|permission denied|access denied|denies every query|403(?: forbidden)?",
    "source": r"sources? of truth|desired states?|git-?ops\w*|reconcil\w+|drift correction|source (?:config ?-?map|manifest|file)s?|(?:state|config|manifest|fleet|release|cluster|delivery)[- ]sync\w*|desired (?:manifest|config)s?"
    r"|git (?:repo\w*|source)|(?:state|source|desired)[ -]files?|argo ?cd|flux",
    "priority": r"priority ?-?class(?:es|name|names)?|priorit(?:y|ies)|global ?-?default",
    "preempted": r"pre-?empt\w*|evicted? (?:by|for|in favou?r of)|made room for|(?:had|has|have) to (?:go|leave|make (?:way|room)) for|pushed (?:out|off)|thrown (?:out|off)|displac\w+"
    r"|kick\w*(?: \S+){0,2} (?:out|off)|bumped(?: \S+)? (?:off|out)|sacrific\w+|shoved(?: \S+)? (?:aside|off|out)|pushed (?:\S+ )?(?:out|off|aside)|thrown (?:\S+ )?(?:out|off)|push\w* aside",
    "outranks": r"out-?rank\w*|ranks? (?:lower|higher|below|above|no higher)|(?:lower|higher) rank\w*|more important|less important|beats?",
    "cluster_role": r"cluster ?-?roles?(?: ?-?bindings?)?|role ?-?bindings?|rbac(?: \w+)?",
    "authentication": r"authenticat\w+|auth ?fail\w*|log ?ins? fail\w*|user ?not ?found|log in",
    "service_account": r"service ?-?_?accounts?(?: ?-?names?)?|sa|run (?:under|as) the identity|serviceaccountnames?"
    r"|(?:names?|named|wants?|runs? as|run as|under) (?:an|the|a|its own) account",
    # disks
    "disk": r"disks?|storage of|storage on|drives?|block ?-?devices?|sectors?|storage (?:device|media|hardware|layer)|media|hardware|ssd|hdd|nvme|device"
    r"|hw|platter|disc"
    r"|(?:failing|faulty|bad|dying|broken|defective) (?:storage|volume)",
    "corrupt": r"(?:silent\w* )?(?:data )?corrupt\w*|(?:returns?|hands? (?:back|out)|delivers?|gives? back|reads? back|serves?) (?:\w+ )?(?:garbage|other (?:bytes|data)|wrong (?:bytes|data)|rubbish|junk)|bit ?-?rot|bit ?-?flips?|flipped bits?|flips bits|garbled?|mangl\w+|checksums? (?:error|mismatch|failure|invalid)\w*|(?:bad|wrong|invalid) checksums?"
    r"|checksums? (?:\S+ ){0,8}(?:do(?:es)?(?: not|n't) (?:match|fit)|differ|wrong|fail\w*)|(?:wrong|other|different|altered|changed|bad) (?:bytes|bits|data|contents?)(?: than| from|(?= |$|,|\.|;))",
    "io_error": r"i/?o ?-?err(?:or)?s?|input/output errors?|\beio\b|read errors?|bad (?:sectors?|blocks?)|(?:latent )?sector errors?|reads? (?:\S+ ){0,6}fail\w*|read failures?|unreadable|media errors?"
    r"|eio|i/o (?:err\w*|fail\w*|fault\w*|problem\w*)|medium errors?|pending sectors?|uncorrectable|(?:cannot|can't|could not) (?:\w+ )?be read|failed reads?|reads? (?:\S+ ){0,8}?(?:come back|error\w*|return\w*)|faulty sectors?|bad spots?|damaged sectors?"
    r"|unreadable|read failures?|failing reads?|every (?:second|third|fourth) read|(?:\d+ ?%|percent|third|part|some) of (?:the |all |its )?reads?|medium error",
    # generic things
    "service": r"services?(?: object| resource| definition| record)?|svc|cluster[ -]?ip",
    "replicas": r"replicas?(?: count)?|desired count|replica count|(?:desired|wanted) (?:pods|number)|instances|scale[ds]?(?: [\w@\"'-]+){0,4}?(?= to (?:0|zero|nothing|none)\b)|scale[ds]?(?: \w+)? ?(?:down)?(?= to)|scaling|scaled (?:down|away|in)"
    r"|copies|copy|pod count|number of (?:pods|replicas|instances|copies)"
    r"|number of pods|pod number",
    "port": r"ports?|:\d{2,5}"
    r"|port:?",
    "database": r"data ?-?bases?|mongo\w*|mongod|db|dbs",
    "data_files": r"data ?-?files?|on-?disk (?:data|format)|data (?:director(?:y|ies)|format|format version|on (?:its|the|their) (?:volume|disk)s?)|existing data|old data|wiredtiger|feature ?compatibility ?version|fcv|dbpath"
    r"|data (?:of|from|left|written|that|which|in|files?)|files (?:of|from|written|left)|(?:old|existing|present|stored) (?:data|files)|dbpath"
    r"|files (?:that|which|it|its|the|an? |of)|what (?:the|an) (?:old|older|previous) (?:\w+ )?(?:left|wrote)"
    r"|files (?:on|in) (?:its|the|their) (?:volume|pvc|disk|claim|data directory)|(?:data|files?) (?:\w+ ){0,3}(?:written|left|created) by|(?:data|volume) (?:is|was|are|were|stems?|comes?|dates?) (?:still )?(?:from|of) (?:mongo\w*|version|\d)|data in (?:the |its )?volume",
    "pods": r"pods?|containers?"
    r"|po",
    "clients": r"clients?|callers?|consumers?|connects?|dials?|everybody|everyone|expects?",
}

DEFECTS: Mapping[str, str] = {
    "wrong": r"wrong(?:ly)?|incorrect(?:ly)?|mis-?config\w*|mis-?set|mis-?(?:spelled|spelt|typed|named|pointed|points|aligned|label\w*|wired|routed|directed|placed)"
    r"|mis-?match\w*|bad(?:ly)?|invalid|bogus|erroneous(?:ly)?|mistaken(?:ly)?|faulty|broken|typos?|stale|outdated|differs?|different|inconsistent|garbage|nonsense"
    rf"|(?:does|do|did){_NOT} (?:match|fit|agree|correspond)|(?:is|are|was|were){_NOT} (?:the )?(?:right|correct|what|valid)|not (?:the )?(?:right|correct)|off by \w+|another|"
    r"unusable|impossible|unsuitable|inappropriate|problematic|at fault|defective|corrupt\w*|foreign|made[- ]up|fictitious|fictional|strange|never (?:succeeds?|passes|answered|satisfied)"
    r"|disagree\w*|does not line up|out of (?:sync|step)|at odds|no longer (?:match\w*|fit\w*|agree\w*)|not what|unlike"
    r"|!=|isn't equal to|does not equal|unequal",
    "contrast": r"instead(?: of)?|rather than|(?:,? ?(?:and )?not)(?= (?:\S+ )?[\d:\"'a-z-]+)|should (?:be|have been|read|say|point|use)|must be|ought to be|supposed to be|expected|correct(?:ly)? (?:is|one|value|would)"
    r"|it was|was|previously|formerly|in place of|while|whereas|but|although|yet|however|->",
    "instead": r"instead(?: of)?|rather than|should (?:be|have been|read|say|point|use)|must be|ought to be|supposed to be|expected|(?:it )?was \S+ before|previously|formerly|in place of|,? (?:and )?not(?= [\d\"'])",
    "changed": r"changed?|changes|set(?:s|ting)?|switched|replaced|modified|edited|altered|overrid\w+|overrode|overwrit\w+|overwrote|bumped|moved|swapped|flipped|rolled out|deployed"
    r"|points?(?: at| to)?|pointed|pointing|uses?|using|references?|referenc\w+|refers?|became|becomes|names|asks?|requires?|requiring|demands?|carries|has|have|is|are|was|contains|specifies|says|=|:|now",
    "absent": rf"missing|there (?:is|was|are) none|there(?: is|'s)n't one|there isn't (?:one|any)|there's none|forgotten|(?:cluster|registry|namespace) (?:does not|doesn't) (?:know|have)|absent|(?<!not )(?<!never )delet\w+|removed|removal(?: of)?|gone|vanished|disappeared|dropped|drops|wiped|erased|stripped|taken away|took away|takes away|pruned|non-?exist\w*|inexistent"
    rf"|(?:does|do|did)(?:{_NOT}) (?:\w+ )?(?:exist|resolve to)(?: any ?more)?|no longer (?:exists?|there|present|defined|in|has|have|lists|contains)|(?:is|are|was|were){_NOT} (?:\w+ )?(?:exist\w*|found|present|there|in (?:it|the)|defined|created|set|part of)"
    rf"|not (?:found|exist\w*|present|there|defined)|(?:could|can)(?: ?not|n't) (?:be )?(?:found|find)|(?:was |were |been )?never (?:been )?(?:created|made|existed|defined|applied|added)|nobody (?:has )?(?:ever )?(?:made|created|defined|applied)|nowhere|unknown to"
    r"|(?:has|have|had) (?:\w+ )?(?:been )?(?:lost|renamed)|(?:was|were|got|been) (?:lost|renamed|unregistered|taken (?:out|away))|unregistered|emptied|(?:is|are|was|left) (?:now )?(?:empty|blank|commented out|nil|unset)|empty|nil|lost|(?:has|have|had) ceased to exist|exists? nowhere|ceased to exist"
    r"|there (?:is|are|was|were|exists?) no(?! missing)|there's no(?! missing)|there isn't an?|no such|exists? no|renamed|unset|not mentioned|not listed|omitted|left out|isn't there|aren't there|is not there|have no"
    r"|n/a|nowhere (?:to be found|in sight)|no (?:trace|sign) of|no more|went missing|(?:isn't|is not|aren't|ain't|wasn't) (?:\w+ )?(?:there|listed|mentioned|defined|registered|in any)|no such thing|(?:was|were|got|been|have been|is) (?:\w+ )?(?:cleaned up|swept away|purged|thrown (?:away|out)|retired|decommissioned|taken (?:out|down|away)|torn down|nuked|blown away|trimmed|cut out|unpublished|rm'd)|(?:nobody|no ?one|none) (?:\S+ ){0,4}?(?:made|created|defined|applied|pushed|added|exists?|registered)|(?:was|were) never (?:\w+ )?(?:created|made|defined|applied|pushed|published|built|added|registered|there)|never (?:came into being|existed|existing)|not exist\w*|returns? (?:an )?empty list|did (?:create|make)(?= nobody)|(?:cluster|namespace|we|registry) (?:has|have|knows?|holds?|contains?) no (?:such )?\w+|misses|missed|not in it|isn't in|is not in|(?:contains?|has|have|lists?|mentions?) no(?:thing)?|not any ?more|is out|left (?:out|behind)|cut"
    r"|(?:fell|fallen|dropped|slipped|got left|left) out|(?:didn't|did not) make it|not carried over|went away|is not (?:in|among|part of)"
    r"|nothing (?:by|of|with|under) (?:that|this) name|never turned up|not to be found|incomplete|holds (?:only|just)|forgot\w*|doesn't say|does not say|no value|without a value|blank"
    r"|nuked|zapped|binned|trashed|blew (?:away|up)|blown away|tore down|wiped out|got rid of|did away with|chucked|scrapped|axed|ditched|kicked out|tossed|deletes|took out|no(?:body|thing|t one)? (?:\\w+ ){0,2}(?:goes|go|known) by|(?:is|are|was|were) no more|has not been (?:there|set|defined)|drops? out"
    r"|not ?found|used to (?:exist|be there)|(?:took|takes|taken|wiped|blew|blown|tore|torn|threw|thrown|swept|cleaned|cut) (?:\S+ ){1,3}?(?:away|out)",
    "gone": rf"missing|there (?:is|was|are) none|there(?: is|'s)n't one|there isn't (?:one|any)|there's none|forgotten|(?:cluster|registry|namespace) (?:does not|doesn't) (?:know|have)|absent|(?<!not )(?<!never )deleted|removed|gone|vanished|disappeared|dropped|wiped|erased|non-?exist\w*|inexistent|(?:does|do|did){_NOT} (?:\w+ )?exist(?: any ?more)?|no longer (?:exists?|there|present|defined)"
    rf"|(?:is|are|was|were){_NOT} (?:\w+ )?(?:exist\w*|found|present|there|defined|created)|not (?:found|exist\w*|present|there|defined)|(?:could|can)(?: ?not|n't) be found|nobody (?:has )?(?:ever )?(?:made|created|defined|applied)"
    r"|(?:has|have|had) (?:\w+ )?been (?:lost|renamed|taken out|pruned)|(?:was|were|got|been) (?:lost|renamed|unregistered|pruned|taken (?:out|away)|deregistered)|unregistered|ceased to exist|exists? nowhere|there (?:is|are|was|were|exists?) no(?! missing)|there's no(?! missing)|there isn't an?|no such(?! host)|no longer registered|isn't there|aren't there|(?:isn't|is not|are not|aren't|not) (?:in|part of|among|one of) (?:this|the|our|any) (?:cluster|namespace|nodes?)|none(?= of (?:these|those|the|its|them) (?:\w+ )?(?:exists?|is there))|unknown to \w+"
    r"|n/a|nowhere (?:to be found|in sight)|no (?:trace|sign) of|no more|went missing|(?:isn't|is not|aren't|ain't|wasn't) (?:\w+ )?(?:there|listed|mentioned|defined|registered|in any)|no such thing|(?:was|were|got|been|have been|is) (?:\w+ )?(?:cleaned up|swept away|purged|thrown (?:away|out)|retired|decommissioned|taken (?:out|down|away)|torn down|nuked|blown away|trimmed|cut out|unpublished|rm'd)|(?:nobody|no ?one|none) (?:\S+ ){0,4}?(?:made|created|defined|applied|pushed|added|exists?|registered)|(?:was|were) never (?:\w+ )?(?:created|made|defined|applied|pushed|published|built|added|registered|there)|never (?:came into being|existed|existing)|not exist\w*|returns? (?:an )?empty list|did (?:create|make)(?= nobody)|(?:cluster|namespace|we|registry) (?:has|have|knows?|holds?|contains?) no (?:such )?\w+"
    r"|nothing (?:by|of|with|under) (?:that|this) name|there(?:'s| is| are) (?:none|nothing)|never turned up|not to be found|is out there|no longer (?:\w+ )?(?:there|found|in)|erased|vanishes|disappears|deleted|dropped"
    r"|nuked|zapped|binned|trashed|blew (?:away|up)|blown away|tore down|wiped out|got rid of|did away with|chucked|scrapped|axed|ditched|kicked out|tossed|deletes|took out|(?:is|are|was|were) no more|(?:is|are) not among|(?:isn't|aren't) among|never (?:\\w+ )?(?:turned up|materiali[sz]ed)|only (?:in|exists in) (?:the )?(?:manifest|template|imagination)"
    r"|not ?found|used to (?:exist|be there)|(?:took|takes|taken|wiped|blew|blown|tore|torn|threw|thrown|swept|cleaned|cut) (?:\S+ ){1,3}?(?:away|out)"
    r"|(?:is|are) lost|lost its|doesn't live any ?more",
    "lack": rf"lack(?:s|ed|ing)?|missing|without|no(?! (?:missing|deleted|lost|lack\w*|wrong))(?! services? (?:\S+ ){{0,4}}?(?:(?:can|could)(?! be)|finds?|reaches|resolves?)\b)|(?:has|have|had|with) no|(?:does|do|did){_NOT} (?:\w+ )?(?:have|contain|hold|include|carry|define|list|know|mention|declare|specify|provide)(?: an?y?| the)?|loss of|lost|loses|losing|lose"
    r"|(?:was|were|been|got|is|are) (?:deprived|stripped|robbed) of|omits?|omitted|drops|dropped|deprived of|stripped of|removal of|deletion of|absence of|there (?:is|are|was|were) no(?! missing)|there's no(?! missing)|no such|no longer (?:has|have|holds|contains|lists|carries)(?: an?y?| the)?"
    r"|deleted|removed|removing|deleting|took(?: away)?|takes? away|taken(?: away)?|revok\w+|non-?existent|nonexisting|inexistent|absent|empty|nobody (?:made|created)"
    r"|misses|missed|came without|short of|has none|(?:hasn't|haven't|has not|have not)(?: got)?|never (?:had|got|received)|nuked|zapped|binned|trashed|blew away|tore down|wiped out|got rid of|scrapped|axed|ditched|does(?: not|n't) (?:\w+ ){0,2}have|no longer (?:\w+ )?(?:has|have|contain\w*|hold\w*|names?|mentions?|lists?|owns?|possess\w*)|needs"
    r"|(?:goes|does|gone|do|go) without|short (?:of|a|one)|one (?:key|entry|line|setting|label) short|(?:does|do|did)(?: not|n't) (?:\w+ )?(?:grant|cover|allow|permit|let|list|extend)|no longer (?:\w+ )?(?:grants?|covers?|allows?|permits?|lets?)",
    "low": r"so (?:little|small|low|tight)|too (?:low|small|tight|little|strict|tiny|short|meagre|stingy|aggressive\w*|restrictive)|far (?:too |below|less|lower|under)|lowered|reduced|cut|only|tiny|low|lower|small|tight|below|less than|less|under|insufficient|not enough|n't enough|inadequate"
    r"|starv\w+|squeez\w+|capped|exceed\w*|exceeding|hits?|hitting|runs? out|beyond|over|above|shrunk|shrank|decreased|restrict\w*|mere(?:ly)?|just|a fraction|undersized|not sufficient|suffice|can(?:no|')t live|cannot (?:even )?(?:start|live|run|work|fit|boot)|needs? more|at most|strangl\w+|chok\w+|crippl\w+|drops?(?:ped)? to"
    r"|mere|meagre|puny|minuscule|a hundredth|a tenth|tiny|ridiculously|stingy|barely|hardly any|scant",
    "high": r"too (?:high|large|big|much|great|greedy)|more (?:\w+ )?than|exceed\w*|larger|bigger|greater|beyond|excessive\w*|huge|oversized|inflated|raised|absurd\w*|(?:no|any|every|each) (?:worker )?(?:node|machine)(?:'s|s)?|insufficient|no (?:single )?(?:worker )?(?:node|machine)"
    r"|unsatisfiable|impossible|enormous|gigantic|outsized|over-?sized|increased|can(?:not|'t| never) be (?:met|satisfied|scheduled|placed|granted)|nowhere|does(?: not|n't) fit|do(?: not|n't) fit|(?:nodes?|cluster) (?:can|could)(?: ?not|n't| never)|surpass\w*|outgrow\w*|largest"
    r"|bigger as|larger as|more as|than (?:any|every|all|the biggest|the largest)|no (?:node|worker|machine|box|host) (?:\w+ ){0,3}(?:big|large|has|offers?|can|could)|ballroom|astronomic\w*|outrageous\w*|gargantuan",
    "zero": r"0/0|(?<![\d./])0(?![\d/%]|\.\d)|zero|nought|nil|null|none",
    "blocked": r"block\w*|den(?:y|ies|ied|ying)|isolat\w+|cut(?:s|ting)?(?: it| them)? off|cut|drop(?:s|ped|ping)?|forbid\w*|forbad\w*|reject\w*|refus\w+|disallow\w*|den(?:y|ies)-all|allow\w*|permit\w*|prevent\w*|shut\w* (?:off|out)|restrict\w*|quarantin\w+|sever\w*|lock\w* (?:out|down)"
    r"|bars?|barred|no rules?|(?:no|without|zero) (?:ingress|egress)(?: rules?)?|filters?|filtered|stop(?:s|ped)?|keeps?|kept|interrupts?|swallow\w*|discard\w*|lets? (?:\w+ ){0,3}(?:in|out|through)|select\w*|(?:time|timed|timing)[ -]?outs?|cannot (?:reach|connect)|can't (?:reach|connect)|excludes?"
    r"|walls? off|walled|fence[sd]?(?: off)?|seal(?:s|ed)?(?: off)?|mutes?|nothing (?:gets|goes|comes|may|can)(?: \w+){0,2} (?:in|out|through)|no traffic|packets?|unreachable from|turns? away|turned away|lets? nothing|not (?:let|allow\w*|permit\w*)|neither"
    r"|separat\w+|disconnect\w*|unplug\w*|alone on|island|muzzl\w*|gagg\w*|leaves nothing open|no exceptions"
    r"|(?:cuts?|cutting|shuts?|shutting|walls?|walled|seals?|sealed|fences?|fenced|locks?|locked|closes?|closed|takes?|keeps?|kept|severs?) (?:\S+ ){1,4}?(?:off|out|away)|(?:off|apart) from (?:everyone|everybody|everything|the rest|all)|clos(?:es|ing) (?:all|every)|in quarantine",
    "stray": r"stray|foreign|second|extra|additional(?:ly)?|another|other|left[ -]?over|orphan\w*|unowned|unmanaged|hand-?(?:made|written|crafted|created)|manual(?:ly)?|static(?:ally)?|stale|bogus|rogue|alien|hard-?coded"
    r"|by hand|(?:no|not (?:the|a|any)|without (?:an? )?|nobody|none) ?(?:\w+ )?(?:owner\w*|controllers?|manages?|managed|keeps?|owns?)|not (?:made|written|managed|kept|created|owned) by|(?:nobody|no one) (?:has|serves|listens|answers|owns)|besides? the (?:controller|own)\S*"
    r"|beside (?:the|its)|in addition to|next to the|does(?: not|n't) belong|do(?: not|n't) belong|added (?:by|to|beside)|adds",
    "impatient": r"impatien\w+|(?:(?:far|much|way) )?too (?:\w+ )?(?:aggressive(?:ly)?|eager(?:ly)?|early|soon|short|strict|tight(?:ly)?|hast[yi]\w*|quick(?:ly)?|fast|low|small|little time)"
    r"|(?:overly|over-?)[ -]?(?:aggressive|eager|strict|hasty)|aggressive(?:ly)?|premature(?:ly)?|hasty|hastily"
    r"|before (?:(?:it|they)|(?:the |its |any )?(?:[\w-]+ ){1,4}?)(?: ?(?:has|have|had|is|are|can|could|even|ever|gets?|manages? to|got))*(?: \w+)? ?(?:start\w*|(?:be )?ready|up|listen\w*|open\w*|com\w+ up|finish\w*|boot\w*|serv\w*|initiali[sz]\w*)"
    r"|(?:no|little|without(?: any)?|not (?:enough|any)|hardly any|leaves? no|gives? (?:it )?no|allow\w* (?:it )?no) (?:\w+ )?(?:allowance|time|grace|delay|patience|warm-?up|start-?up (?:allowance|time|delay|grace))(?: (?:for|to) (?:\w+ )?(?:start\w*|boot\w*|com\w+ up|warm\w*|the start))?"
    r"|(?:while|during|as long as) (?:it |the \w+ |[\w-]+ )?(?:is |are )?(?:still )?(?:its )?(?:start\w*|boot\w*|com\w+ up|initiali[sz]\w*|warm\w* up)"
    r"|(?:at|after|on) (?:its |the )?(?:very )?first (?:failure|failed|miss|refus\w+|attempt|try)|needs? (?:\w+ )?(?:more|longer) (?:time )?to (?:start|boot|come up|listen)|slower? (?:to start|start)|starts? (?:too )?slow\w*"
    r"|longer (?:to start|than (?:the )?(?:probe|kubelet|check|it))|(?:lets?|allow\w*) (?:it )?(?:never|not) (?:to )?(?:finish|start|come up)\w*|never (?:gets|lets|allowed?|has) (?:\w+ ){0,4}?(?:start\w*|up|time|chance)",
    "dead": r"(?:nothing|nobody|no ?one|none) (?:\S+ ){0,6}?(?:listen\w*|answer\w*|serv\w+|bound|there|is|replies|lives)|no (?:process|program|server|container|app\w*|socket|listener|service) (?:\w+ ){0,2}(?:listen\w*|serv\w+|bound|answer\w*|open|is|behind)"
    rf"|(?:do|does|did|is|are){_NOT} (?:\w+ )?(?:listen\w*|serv\w+|open|answer\w*|expos\w*|bound|implement\w*|offer\w*|provide\w*|know|have|there|exist|use|used)|not (?:listening|served|open|bound)|closed|dead|non-?listening|unserved|no listener|unused|unbound|never (?:listens?|serve[sd]?|answers?|opens?)"
    r"|listens? (?:on )?(?:only )?(?:elsewhere|on another|on a different)|connection refused|refused|nowhere|unreachable|void|nonexistent|404"
    r"|nothing (?:is )?(?:on|at|behind|open)|nobody(?:'s| is)? home|no listeners?|no open (?:port|socket)|does(?: not|n't) (?:speak|use|have open|run)|speaks? (?:only|nothing)|(?:has|have) never (?:\w+ )?(?:offered|served|listened|opened|exposed)|not (?:\w+ )?(?:listened|bound|open)"
    r"|there(?:'s| is) nothing|has been nothing|nothing (?:there )?(?:answers|listens|lives|replies)|nobody (?:answers|lives|is there)|knock\w*",
    "listens": r"listen\w*|serves? on|bound|binds?|opens?",
    "unresolved": r"(?:(?:do|does|did|can|could|will|would)(?: not|n't|not)|can't|cannot|no longer|never|fails? to|unable to) (?:\w+ )?(?:be )?(?:resolv\w*|find|found|look(?:ed)? up)|unresolv\w*|not resolv\w*|nxdomain"
    r"|(?:has|have|with|gets?|to) no (?:\w+ )?address(?:es)?(?: any ?more| at all)?|host(?:name)? not found|without (?:an |any )?address|(?:look-?up|resolution) (?:\S+ ){0,4}fails?|has lost (?:its|all) address(?:es)?",
    "stuck": r"stuck|hang(?:s|ing)?|hung|froze\w*|wedged|stall(?:s|ed)|stops?|stopped|ceas(?:es|ed)|halted|unresponsive|out of (?:sync|date)"
    rf"|(?:no longer|{_NOT.strip()}|never)(?: \w+){{0,2}} (?:updat|sync|refresh|follow|pick|notic|process|program|rewrit|appl|writ|watch|react|learn)\w*|last (?:sync|updat)\w*|missed|dropped (?:the )?(?:updates?|changes?|removals?)",
    "fails": r"fail\w*|crash\w*|crash-?loop\w*|exits?|dies|panics?|500s?|break\w*|bug\w*|bugg?y|defect\w*|does(?: not|n't) (?:work|start|stay|come)|unstable|regression|misbehav\w*",
}

OTHER_CAUSES = (
    # what befalls a disk without being wrong with it
    r"(?:disks?|file ?systems?)(?: (?:of|on|in) \S+)? (?:is|are|was|were|got|has been|ran|runs) (?:now |completely |nearly |almost )?(?:full|filled up|out of space)(?! of)"
    # what a pod template also has
    r"|image ?pull ?polic\w+|post-?start|pre-?stop|lifecycle hook|(?<!sysctl in the )(?<!sysctls in the )(?<!sysctl in its )(?<!sysctls in its )security ?context(?!\S*sysctl)(?!(?: \S+){1,4}? (?:sysctls?|net\.ipv4\S*|ip_local\S*|(?:local |ephemeral )?port range))|run ?as ?(?:user|root|non ?root)|read-?only (?:root )?file ?system|startup ?probes?|(?<!low on resource: )ephemeral-?storage|host ?network|termination ?grace\w*|restart ?policy"
    # how a probe is timed
    r"|(?:failure|success) ?threshold|(?:timeout|period|initial ?delay) ?seconds|(?:probe|check)(?:'s| has a| with a)? (?:timeout|threshold|period|delay|interval)|timeout of (?:one|two|three|1|2|3|\d+) ?s\w*"
    # what a Service also has
    r"|session ?affinity|external ?traffic ?policy|node ?ports?|headless|load ?balancer (?:class|ip)|publish ?not ?ready\w*"
    # what a volume also has
    r"|access ?modes?|readwrite(?:once|many)\w*|storage ?class\w*|reclaim ?policy|phase lost|orphaned|file ?system (?:is )?(?:full|corrupt\w*)|no space left|disk (?:is )?full|out of disk|disk pressure|inodes?"
    # access
    r"|(?:wrong|bad|incorrect) (?:certificate|token|key pair)|expired token|certificates? (?:\S+ ){0,2}?(?:invalid|wrong)|tls (?:handshake|mismatch)|no-?auth\b|--noauth|authentication disabled"
    # the program
    r"|(?:memory|goroutine|thread|connection) leaks?|leaks? memory|has a leak|dead-?lock\w*|race condition|infinite loop|heap size|(?:thread pool|connection pool)\w*|max ?connections|too many connections|syntax error|exec format error|(?:wrong|different|other|another) (?:cpu )?architecture|built for (?:another|arm\w*|a different)|(?:missing|wrong|dropped|bad) (?:command-?line )?(?:arguments?|flags?) (?:of|in|for)? ?(?:the )?(?:program|process|command)|flags are (?:\w+ )?(?:wrong|messed up)|registration name"
    # the data
    r"|slow quer(?:y|ies)|missing index|lacks? an index|index (?:was|is) (?:dropped|missing)|corrupt\w* (?:data|files|index|database|collection)|data (?:is|are|was|were|got) corrupt\w*|collection (?:\S+ ){0,3}(?:empty|dropped|gone)|replica set election|primary election|step(?:ped|s)? down|replication lag"
    # the machines
    r"|iops|(?:disk|storage|drive)s? (?:is |are |was |got |being )?(?:slow|throttled|saturated)|slow (?:disk|storage|drive)|flannel|cilium|kernel (?:bug|panic|upgrade)|cpu steal|noisy neighbou?r|nodes? (?:\S+ )?(?:was |has been |got )reclaimed"
    # the control plane
    r"|\bpsp|api ?server (?:is |was )?(?:down|overloaded|slow|unavailable)|etcd|controller-manager (?:is )?down|scheduler (?:is )?(?:down|crashed|not running)|pod ?disruption|\bhpa|autoscal\w*|limit ?ranges?|finali[sz]ers?|stuck in terminating|ingress (?:controller|rule|resource|object)|service mesh|istio|envoy|linkerd"
    # names
    r"|wrong search (?:domains?|lists?|paths?)|ndots|search (?:list|domains?|path)s? (?:\S+ ){0,4}(?:replaced|wrong|missing|changed)|(?:coredns|kube-dns|core ?dns)(?:'s)?:? (?:\S+ ){0,4}?(?:out of memory|oom\w*|crash\w*|overloaded|is down|not running|throttled|unavailable)|dns (?:timeouts?|latency|is slow)|\bttl"
    # the load
    r"|(?:is|are|was|were|simply|got) (?:\w+ )?overloaded|too much (?:load|traffic)|(?<!since the )(?<!since that )(?<!since a )(?<!after the )(?<!after that )(?<!after a )(?:traffic|load) (?:spike|peak|surge)(?! (?:is|was|has|had)(?: been)?(?: long| already)? (?:over|gone|past|passed|ended))|cannot cope|can't cope|\bddos|from (?:two|three|2|3) (?:replicas )?to one|one (?:\S+ )?(?:pod|replica) too few"
)
"""What else breaks applications on Kubernetes and is none of the taxonomy's: who says so has another cause in mind."""

ACTS: Mapping[str, str] = {
    "narrow": r"(?:too |very |so )*(?:narrow\w*|small|tiny|short|few|scarce|limited|tight|restrict\w*|cut|shr[aiu]nk\w*|reduc\w*|confin\w*|cap(?:s|ped)?)|(?:only|just|merely|no more than) (?:\w+ )?(?:one|two|three|four|five|six|seven|eight|nine|ten|\d+)|(?:one|two|three|four|five|six|seven|eight|nine|ten|a handful of|a few|\d{1,2}) (?:usable |local |ephemeral |source |available )*ports?|\d{4,5}[ -]+\d{4,5}",
    "exhausted_ports": r"exhaust\w*|r[ua]n(?:s|ning)? out(?: of)?|use[sd]? up|none (?:is |are )?(?:left|free)|starv\w*|not enough|too few|depleted?|deplet\w+|short of",
    "busy": r"(?:only |merely |just )?(?:busy|overload\w*|saturat\w*|congest\w*)|under (?:\w+ ){0,2}load|when(?:ever)? (?:it|they|pods?) (?:is|are|has|have) (?:too )?(?:much to do|busy|slow)|load (?:spikes?|bursts?|peaks?)|(?:surge|burst|peak|crowd|spike)s?(?: of \w+)?",
    "behind_requests": r"(?:same|users'?|request|requests'?) queue|queue[sd]? (?:up )?(?:behind|with|after)|(?:waits?|waiting|stands?|stuck|sits?) (?:\w+ ){0,3}(?:behind|in (?:the )?(?:same )?(?:line|queue))|behind (?:the |all |other |its )?(?:users'? |user |real |queued |waiting )?(?:requests|traffic|calls)|shares? (?:\w+ ){0,3}(?:queue|threads?|workers?|port|handlers?)",
    "backtracks": r"(?:catastrophic(?:ally)? )?back-?track\w*|catastroph\w*|exponential\w*|(?:nested|overlapping|ambiguous) quantifiers?|millions? of steps|match limit|(?:very |too |so )?(?:slow|expensive|costly) (?:on|for|to|with)|redos",
    "each_record": r"(?:for|per|with|on|by) (?:each|every|any|a single)(?: single| one)?(?: of (?:its|their|the))? ?(?:large |big |\w+ )?(?:records?|messages?|sends?|writes?|orders?|them|threads?|workers?)|per[- ](?:record|message|thread|worker|send|write)s?|(?:each|every) (?:record|message|write|send|thread|worker)"
    r"|(?:not|never|without|instead of|rather than|no longer|stopped|n't) (?:\w+ ){0,2}(?:re-?us\w+|shar\w+|clos\w+|pool\w*)|un-?shared|re-?us\w+ (?:\w+ ){0,3}(?:is |was |to )?(?:off|false|disabled)",
    "heap": r"(?:java |jvm )?heap(?: space| memory)?|outofmemory\w*|out of (?:heap|memory)|ooms?|runs? out of memory",
    "utilization": r"(?:cpu )?utili[sz]ations?|(?:cpu )?usage|averages?",
    "averages": r"averag\w+|count(?:s|ed|ing)?|dilut\w+|includ\w+|skew\w*|mis-?count\w*|adds? up|takes? (?:\w+ )?into account|mix\w*|lumps?|sums? up|measures?|looks? at|fooled|drag\w* down|lower\w*",
    "overlaps": r"overlap\w*|also (?:match\w*|select\w*|covers?|fits?|catch\w*|picks?)|same (?:selector|labels?)|shar(?:e|es|ing) (?:the |its |a )?(?:\w+ )?(?:selector|labels?)|too broad|both match|match\w* (?:both|as well|too)",
    "others_pods": r"siblings?(?:'s)?(?: pods?)?|(?:pods?|replicas?|workers?|copies) (?:of|from|that belong to) (?:another|other|a second|a different|the other|the sibling|somebody else)|(?:another|other|a different|a second) (?:workload|deployment)(?:'s)?|idle (?:pods?|replicas?|workers?|copies|ones?)|pods? (?:that|which) (?:are|is) not (?:its|their)|(?:pods?|idle) (?:of|in) (?:deployment )?@_*",
    "autoscaler": r"(?:horizontal ?-?)?(?:pod ?-?)?auto-?scal(?:er|ing)\w*|hpas?|scaler",
    "job_run": r"(?:job|task|batch|run) ?pods?|jobs|(?:each|every|any|a|its|the|one|this|no|finished|old) (?:job|run)|runs (?:of|never|that|which|do|go|keep|stay|pile)|job objects?",
    "never_ends": r"never (?:\w+ )?(?:ends?|ended|complet\w+|finish\w*|terminat\w+|exits?|exited|stops?|stopped|returns?|reach\w* completion|go(?:es)? away|succeed\w*)"
    r"|(?:do|does|did|can|will|is|are)(?: not|n't|not) (?:ever |yet )?(?:end|complet\w*|finish\w*|exit\w*|terminat\w*|stop\w*|go away|told to (?:end|stop|exit))|cannot (?:end|complete|finish|exit|terminate)"
    r"|(?:keeps?|kept|keeping|goes|go|going) (?:on|(?:on )?running|(?:\w+ )?alive)|(?:stays?|stayed|remains?|remained|still|left) (?:running|alive|active|behind|around)|runs? (?:on|for ?ever|endlessly|indefinitely)|for ?ever|endless\w*|indefinitely"
    r"|hangs?|hung|hanging|stuck|unfinished|outliv\w+|(?:without|prevents?|prevented|blocks?|keeps?) (?:\S+ ){0,4}(?:end\w*|complet\w+|finish\w*|from (?:ending|completing|finishing)|terminat\w+|open|from being (?:done|complete))|0/1 completions?|not ?ready",
    "piles_up": r"(?:pil|add|build|stack|heap)(?:es|e|s|ing|ed) up|accumulat\w+|leak\w*|pile[- ]?up|left[- ]?overs?|more and more|one after (?:the|an)other|fill\w*(?: up)?",
    "demands": r"demand\w*|requir(?:e|es|ed|ing)|asks? for|asking for|insist\w*|wants?|expects?|needs?|protect\w*|lets? (?:nobody|no one) in",
    "nobody_has": r"(?:no|none|nobody|not one|neither)(?: \S+){0,4} (?:has|have|had|knows?|was (?:given|told)|were (?:given|told)|is (?:given|told)|are (?:given|told)|sends?|sent|got|presents?|carr(?:y|ies))|nobody (?:was )?(?:told|gave|given|knows)"
    r"|never (?:been )?(?:given|told|got|received)|without (?:a |any |the |one|it)|unauthenticated|(?:do(?:es)?|did|was|were|has|have|is|are)(?: not|n't) (?:\w+ ){0,2}(?:send|sent|know|have|present|give|given|carry|told|got|configured)",
    "refuses": r"refus\w+|reject\w+|den(?:y|ies|ied)|declin\w+|turns? (?:\S+ )?(?:away|down)|(?:does not|doesn't|no longer|won't|will not) (?:accept|know|recogni[sz]e|take|let)\w*",
    "right_value": r"(?:has|have|says|names|carries|contains|shows|is) (?:the |its |a )?(?:right|correct|proper|expected|usual|valid) (?:\w+ )?(?:port|value|target ?port|limit|image|key|entry|selector|label|password|command|address|name)s?",
    "unset": r"(?:is|are|was|were) (?:\w+ )?(?:empty|unset|not set|blank|nil|none)",
    "soft": r"preferred\w*|soft|a preference|best[- ]effort|advisory",
    "one_way": r"only (?:the |its )?(?:\w+ )?(?:egress|ingress|outgoing|incoming)|(?:egress|ingress) only(?! (?:to|from|for|in|on|by|towards?)\b)|(?<!no )(?<!nor )(?<!any )(?:ingress|egress) (?:is |stays |remains |still )*(?:open|allowed|free|untouched|unrestricted)|only (?:the )?traffic (?:of \S+ )?to (?:the )?internet",
    "workload_gone": r"(?:deployment|statefulset|workload)(?: object)?(?: @\w*)? (?:was|is|has been|got) (?:\w+ )?(?:deleted|gone|removed|missing)|@\w* deployment (?:was|is|has been|got) (?:\w+ )?(?:deleted|gone|removed|missing)",
    "other_nodes_well": r"(?:other|remaining) (?:two )?(?:workers?|nodes?)(?: \w+)? (?:takes?|accepts?|are|stay|schedule)",
    "published": r"(?:offered|published|exposed|reachable|available|advertised) (?:on|at|under|as)(?: port)? \d{2,5}|(?:exposes?|publishes|offers|advertises)(?: port)? \d{2,5}",
    "hands_on": r"(?:services?|svc)(?: @\w*)? (?:\w+ )?(?:hands?|passes|forwards?|relays?|sends?|routes?|directs?|delivers?|knocks?)(?: \S+){0,4}? (?:to|on|at|into) (?:(?:the|container|pods?|target|door) )*(?:port )?\d{2,5}",
    "health_path": r"/healthz|/readyz|/livez",
    "unplaced": r"(?:stays?|remains?|is|are|sits?|hangs?|waits?|stuck)(?: in)? (?:\w+ )?pending|un-?schedulable|failedscheduling|insufficient (?:memory|cpu)(?! limit)|no (?:single )?(?:node|machine|worker)\w*(?: \w+){0,3} (?:room|big|large|has|have|offers?|fits?)",
    "pull_fails": r"image ?pull ?back ?off|err ?image ?pull|no registry|manifest unknown|(?:cannot|can't|could not|fails? to|unable to) (?:be )?pull\w*|isn't a thing|never (?:\w+ )?pushed",
    "its_value": r"(?:its|the|whose) (?:value|target|host ?name) (?:\w+ )?(?:is|was|has|names|points|reads|says|contains|got) (?:\w+ )?(?:an? )?(?:typo|wrong|mis\w+|bad|invalid|incorrect|outdated|stale|another|different|garbage)|(?:typo|misspelling|mistake) in (?:its|the) value|(?:defined|set|there|present),? but (?:\w+ )?(?:wrong|invalid|misspelt|misspelled|points)",
    "tolerated": r"(?:@_*|(?<!no )pods?) tolerates?(?= (?!no\b|none\b|nothing\b))|(?:which|that) (?:the|this|its|their|these|those)(?: (?:pods?|@_*))+ (?:\w+ly )?tolerates?|(?:is|are|gets?) (?:\w+ly )?tolerated(?! (?:\w+ )?by (?:no|none|nobody|nothing)\b)|(?<!none )(?<!nothing )(?<!nobody )(?<!no pod )(?<!which )(?<!that )tolerat(?:es|ed) (?:this|that|it|the|these)(?! (?:no|nothing))|(?:has|have|carries|carry) (?:the|a|its|their) (?:matching |right |required )?toleration",
    "max_surge": r"max ?-?surge",
    "max_unavailable": r"max ?-?unavailable",
    "webhook_up": r"(?:server|back-?end)s? (?:is|are) (?:up|running|healthy|alive)|web-?hooks? (?:\S+ ){0,2}(?:is|are|was|were) (?:\w+ )?(?:up|running|healthy|reachable|alive|answering|working|fine)|(?:as|for being) (?:untrusted|unsigned)|violat\w+|on purpose|deliberately",
    "into_pod": r"(?:\d{2,5}|ports?) (?:\d+ )?(?:on|of|in|inside|at) (?:the |its |their |each |all )?(?:pods?|containers?)|ports? inside|(?:inside|into|within) the (?:pods?|containers?)",
    "port_now": r"ports? (?:number )?(?:is|was|became|reads|says|got)(?: now)? (?:\d{2,5} now|\d{2,5}(?= instead)|renumbered|moved|changed)|(?:reachable|available|offered|exposed|published|listening|found|served) (?:at|on|under)(?: port)? \d{2,5} now|(?:now )?(?:exposes?|offers?|publishes|advertises?)(?: port)? \d{2,5} (?:in place of|instead of|rather than)"
    r"|(?:publishes|exposes|offers|advertises|opens) (?:is |only |now |just )*\d{2,5}",
    "pullable": r"pull(?:s|ed|ing)? (?:\w+ )?(?:fine|ok|okay|well|without|successfully|in \d\S*|cleanly|properly|normally)|can be pulled(?! from)|(?:is|was) (?:present|there|available) (?:on|in) (?:the|every|each) (?:node|registry)|exists in the registry|(?:successfully|already) pulled",
    "replaced_whole": r"(?:rolled|set|moved|brought|switched|reverted|put|went|gone)(?: \w+){0,2} back to|down-?graded|as a whole|in its entirety|no newer (?:pods?|one)|all (?:of )?its pods",
    "rewrites": r"(?:re-?|over)?writ(?:es?|ing|ten)|overwr\w+|revert\w*|re-?appl\w+|re-?sets?|puts? (?:it |that |the limit )?back|sets? (?:it |that |the limit )?back"
    r"|patch(?:es|ed|ing)?|lowers?|lowered|lowering|cuts?|cutting|shrink\w*|undo(?:es|ing)?|pushes?|takes? (?:it )?down|keeps? (?:\w+ )?(?:setting|changing|lowering|cutting|putting)|sets?|writes?"
    r"|re-?sync\w*|reinstat\w+|re-?impos\w+|rolls? (?:it|this|that) (?:out|back)|put back|(?:comes?|came) back|restores? (?:the )?(?:wrong|bad|old)|changes? (?:it|this|that)? ?back",
    "again": r"again|every (?:time|run|hour|night|day|few|\S+ minutes?|\S+ min)|whenever|repeated\w*|keeps?|each (?:run|time|hour|night)|on (?:its |a )?schedule|constantly|regularly|nightly|hourly|over and over|anew",
    "together": r"together|in (?:total|sum|all)|cumulativ\w+|combined|add(?:s|ed|ing)? up|sum(?:s|med)?(?: up| to)?|one after (?:the other|another)|in (?:a row|series|sequence|turn)|serial\w*|sequential\w*|chain\w*|accumulat\w+|altogether|totall?ing|all (?:of them|four)|each",
    "adds_up": r"add(?:s|ed|ing)? up|sum(?:s|med)? up|cumulativ\w+|accumulat\w+|(?:sum|total) of",
    "deadline": r"dead-?lines?|time ?-?outs?|timeout ?seconds|tim(?:es?|ed|ing) out|3[0-9] ?(?:s|sec\w*|seconds)|time (?:budget|limit|left)|(?:longer|more) than (?:a|the|any|one) request|wait\w*|exceed\w*",
    "violates": r"violat\w+|(?:does|do|did)(?:n't| not) (?:meet|satisfy|comply with|conform to)|break\w*|non-?complian\w+|not complian\w+|too strict|stricter|enforc\w+",
    "unknown_ca": r"(?:signed|issued) by (?:an? |the )?(?:\w+ )?(?:unknown|untrusted|different|other|another|foreign|wrong)(?: \w+){0,2}|(?:has|have|had|did)(?:n't| not|nothing| never) (?:sign\w*|issue\w*)|unknown (?:certificate )?authority|self-?signed|(?:is|are|was|were)(?:n't| not) (?:signed|issued) by",
    "untrusted": r"un-?trusted|(?:does|do|did|will|would|is|are|can|could)(?:n't|not| not| no longer) (?:be )?(?:trust\w*|verif\w+|validat\w+)|no longer trust\w*|(?:fails?|failed) (?:to )?(?:trust|verif\w+|validat\w+)|distrust\w*",
    "expired": r"expir\w+|out ?-?dated|past (?:its|the|their) (?:date|end|not ?after|validity|expiry)|ran out|run out|runs out|lapsed|past its date|nobody (?:has )?renewed|nobody (?:\w+ )?renew\w*|not (?:been )?renewed|no longer valid|not valid any ?more|over(?: since)?|too old|(?:is|was) not renewed|never renewed|not ?after"
    r"|exp'?d|no longer in date|run its course",
    "held": r"holds?|held|holding|keeps?|kept|keeping|takes?|took|taken|taking|owns?|acquir\w+|sits? on|sitting on|grabs?|grabbed|has|having|open|never (?:commits?|committed|releases?|released|ends?|lets go)|granted|occup\w+|lock(?:s|ed)|monopoli\w+",
    "bygone": r"old(?:er)?|outdated|obsolete|former|previous|legacy|earlier|left ?-?over|retired|superseded|deprecated|abandoned|prior|ancient|bygone|stale",
    "bygone_pods": r"(?:old(?:er)?|outdated|obsolete|former|previous|legacy|earlier|left ?-?over|retired|superseded|forgotten|abandoned|stale|second|additional|extra|parallel) (?:\S+ ){0,3}?(?:deployments?|workloads?|replica ?sets?|pods?|cop(?:y|ies)|instances?|backends?|servers?|fleet|stack)"
    r"|(?:two|both|different|several|three) (?:generations|versions|builds|releases)(?: of)?|[a-z][\w-]*-(?:legacy|old|previous)",
    "beside": r"beside|besides|alongside|next to|in parallel|side by side|still|as well|also|too|together with|at the same time|in addition|mixed?|both|behind (?:(?:the|its|their|that|this|a|same) )*(?:services?|svc|names?|endpoints?)|(?:share|part|half|third|quarter|fraction|some|portion) of|joins?|joined",
    "rotated": r"rotat\w+|rotation|renewed|re-?issued|re-?keyed|changed|new|newer|replaced|altered|re-?set|modified|another|different|differs?|swapped",
    "stale": r"stale|old|older|former|previous|outdated|obsolete|superseded|earlier|left ?-?over|(?:no longer|not|never|nobody|doesn't|does not|did not|didn't|isn't|wasn't|won't) (?:\w+ ){0,2}?(?:accept\w*|match\w*|valid|known|knows?|agree\w*|told|updated|take\w*|got|get|given|right|fit\w*|carried|let\w*)"
    r"|out of (?:sync|step|date)|mis-?match\w*|disagree\w*|differs?|wrong|before (?:the )?rotation|from before|refus\w+|reject\w+|still|invalid|forgot\w*",
    "corrected": r"(?:already |since |meanwhile |later )?(?:corrected|fixed|mended|repaired|rectified)|corrections?|(?:the|a|that) (?:config(?:uration)? )?fix|(?:new|newer|newest|latest|current|right|correct|good|later) (?:generated |immutable |hashed |ha[ -])?(?:one|version|generation|revision|copy|config ?-?maps?|cm|config(?:uration)?)",
    "not_taken": r"still (?:\w+ ){0,2}?(?:refer\w*|references?|uses?|using|points?|pointing|mounts?|mounting|reads?|reading|runs?|running|loads?|takes?|consumes?|names?|on|with|set to|wired|bound|tied|comes? from|gets?|has|have|asks?|carries)|(?:was |were |is |are |has |have |been |got )*(?:never|not|nobody|no ?one|isn't|wasn't|hasn't|aren't) (?:\w+ ){0,3}?(?:rolled(?: out)?|roll(?: it)? out|deployed|picked up|taken|takes?|referenced|refers?|references?|used|uses?|wired|switched|pointed|adopted|applied to|reach\w*|propagated|reloaded|consumed|consumes?|mounted|mounts?|moved|attached|updated)"
    r"|without (?:a |any )?(?:roll-?out|deployment|restart)|(?:un-?used|un-?referenced|orphaned|ignored) (?:by|config\w*|cm)|keeps? (?:using|reading|referring|pointing|running|mounting)|stuck (?:on|with)|remains? (?:on|with|pinned)|(?:left|pinned|stays?|stayed) (?:on|with|at|to)|lies (?:there )?unused",
    "connections": r"connections?|sessions?|slots?",
    "exhausts": r"exhaust\w*|use[sd]? (?:up|all)|using up|eats?(?: up)?|takes? (?:up )?(?:all|every|nearly all)|taken up|hogs?|fills?(?: up)?|filled|saturat\w*|occup\w+|run(?:s|ning)? out|ran out|out of|exceed\w*|more than|beyond|no (?:\w+ )?(?:left|free)|leaves? (?:none|no)|consum\w+|swallow\w*|monopoli\w+",
    "twice": r"twice|two times|two (?:entries|definitions|values)|duplicat\w*|shadow\w*|hid(?:es|ing|den)|overrid\w+|overrode|overwr\w+|wins|takes effect"
    r"|(?:second|later|last|another|other) (?:\w+ )?(?:definition|entry|value|one|declaration|line)|redefin\w+|defined again|given again|both"
    r"|(?:a|the) second time|once more|(?:later|last|second) (?:one )?wins|re-?declar\w+|defined (?:\S+ ){0,4}again|two (?:different )?(?:\S+ )?(?:entries|lines|values)",
    "takes_all": r"(?:all|every|each) (?:of )?(?:the |its )?(?:old |running |serving |healthy )?(?:pods?|replicas?|cop(?:y|ies)) (?:\S+ ){0,3}(?:go|gone|away|down|at once|removed|terminated|deleted|stopped|killed|drained)"
    r"|(?:takes?|took|taken|drains?|drained|removes?|removed|kills?|killed|stops?|stopped|terminates?|terminated|deletes?|deleted) (?:away |down )?(?:all|every|each|the (?:last|only|old)) (?:of )?(?:the |its )?(?:old |running |serving |healthy )?(?:pods?|replicas?|cop(?:y|ies))"
    r"|(?:no|not one|nothing|none) (?:old |serving )?(?:pods?|replicas?|cop(?:y|ies))? ?(?:is |was |has to be |need be )?(?:kept|left|spared|retained)|100 ?%|lets? (?:all|every) (?:\S+ ){0,3}go"
    r"|(?:all|every|each)(?: of)?(?: its| the)? (?:replicas?|pods?|cop(?:y|ies)|instances?)(?: (?:to|may|can|might|could))? (?:be |go )?(?:unavailable|down|away|missing|killed|removed)(?: at once| together| at the same time)?"
    r"|(?:take|kill|remove|stop|terminate|drain|delete|throw)(?:s|ed)?(?: down| away| out)? (?:all|every|each|the)(?: of)?(?: the| its)? (?:old |previous |running |serving |existing |current )?(?:pods?|replicas?|cop(?:y|ies)|instances?|generation) (?:\S+ ){0,2}?(?:first|before|at once|together|right away|immediately)",
    "unanswered": r"un-?reachable|un-?answered|(?:can(?:not|n't| not)|could(?:n't| not)) be (?:called|reached|asked|contacted)|nobody (?:answers|is there|behind)|no (?:one|body) (?:answers|behind)"
    r"|(?:does|do)(?:n't| not) (?:exist|answer|respond)|no longer (?:exists?|installed|there|answers)|un-?installed|without (?:a )?back-?end|no (?:back-?end|endpoints|such service)|failed (?:to call|calling)|not found|nowhere|missing",
    "kubelet": r"kubelets?(?:\.service|['’]s)?|node agents?",
    "disk_full": r"(?:disks?|file ?systems?|root (?:disk|volume|partition)|storage|partition|nodefs|imagefs|drive|space)\b,?(?: [^\s.;]+){0,5}? (?:full|filled(?: up)?|exhausted|used up|runs? out|ran out|running out|out of (?:space|room)|no (?:space|room)(?: left)?|without (?:space|room)|100 ?%|9\d ?%|short)"
    r"|(?:full|filled(?:-up)?|exhausted|overflowing) (?:\S+ )?(?:disks?|file ?systems?|partition|root|storage|drive)|(?:no (?:\w+ )?space|no room|nothing) (?:is )?left on|out of (?:disk )?(?:space|storage)|disk ?-?space (?:\w+ ){0,2}(?:exhaust\w*|used up|gone|consumed|eaten)|disk ?-?pressure",
    "fills_disk": r"(?:fill(?:s|ed|ing)?(?: up)?|eat(?:s|ing|en)?(?: up)?|ate(?: up)?|exhaust\w*|consum\w+|tak(?:es?|en|ing)(?: up)?|us(?:es|ed|ing) up|clog\w*|flood\w*|swallow\w*|overfill\w*|pil(?:es?|ed|ing) up(?: \w+)? on) (?:\S+ ){0,5}?(?:disks?|file ?systems?|partition|storage|(?<!heap )(?<!address )space|drive|/(?:srv|data|var|opt|mnt)\S*)",
    "writer": r"record\w*|captur\w*|segments?|writes?|writing|written|wrote|ffmpeg|encod\w+|video\w*|dumps?|archiv\w+|spool\w*|footage|keeps? (?:every|all)|stores?|piles? up",
    "retention": r"(?:-?segment_?(?:wrap|time)|-?strftime|rotat\w+|retention|wraps?(?:ping)?|(?:never|not|nothing) (?:\w+ )?(?:deletes?|deleted|removes?|removed|overwrit\w+|cleaned|pruned|purged|expires?)|old (?:files|segments|recordings)|clean-?up|prun\w+|purg\w+|overwrit\w+)",
    "host_path": r"host-?paths?(?: volumes?)?|(?:directory|path|folder) (?:of|on) the (?:node|machine|host)|(?:node|machine|host)(?:['’]s)? (?:own )?(?:directory|path|folder|disk|file ?system)",
    "eviction": r"evict\w*|(?:nodefs|imagefs)\S*|disk ?-?pressure",
    "pids": r"pids?|process (?:ids?|identifiers|numbers?|slots?|table)|kernel\.pid_max|pid_max|threads-max|pid\.available|pid ?-?pressure",
    "pids_gone": r"(?:pids?|process (?:ids?|identifiers|numbers?|slots?|table))\b,?(?: [^\s.;]+){0,5}? (?:exhaust\w*|used up|taken|full|gone|eaten(?: up)?|runs? out|ran out|running out|deplet\w+|none left|left)"
    r"|(?:exhaust\w*|use[sd]? up|using up|eat(?:s|en|ing)?(?: up)?|takes? (?:up )?(?:all|every)|runs? out of|ran out of|out of|no|deplet\w+|without|none of its) (?:[^\s.;]+ ){0,5}?(?:pids?|process (?:ids?|identifiers|numbers?|slots?|table)|(?:kernel\.)?pid_max)"
    r"|pid ?-?(?:pressure|exhaustion|leak\w*)|process(?:es)? leak\w*|leak\w* (?:of )?(?:process(?:es)?|pids?|zombies)|fork ?-?bomb\w*",
    "leaves_processes": r"(?:leav(?:es|ing)|left|leak(?:s|ed|ing)?|spawn(?:s|ed|ing)?|fork(?:s|ed|ing)?|starts?|started|starting|accumulat\w+|gather(?:s|ed|ing)?|pil(?:es?|ed|ing) up|collect\w*) (?:\S+ ){0,6}?(?:process(?:es)?|zombies|pids|threads|children|curls?|scripts)(?: behind)?",
    "defunct": r"zombies?|defunct|orphan(?:ed|s)?(?: process(?:es)?| children)?|un-?reaped|dead (?:child(?:ren)?|process(?:es)?)|un-?waited",
    "unreaped": r"-?no-?reap\w*|un-?reaped|(?:never|not|nobody|no longer|without|does not|doesn't|do not|don't|isn't|disabled?|off) (?:\S+ ){0,3}?(?:reap(?:s|ed|ing)?|wait(?:s|ed|ing)?(?: for)?)|reaping (?:\S+ ){0,3}?(?:off|disabled|switched off|missing)|-?overlapping|overlaps?",
    "jobs_of": r"supercronic|cron\w*|jobs?|job runner|schedul\w+|crontabs?",
    "gathers": r"pil(?:es?|ed|ing) up|accumulat\w+|grow(?:s|ing)?|grew|mount(?:s|ed|ing)? up|without (?:end|a bound|limit)|never (?:ends?|stops?)|started (?:anew|again)",
    "node_unforked": r"(?:can(?:not|n't)|could(?: not|n't)|unable to|fails? to|failed to|nothing can|no longer) (?:\S+ ){0,4}?(?:fork(?:ed)?|start(?:ed)?|clone|exec|be started)|fork/exec|resource temporarily unavailable|EAGAIN",
    "eviction_threshold": r"evict\w*(?: hard)? (?:thresholds?|limits?|settings?|signals?|marks?)|eviction-?hard|(?:nodefs|imagefs)\.(?:available|inodesfree)"
    r"|(?:thresholds?|limits?) (?:\S+ ){0,4}(?:evict\w*|disk pressure|of the kubelet)|kubelet\S* (?:\S+ ){0,5}(?:thresholds?|free space|disk limits?)|(?:wants|demands|insists on|requires) (?:\S+ ){0,6}(?:of (?:its|the) (?:disk|file ?system) )?(?:to be )?free",
    "node_clock": r"(?:(?:system|node|machine|host|wall|kernel|local|worker)(?:['’]s)? |(?:node|machine|host|worker) \S+['’]s )*(?:clocks?|system (?:time|date)|time of day|date and time|idea of (?:the )?time)(?: (?:skew|drift|offset))?|(?:node|machine|host|worker)(?:['’]s)? (?:time|date)",
    "clock_astray": r"ahead|behind|(?:too )?(?:fast|slow|late|early)|wrong|off|out|skew(?:ed|s)?|drift(?:ed|s|ing)?|(?:in|into) the (?:future|past)|out of sync|unsynchroni[sz]ed|not synchroni[sz]ed|jumped|incorrect|lag(?:s|ged|ging)?|runs? (?:away|wild)|gone astray|astray|(?:days|weeks|hours) (?:away|from)|differs?|not (?:been )?(?:in sync|right|correct)",
    "time_service": r"chronyd?(?:\.service)?|ntpd?|(?:systemd-)?timesyncd|(?:time|clock|ntp)[ -]?(?:sync\w*|service|daemon|keep(?:er|ing))(?: (?:service|daemon|unit))?|network time(?: protocol)?|(?:service|daemon) that (?:keeps|sets) the (?:time|clock)",
    "time_service_ended": r"stopped|masked|disabled|inactive|dead|(?:is|was|has been|been) (?:off|switched off|turned off|down)|not (?:been )?(?:running|started|active|enabled)|(?:does|do|did|will|can|could)(?: not|n't|not) (?:run|start)|isn't running|no longer (?:runs|running)|turned off|switched off|shut (?:off|down)",
    "clock_drift": r"clock[ -](?:skew|drift)\w*|(?:skew|drift)(?:ed|ing)? (?:of |in )?(?:the |its |that )?(?:\w+ )?clocks?|time (?:skew|drift)",
    "kubelet_ended": r"kubelets?(?:['’]s)?(?:\.service)?,?(?: [^\s;]*[^\s.;]){0,12}? (?:stopped|inactive|not (?:been )?running|not (?:been )?started|(?:does|do|did|will|can|could|would)(?: not|n't|not) (?:start|come up|run|boot)|isn't running|aren't running|fails? to (?:start|come up|boot)|failing to (?:start|come up)"
    r"|(?:cannot|can't|won't|refuses to|unable to) (?:start|come up|run|boot)|crash(?:es|ed|ing)?|crash-?loop\w*|exit(?:s|ed|ing)?|dead|died|dies|down|killed|disabled|masked|keeps? (?:restarting|dying|failing)|flaps|restart(?:s|ing)? (?:in a )?loop\w*|shut down|off|terminat\w+|quits?|aborts?)"
    r"|(?:stopped|dead|crash\w*|failed|failing|disabled|masked|inactive|broken) (?:\S+ ){0,2}kubelets?|(?:stops?|stopped|killed|disabled|masked) (?:\S+ ){0,2}kubelet|no (?:running )?kubelets?|without (?:a )?(?:running )?kubelets?",
    "node_dead": r"[\w-]*workers?-?\d*,? (?:powered (?:off|down)|without power|off-?line|not ?-?ready|dead|down|dark)|(?:nodes?|machines?|hosts?|[\w-]*workers?-?\d*|kubelets?|server|box),?(?: \S+){0,3} (?:is|are|was|went|has gone|has been|have been|goes|stands) (?:\w+ )?(?:down|dead|off-?line|powered (?:off|down)|not ?-?ready|unreachable|lost|silent|switched off|without power)"
    r"|(?:nodes?|machines?|hosts?|[\w-]*workers?-?\d*|servers?|box),?(?: \S+){0,3} (?:has )?(?:died|went dark|gave up the ghost|dropped off|failed|crashed|lost (?:its )?power|has no power|does not (?:answer|respond|report)|stopped (?:reporting|responding|answering)|disappeared)"
    r"|(?:node|machine|host|power|hardware) (?:failure|outage|loss)|loss of (?:the )?(?:node|machine|host|power)|(?:dead|failed|lost|crashed|downed|unreachable|powered-off|notready) (?:worker )?(?:node|machine|host|worker)"
    r"|(?:no|without|lost|missed|missing) (?:\w+ )?heart-?beats?|stopped posting (?:node )?status|kubelet (?:\S+ ){0,4}(?:stopped|silent|gone|not (?:reporting|responding|posting))|notready|node status unknown"
    r"|[\w-]*worker-?\d* (?:is|was|went) (?:completely |simply |just )?off(?! limits)",
    "forwards": r"forward\w*|rout(?:es?|ed|ing)|sends?|sent|sending|directs?|directed|directing|points?|pointing|pointed|maps?|mapped|mapping|hand(?:s|ed)?(?: \w+)?(?: over)?|deliver\w*|relays?|proxies|targets?|targeting|hits?|goes|go|dials?"
    r"|pass(?:es|ing)(?: \w+)? (?:on|to)|shovels?|lands?|ends? up|pipes?|aims?|aimed|aiming|dispatch\w*|steers?"
    r"|wired|re-?wired|trained (?:on|at)|fans? out|spreads?|passes (?:\w+ )?(?:traffic|connections|requests) (?:on )?to|traffic on",
    "offers": r"offer\w*|expos\w*|publish\w*|listens?|listening|serv(?:es?|ing)|advertis\w*|available|reachable|opened|moved|declares?|uses?|is on|runs on|now on|sits on|answers on",
    "nopods": r"(?:no|zero|not a single|not any|none of (?:its|the|them)) (?:\S+ ){0,2}?(?:pods?|workloads?|containers?|labels?)|(?:match|select)(?:es|s|ing|ed)? (?:no|nothing|none|nobody|zero)(?: \w+){0,2}|(?:does|do|did|is|are)(?: not|n't) (?:\w+ )?(?:match\w*|select\w*|carr\w+|bear\w*|have|hav\w+)"
    r"|nothing (?:matches|carries|has)|nobody (?:carries|has|bears)|no pods?|pods? (?:lack|do not|don't|without)|no (?:ready )?endpoints?|without endpoints?|none (?:of \S+ )?(?:carries|has|have|bear\w*)|not (?:carried|borne|present|found) (?:by|on)|never matches|cannot match|can't match|finds? no"
    r"|(?:which|that|and) they (?:lack|don't have|do not have|never had)|not a single one|(?:pods? )?(?:don't|do not|doesn't|does not) (?:wear|own|show|fit|possess)|only have|never (?:had|carried|wore|bore)|matches nobody|(?:no|not any|not one) (?:pod|workload|container) (?:\w+ )?(?:is having|has|carries|wears|bears|owns|shows)|none (?:do|does|has|have|carry|of the pods)|nobody is (?:there|behind)|selects? (?:nothing|nobody|no one)|is on no pod|on no pod|no pod"
    r"|not one (?:pod|of)|(?:isn't|is not|aren't) (?:among|on|in) (?:the|any|its|their|a) (?:labels|pods?|label)|nobody|no such label|unlabell?ed"
    r"|never (?:given|got|received|assigned|wearing)|nobody wears|without (?:that|this|the) label|lack(?:s|ing)? (?:that|this|the|it)|short of (?:that|this) label",
    "extra": r"extra|additional(?:ly)?|added|superfluous|unneeded|another label|requires?|asks?|demands?",
    "also": r"also|as well|too broad|too wide|too general|too generic|overly broad|too loose|too permissive|overbroad|over-?match\w*|both|multiple|more than (?:its own|one|just)|in addition|besides|likewise|either workload|not (?:only )?its own|not just|beyond its own|other pods|two (?:workloads|deployments|kinds)|mix\w*|half|part of|some of|widened|broadened|loosened|unspecific"
    r"|too|alongside|on top of|besides its own|a second (?:workload|deployment)|every other|one in (?:two|three)|a (?:third|part|fraction|share) of",
    "foreign_pods": r"(?:foreign|unrelated|other|wrong|extra|stray|strange|alien|unwanted|unintended|another|others'|someone else's|neighbou?r\w*) (?:\w+ ){0,3}?(?:pods?|endpoints?|backends?|workloads?|deployments?|services?|components?|containers?|addresses|instances?)(?:'s)?(?: pods?)?|pods? (?:\w+ ){0,3}?(?:of|from|belonging to|that belong to|owned by|run by) (?:another|a different|an unrelated|other|a foreign|a second|@_*)|(?<!n't on the )(?<!not on the )(?<!n't on )(?<!not on )(?<!none of the )(?<!no )@_* (?!own )(?:\S+ )?pods?",
    "shared": r"shar(?:e|es|ed|ing)|common|(?:also|too|both|as well) (?:carry|carries|have|has|bear|bears|carried)|both (?:\w+ )?(?:carry|have|bear)|in common|carr(?:y|ies) (?:it|the same|that|this)?(?: \w+)? ?(?:too|as well|also)|same label"
    r"|wears?|same (?:\S+ )?label|that label|this label",
    "runs": r"runs?|running|ran|execut\w+|starts?|started|starting|launch\w*|invokes?|boots?",
    "pinned": r"(?:told|has|have|had|made|forced|required|must|may only|can only) (?:to )?(?:run|live|be|stay|go) (?:only )?(?:on|in)|pin(?:s|ned|ning)?|bound|tied|nailed|restricted|constrained|forced|held|confined|assigned|must run|only (?:run|schedul\w*)|locked|steered|wants|demands?|asks?|requires?|fixed|placed|insist\w*|running on|runs? on"
    r"|nailed|tethered|glued|chained|anchored|hard-?coded|sent|sends|directed|wants|waiting for",
    "other_node": r"exclud\w+ each other|mutually exclusive|both conditions|one or the other|(?:another|other|different|wrong|separate|not that|second|elsewhere|not the same)(?: worker)? ?(?:node|machine|host|worker|one)?|elsewhere|node other than|(?:is|are|lies?|lives?|sits?|resides?|located|local|bound|tied|attached|lie) (?:\w+ ){0,2}?(?:not|on|to|at|elsewhere)|not (?:available|there|on)|(?:its|the) (?:volume|data) (?:is|lives?|lies|are)|where",
    "no_node": r"(?:no|none of the|not one|not a single|zero|without a) (?:\S+ ){0,3}?(?:nodes?|machines?|hosts?|workers?)|nodes? (?:\S+ ){0,6}?(?:does not exist|doesn't exist|do not exist|is missing|not exist|non-?existent|no longer exists?|is gone|is unknown|nobody has)|non-?existent (?:\w+ )?(?:node|host|machine|worker)"
    r"|missing node|unknown node|node that (?:is|was) (?:not|never)|no such node|(?:there is|there's) no such (?:node|machine|host)|(?:node|machine|host|worker) which (?:does|is) not|imaginary node|fictitious node|(?:imaginary|phantom|absent|vanished|bogus) (?:node|host|machine)|no (?:node|machine) (?:has|carries|bears|satisf\w+|match\w+)"
    r"|no such (?:worker )?(?:box|server|node|machine|host|worker)|(?:cluster|we) (?:has|have|knows?) no (?:such )?(?:worker )?(?:node|machine|host|worker|server|box)|(?:node|host|machine|worker|hostname|name) (?:\S+ ){0,4}(?:that|which) (?:isn't|is not|does not|doesn't|do not|nobody|no one)|not (?:part of|in|a member of) (?:the|this|our) cluster|(?:none|no one|not one) of (?:the|our|its|these|those) (?:\w+ ){0,2}(?:nodes?|machines?|hosts?|workers?|boxes)",
    "unsatisfied": r"unsatisf\w+|(?:can|could)(?: ?not|n't| never) be (?:satisfied|met|fulfilled|scheduled|placed)|no (?:node|machine)\w* (?:satisf\w+|match\w+|has|carries|fits)|match(?:es)? no(?:thing|ne)?|nobody|nothing (?:matches|satisfies)|fulfils?|never be",
    "at_odds": r"conflict\w*|collid\w+|collision\w*|clash\w*|contradict\w*|fight\w*|compet\w+|wants?|holds?|binds?|bound|rival\w*",
    "conflict": r"conflict\w*|collid\w+|collision\w*|clash\w*|contention|fight\w*|compet\w+|same|both|already|taken|in use|occup\w+|steals?|stole|takes|took|grabs?|grabbed|two|twice|duplicat\w+|also (?:binds?|listens?|wants?)|like the main|holds?|races?|hijack\w*|contend\w*|shar\w+|wants?|binds?|bound|listens?"
    r"|tak(?:es|ing|en)|fights?|squat\w*|snatch\w*|beats?|rival\w*|wrestl\w*|battl\w*"
    r"|listening|competing|clashes"
    r"|got there first|beat (?:it|them) to it|owns|reserved|has (?:it|this port|that port)",
    "waits": r"wait\w*|loop\w*|hang\w*|hung|stuck|block\w*|never (?:ends?|finish\w*|complet\w*|succeed\w*|exits?|terminates?|returns?|gets?|comes?|done|passes)|polls?|polling|spins?|forever|for ever|endless\w*|sleeps?|does(?: not|n't) (?:finish|complete|end|exit|terminate|return)|stall\w*|until|looks? for|held|holds|fail\w*|cannot (?:complete|finish)"
    r"|never (?:lets go|answers?|comes up|appears?)|in vain|again and again|retr(?:y|ies|ying)",
    "revoked": r"revok\w+|revocation|withdr[ae]wn?|taken away|took away|takes away|downgrad\w+|demoted|depriv\w+|strip\w*|lost|loses|lose|losing|no longer (?:has|have|holds|allowed|permitted|may)|(?:is|was)(?: not|n't) (?:allowed|permitted)|gone|removed|missing|absent|lacks?|lacking|empty|insufficient|without|only (?:has|read)|read-?only|deleted|dropped|denied|changed|reduced|disappeared|none|wrong|instead|may not|has no|no|not granted|no grants"
    r"|took|taken|strips?|has none|no more|gone|ha(?:s|d) (?:been )?(?:removed|taken)|does(?: not|n't) (?:have|hold)|never",
    "incompatible": r"incompatib\w+|not compatible|un-?supported|not supported|can(?: ?not|n't|'t) (?:\w+ )?(?:read|open|use|handle|start (?:on|with)|understand|load|work with|deal with)|refus\w+|unable to (?:read|open|use)|too (?:new|old|recent|far)|won't (?:read|open|start)|will not (?:read|open)|reject\w*|does(?: not|n't) (?:understand|support|accept|read)|skip\w+|jump\w*|newer|major version|different major"
    r"|(?:cannot|can't|won't|refuses to|does not|doesn't|unable to) (?:\w+ ){0,3}(?:read|open|use|accept|understand|handle)|too (?:big|large|far) a (?:jump|step|leap)|not (?:able|made) to (?:read|open|use)|wrong mongod version|upgrade problem"
    r"|(?:cannot|can't|unable to|not able to|never learnt to|refuses to|won't|stops at once|chokes? on|gives up on|does not know|doesn't know) (?:\w+ ){0,3}(?:read|open|work|cope|deal|handle|use|files?|format)|four major|major versions?|several majors?"
    r"|won't touch|will not touch|balks? at|makes? no sense of|can(?:not|'t) make (?:any )?sense of|unable to upgrade|not (?:upgradable|readable)|unreadable (?:for|to|by)|refuses? (?:the|its|to)|does not take|can't do anything with",
    "upgraded": r"up-?grad\w+|bump\w*|downgrad\w+|jump\w*|moved|major|newer|version (?:change|jump|bump|skew|mismatch)|rolled out|changed|switched|set|replaced|runs?|uses?"
    r"|raised|lifted|brought|switched|swapped|new(?:er)? (?:server|version|release|major)|went (?:to|from)"
    r"|taken (?:\S+ ){0,4}?(?:straight )?to|catapult\w*|leap\w*|straight (?:from|to)|started with|raised",
    "unpullable": rf"registry (?:does not|doesn't|has never) (?:have|know|had)|(?:can(?: ?not|n't|'t)|could(?: not|n't)|unable to|fail\w*(?: to)?|impossible to|never) (?:be )?(?:\w+ )?(?:pull\w*|fetch\w*|download\w*|found|resolved|find)|(?:is|was|are)(?:{_NOT}) (?:available|found|pullable|in (?:the|any) registry)|image ?pull ?back ?off|err ?image ?pull|unpullable|unavailable|nonexistent|not (?:available|found)|no registry|in no registry|unknown to (?:the|any) registry|manifest unknown|invalid ?image ?name"
    r"|(?:could|can)(?:not|n't| not) (?:\w+ ){0,3}(?:find|be found|pull)|any registry|never (?:\w+ )?(?:pushed|published|built)|nobody (?:\w+ )?(?:pushed|published|built)|pull(?:s|ing)? (?:\S+ ){0,3}(?:fails?|forever|in vain|errors?)|manifest (?:\S+ )?not found|no such (?:image|tag|repository)|not published|nothing (?:that )?(?:any|a|the) (?:\w+ )?registry|no registry (?:\w+ )?(?:has|knows?|could|can|serves|delivers?|offers?)|does(?: not|n't) exist|do not exist|made[- ]up|bogus|invented|unresolvable|backs? off"
    r"|(?:can(?: ?not|n't|'t)|could(?: not|n't)|unable to|impossible to) (?:be )?(?:\w+ )?(?:obtain\w*|retriev\w*|locat\w*|got|get)|nobody (?:has |had )?(?:ever )?pushed|(?:isn't|is not) in any (?:registry|repo\w*)|nowhere to be pulled",
    "defective": r"defect\w*|(?:memory[- ])?leak(?:s|y|ed|ing|age)?|bug\w*|bugg?y|faulty|broken|flawed|bad|crash\w*|fails?|failing|regression|corrupt\w*|damaged|unstable|does(?: not|n't) (?:work|stay up|start)|botched|poor|rotten|panics?|malfunction\w*|dud"
    r"|nil[ -]pointer\w*|null[ -]?(?:pointer|reference)\w*|seg(?:mentation )?fault\w*|unhandled exception|programming error"
    r"|has a bug|garbage|rubbish|busted|borked|lemon|unfinished|segfaults?|dies|exits|falls? (?:down|over)|aborts?|does(?: not|n't) survive|can(?:not|'t) stay up|is no good|not (?:working|stable|usable)|unusable"
    r"|dying|worn(?: out)?|on (?:its|the) way out|gives? up|giving up|kaput|failing|had it"
    r"|los(?:es|ing) memory|never (?:frees|releases|gives back|returns)|(?:eats|eating|hogs|hogging|devours) (?:up )?(?:\w+ )?(?:memory|ram)|(?:memory|footprint|resident set|rss) (?:\S+ ){0,2}?(?:grows|climbs|rises|creeps|balloons|keeps (?:growing|climbing|rising))|falls over|blows up|keels over|conks out|(?:won't|will not) (?:start|stay up|run|come up|boot)|throws (?:an? )?(?:\w+ )?(?:error|exception)|no good",
    "external": r"external|public|outside|8\.8\.8\.8|1\.1\.1\.1|(?<![.\w])google(?![.\w])|foreign|custom|own|bypass\w*|by-?pass\w*|ignor\w+|none|default|circumvent\w*|go(?:es)? (?:around|past)|not (?:use|ask|know)|(?:does|do)(?: not|n't) (?:\w+ )?(?:use|ask|know|consult|resolve)|around|past|away from|unaware|host's|node's|internet|wrong|instead|sends?",
    "tells": r"answers?|answering|returns?|returning|denies|deny|denied|zones?|replies|responds?|rules?|blocks?|template|rewrites?|overrid\w+|changed|edited|modified|poison\w*|intercept\w*|refus\w+|added|tampered|entry"
    r"|lies|lying|says|pretends?|swears|claims|den(?:ied|ying)|returns?",
    "maps": r"maps?|mapped|mapping|overrid\w+|overrode|point\w*|resolv\w*|sends?|redirect\w*|pin\w*|wrong|stale|address|ip|dead|entry|has|contains|hard-?cod\w+|static|shadow\w*|hijack\w*|outdated|old|added|carries|to"
    r"|hard-?coded|pinned|overrides?|sends?",
    "on": r"on|true|enabled?|enabling|enables|set(?: to)?|turn\w*(?: on)?|switch\w*(?: on)?|activat\w+|flipped|=|1|sets|triggers?"
    r"|flip(?:s|ped)?|put (?:on|to)|switched to|now|is|became|turned",
    "code_path": r"(?:code )?path (?:that|which) (?:\w+ )?(?:enables?|turns? on|switch\w* (?:on|to))|code ?-?paths?|(?:latent|dormant|buggy|untested|experimental|new|broken|faulty|hidden) (?:\w+ )?(?:code|path|feature|backend|branch|bug|logic)|latent bug"
    r"|way in the code|branch (?:of the code)?|code (?:\w+ )?(?:behind|under|it)|(?:unfinished|half-done|half-finished|unready) (?:\w+ )?(?:code|path|feature|backend|branch)",
    "number": r"(?<![\w.-])(?<!\d:)(?!\d\d?:\d\d(?!\d))\d+(?:\.\d+)?(?: ?(?:[kmgt]i?b?|m|millicores?|cores?|%|bytes|mebibytes|megabytes|gibibytes|gigabytes|mib|gib))?(?![\w-])|ten|five|sixteen|twenty",
    "path": r"/[a-z][\w/.-]*|http ?get|tcp ?socket|grpc|exec|wget|command",
    "kill": r"kill\w*|restart\w*|terminat\w+|recreat\w+|crash ?-?loop\w*",
    "ready": r"ready|readiness|unready|not-ready|out of (?:its|the) service|taken out|endpoints?|rotation|load balanc\w+|polls?"
    r"|admitted"
    r"|rdy",
    "asks": r"asks? for|asking for|(?<!each )(?<!every )(?<!per )(?<!any )requests?|requesting|requested|demands?|demanding|wants?|reserves?|reserving|needs? more|claims",
    "misnamed": r"mis-?(?:spelled|spelt|named|typed)|typo\w*|renamed|under another name|under (?:the )?(?:name )?\S+ instead|wrong (?:name|key|case|spelling|capitali[sz]ation)|lower-?cased?|capitali[sz]ed|nested|commented out",
    "no_component": r"(?:has|have|shows?|lists?|contains) no @_*",
    "incompatib": r"incompatib\w+|not compatible",
    "deny_all": r"empty (?:ingress|egress)|lets nothing (?:in|out|through)|deny-all|deny all|denies all|default-deny|(?:no|zero) (?:ingress|egress)",
    "service_object": r"(?:service|svc)(?: object| resource| named| called| for| of|/)? ?(?:the )?[\"']?@_*|(?:kubernetes |k8s |the )service object|svc/@_*",
    "scaled_away": r"0/0|(?:dial\w*|turn\w*|wound|cut|brought|taken|took|ramped) (?:\S+ ){0,4}?down to (?:0|zero|nothing|none)(?![\w%]|\.\d)|scaled? (?:\S+ ){0,5}?(?:to|at) (?:0|zero|nothing|none)|replicas?(?: count)?(?: (?:is|was|set|are|now|field|number|of|equals|dropped|went|changed|reduced|at|from \S+))* ?[:=]? ?(?:to )?(?:0|zero|nil|none)(?![\w.]|/\d)"
    r"|(?:wants?|asks? for|set to|desires?|specif\w+|demands?|calls? for|configured (?:for|with|to)|told to (?:run|keep)|desired|orders?) (?:just |exactly |only )?(?:0|zero|no) (?:pods?|copies|copy|instances?|replicas?)(?: at all)?|(?:runs?|has|have|needs?|to have) (?:just |exactly |only )?(?:0|zero) (?:pods?|copies|copy|instances?|replicas?)(?! (?:ready|available|up|running))(?: at all)?"
    r"|(?:0|zero|no) (?:desired |wanted |configured )?replicas?(?! (?:are |is )?(?:ready|available|up|running))",
    "dropped_user": r"dropuser|drop(?:ped)? (?:the |its )?(?:data ?base |db |mongo |admin )*user|user ?not ?found",
    "fine": r"(?:is|are|was|were|looks?|seems?) (?:itself |all |perfectly |quite |still )?(?:fine|right|correct|good|ok|okay|well|in order|sound|healthy|as it (?:should|ought to) be|unchanged|untouched)|(?:needs|need) no change",
    "works": r"works?(?: fine| well| normally| properly| as it should| as expected)?(?=\W*(?:[.;,)]|$| so | and ))",
    "others": r"(?:all|every|each of) (?:the )?(?:others?|rest)|the (?:others|rest|remaining)|(?:all|the) other|everything else",
    "present": r"(?<!used to )exists?(?! (?:no|nowhere|in no|any))|(?:is|are) (?:still |also |even |all |both |in fact )?(?:there|present|in place)|in place|among (?:its|the|them)|is where it"
    r"|still (?:defines|contains|lists|holds|carries|has it)|(?:does|do) (?:exist|define|contain)",
    "counted": r"(?:number|count) of \**\w+|object-?counts?|pods to \d+|\d+ (?:pods|services|objects)|how many",
    "ephemeral": r"ephemeral\S*|emptydir|disk space",
    "other_user": rf"{_GIVEN}(?:root|backup|back-up|monitor\w*|exporter|readonly|read-only|reader|guest|migrat\w*|metrics|reporting)(?= (?:user|account|login|role|does|is|was|has|had|of|in|on|lost|lacks)|\W*$)|(?:user|account|login)[: ]+[\"']?(?:root|backup|monitor\w*|exporter|readonly|reader|guest|migrat\w*|metrics|reporting)",
    "other_role": rf"{_GIVEN}(?:useradmin\w*|clusteradmin\w*|clustermonitor|dbadmin\w*|backup role|restore role)",
    "other_cause": OTHER_CAUSES,
    "off": r"(?:is|are|was|set to|stands at|reads|=|:) ?(?:off|false|disabled)",
    "granted": r"(?:still )?(?:has|have|holds?|keeps?|got) (?:its|the|all|both|his|their|every)(?: \w+){0,2} (?:roles?|grants?|rights|permissions|privileges|readwrite)|(?:is|are|was) (?:still )?(?:granted|among|intact|complete)",
    "one_replica": r"(?:is|are|at|has|have|stands at|set to|wants|desired) (?:1|one)(?: replicas?| pods?| copy)?(?= |$|,|;)",
    "reasonable": r"(?:is|are|was|were) (?:itself |all |perfectly |quite |still |in itself )?(?:fine|right|correct|good|ok|okay|reasonable|in order|sound|healthy|valid|unchanged|untouched|as it (?:should|ought to) be|large enough|high enough|appropriate)",
    "selects_none": r"(?:match|select|find|pick|hit|catch)(?:es|s|ing|ed)? (?:no(?:thing|body|ne| pods?| one| workload)|past|zero|not one)|points? past",
    "public_dns": r"(?:asks?|uses?|using|quer\w+|talks? to|configured with|pointed (?:to|at)|points? (?:to|at)|goes to|go to|sent to|sends|given) (?:\S+ ){0,4}?(?:google(?:'s)?(?: public)? dns|(?:public|external|outside|internet) (?:dns|resolver|name ?server)s?|8\.8\.8\.8)",
    "resolution": r"name resolution|resolution of names|name lookups?|dns (?:quer\w+|requests?|lookups?)",
    "limit_range": r"limit ?ranges?",
    "same_node": r"(?:same|own|caller's(?: own)?|client's(?: own)?|callers'(?: own)?|clients'(?: own)?|local|one's own|that very) (?:node|machine|host|worker)s?|node-?local|same-node|(?:local|node) only|local (?:pods?|endpoints?|backends?|traffic)"
    r"|shar(?:e|es|ing) (?:a|the|its|their) (?:node|machine|host)|co-?located|(?:node|machine|host) of (?:the )?(?:caller|client)s?|(?:its|their) own (?:node|machine|host)",
    "is_local": r"local",
    "own_selector": r"match ?labels|adopt\w*|(?:deployment|replica ?set|workload|statefulset)(?:'s)? (?:label )?selector|selector of (?:the |its )?(?:deployment|replica ?set)|own template",
    "host_network": r"host ?network\w*",
    "rbac": r"rbac|role ?-?bindings?|cluster ?roles?|bind\w* a role|permissions?|may not|not allowed to"
    r"|[a-z@_][\w@-]*-rbac-(?:role|binding|rolebinding)",
    "require": r"must specify|must declare|require\w*|declar\w+|specif\w+|forbid\w*|forbad\w*|reject\w*|refus\w+|block\w*|den(?:y|ies|ied)|exceed\w*|exhaust\w*|full|used up|prevent\w*|keeps?|limits?|stops?|disallow\w*|not allow\w*|allows? (?:no|only)|admission|demands?|fail\w*|cannot|can't|hits?|low|bars?|caps?|hinder\w*|rules out",
    "pending": r"pending|schedul\w+|unschedulable|placed|place|node\w*|pods?|noschedule|noexecute|carr\w+|added|put|has|have",
}

CONCEPTS: Mapping[str, str] = {**OBJECTS, **DEFECTS, **ACTS}
"""Every concept and its words."""

FIELDS = frozenset(OBJECTS) - {
    "service", "port", "database", "pods", "clients", "node", "label", "endpoints", "build", "limit", "cpu", "memory",
    "throttled", "oom", "probe", "config_key", "config", "address_key", "replicas", "binary", "volume", "selects", "disk",
    "data_files", "account", "variable", "named_key", "nxdomain", "cluster_dns", "toleration", "pull", "hosts_file", "not_authorized",
    "authentication", "address_in_use", "io_error", "corrupt", "webhook", "api_server", "topology_key",
    "table", "open_transaction", "probe_timing", "registry", "upstream", "proxy_sidecar", "headless", "empty_service",
}  # fmt: skip
"""Objects that a predicate belongs to where they stand nearer to it than another one."""

POINTED = FIELDS | {"bygone", "bygone_pods"}
"""What nobody says by the way, in an account of something else."""
