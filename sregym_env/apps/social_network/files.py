"""The configuration files that Social Network's ConfigMaps carry, and the load generator's scripts."""

from __future__ import annotations

import orjson

from sregym_env.apps.load import rounds
from sregym_env.apps.social_network.edition import (
    DATABASES,
    MEMCACHED,
    NAMESPACE,
    REDIS,
    SERVICES,
    Edition,
)


def service_config(edition: Edition) -> str:
    """Where everything is: one file for all C++ services."""
    document: dict[str, dict[str, object]] = {}
    stores = (
        *(f"{name}-mongodb" for name in DATABASES),
        *(f"{name}-redis" for name in REDIS),
        *(f"{name}-memcached" for name in MEMCACHED),
    )
    for name in (*SERVICES, *stores):
        entry: dict[str, object] = {
            "addr": edition.address(name),
            "port": edition.ports[name],
            "connections": edition.connections,
            "timeout_ms": 10000,
            "keepalive_ms": 10000,
        }
        if name.endswith("-memcached"):
            entry["binary_protocol"] = 1
        if name.endswith("-redis"):
            entry |= {"use_cluster": 0, "use_replica": 0}
        if name in ("unique-id-service", "user-service"):
            entry["netif"] = "eth0"
        document[name] = entry
    document["secret"] = {"secret": "secret"}
    document["ssl"] = {
        "enabled": False,
        "caPath": "/keys/CA.pem",
        "ciphers": "ALL:!ADH:!LOW:!EXP:!MD5:@STRENGTH",
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"


def jaeger_config(edition: Edition) -> str:
    """The tracer of the C++ services."""
    return f"""\
disabled: false
reporter:
  logSpans: false
  localAgentHostPort: "{edition.address("jaeger")}:6831"
  queueSize: 1000000
  bufferFlushInterval: 10
sampler:
  type: "probabilistic"
  param: {edition.sample_ratio}
"""


def jaeger_json(edition: Edition) -> str:
    """The tracer of the front ends."""
    document = {
        "service_name": "nginx-web-server",
        "disabled": False,
        "reporter": {"logSpans": False, "localAgentHostPort": f"{edition.address('jaeger')}:6831"},
        "sampler": {"type": "probabilistic", "param": float(edition.sample_ratio)},
    }
    return orjson.dumps(document, option=orjson.OPT_INDENT_2).decode() + "\n"


def mongod_config() -> str:
    """The databases' configuration."""
    return "net:\n  tls:\n    mode: disabled\n"


def redis_config(edition: Edition) -> str:
    """The stores' configuration."""
    return f"io-threads {edition.redis_threads}\nio-threads-do-reads yes\nport 6379\ntcp-backlog 511\ntcp-keepalive 300\n"


_LOCATION = """\
    location {path} {{
      if ($request_method = 'OPTIONS') {{
        add_header 'Access-Control-Allow-Origin' '*';
      }}
      content_by_lua '
          local client = require "{module}"
          client.{function}();
      ';
    }}
"""


def nginx_config() -> str:
    """The users' way in."""
    locations = "".join(
        _LOCATION.format(path=path, module=path.removeprefix("/"), function=function)
        for path, function in (
            ("/wrk2-api/user/register", "RegisterUser"),
            ("/wrk2-api/user/follow", "Follow"),
            ("/wrk2-api/post/compose", "ComposePost"),
            ("/wrk2-api/user-timeline/read", "ReadUserTimeline"),
            ("/wrk2-api/home-timeline/read", "ReadHomeTimeline"),
        )
    )
    return _NGINX.format(port=8080, log="off", locations=locations)


def media_config() -> str:
    """The pictures."""
    locations = "".join(
        _LOCATION.format(path=f"/{name}", module=name, function=function)
        for name, function in (("upload-media", "UploadMedia"), ("get-media", "GetMedia"))
    )
    return _NGINX.format(port=8080, log="off", locations=locations)


_NGINX = """\
load_module modules/ngx_http_opentracing_module.so;
pid /usr/local/openresty/nginx/logs/nginx.pid;
worker_processes auto;
events {{
  use epoll;
  worker_connections 1024;
}}
env fqdn_suffix;
http {{
  include mime.types;
  default_type application/octet-stream;
  opentracing on;
  opentracing_load_tracer /usr/local/lib/libjaegertracing_plugin.so /usr/local/openresty/nginx/jaeger-config.json;
  sendfile on;
  tcp_nopush on;
  tcp_nodelay on;
  keepalive_timeout 120s;
  keepalive_requests 100000;
  resolver kube-dns.kube-system.svc.cluster.local valid=10s ipv6=off;
  lua_package_path '/usr/local/openresty/nginx/lua-scripts/?.lua;/usr/local/openresty/luajit/share/lua/5.1/?.lua;;';
  server {{
    listen {port} reuseport;
    server_name localhost;
    access_log {log};
    error_log logs/error.log error;
    lua_need_request_body on;
    location / {{
      root pages;
    }}
{locations}  }}
}}
"""


def target(edition: Edition) -> str:
    """Where the load goes."""
    host = f"nginx-thrift.{NAMESPACE}.svc.cluster.local"
    return f"http://{host}:{edition.offer('nginx-thrift')}/wrk2-api/post/compose"


def workload(edition: Edition) -> str:
    """The script that the load generator runs."""
    return rounds(
        target(edition),
        "mixed-workload.lua",
        connections=3,
        seconds=edition.round_seconds,
        rate=edition.rate,
    )


def payload(edition: Edition) -> str:
    """The load generator's requests: their mix and how each is made."""
    home, user, post = edition.mix
    return (
        f"-- The mix of requests: {home * 100:g} % home timelines, {user * 100:g} % user timelines, {post * 100:g} % posts.\n"
        f"local home_ratio = {home:g}\nlocal user_ratio = {user:g}\n{_REQUESTS}"
    )


_REQUESTS = """
local max_user_index = 962
math.randomseed(os.time())

local function word(length)
  local letters = {}
  for i = 1, length do letters[i] = string.char(math.random(97, 122)) end
  return table.concat(letters)
end

local function timeline(kind)
  local start = math.random(0, 100)
  return wrk.format("GET", "/wrk2-api/" .. kind .. "/read?user_id=" .. math.random(0, max_user_index - 1)
    .. "&start=" .. start .. "&stop=" .. (start + 10))
end

local function compose()
  local user = math.random(0, max_user_index - 1)
  local text = word(256)
  for i = 1, math.random(1, 6) do text = text .. " @username_" .. math.random(0, max_user_index - 1) end
  for i = 1, math.random(1, 6) do text = text .. " http://" .. word(64) end
  return wrk.format("POST", "/wrk2-api/post/compose", { ["Content-Type"] = "application/x-www-form-urlencoded" },
    "username=username_" .. user .. "&user_id=" .. user .. "&text=" .. text
    .. "&media_ids=[]&media_types=[]&post_type=0")
end

request = function()
  local coin = math.random()
  if coin < home_ratio then
    return timeline("home-timeline")
  elseif coin < home_ratio + user_ratio then
    return timeline("user-timeline")
  end
  return compose()
end
"""
