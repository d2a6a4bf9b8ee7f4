"""What Social Network's services write into traces."""

from __future__ import annotations

from sregym_env.apps.social_network.edition import Edition
from sregym_env.cluster.tracing import Tracing

_SERVERS = {
    ("nginx-thrift", "GET /wrk2-api/home-timeline/read"): "read_home_timeline_client",
    ("nginx-thrift", "GET /wrk2-api/user-timeline/read"): "ReadUserTimeline",
    ("nginx-thrift", "POST /wrk2-api/post/compose"): "compose_post_client",
    ("compose-post-service", "ComposePost"): "compose_post_server",
    ("text-service", "ComposeText"): "compose_text_server",
    ("url-shorten-service", "ComposeUrls"): "compose_urls_server",
    ("user-mention-service", "ComposeUserMentions"): "compose_user_mentions_server",
    ("unique-id-service", "ComposeUniqueId"): "compose_unique_id_server",
    ("media-service", "ComposeMedia"): "compose_media_server",
    ("user-service", "ComposeCreatorWithUserId"): "compose_creator_server",
    ("user-service", "GetUserId"): "get_user_id_server",
    ("user-service", "RegisterUserWithId"): "register_user_withid_server",
    ("post-storage-service", "StorePost"): "store_post_server",
    ("post-storage-service", "ReadPosts"): "post_storage_read_posts_server",
    ("home-timeline-service", "ReadHomeTimeline"): "read_home_timeline_server",
    ("home-timeline-service", "WriteHomeTimeline"): "write_home_timeline_server",
    ("user-timeline-service", "ReadUserTimeline"): "read_user_timeline_server",
    ("user-timeline-service", "WriteUserTimeline"): "write_user_timeline_server",
    ("social-graph-service", "GetFollowers"): "get_followers_server",
    ("social-graph-service", "InsertUser"): "insert_user_server",
}
"""Spans of what is served, by service and method."""

_CLIENTS = {
    ("compose-post-service", "text-service ComposeText"): "compose_text_client",
    ("compose-post-service", "user-service ComposeCreatorWithUserId"): "compose_creator_client",
    ("compose-post-service", "media-service ComposeMedia"): "compose_media_client",
    ("compose-post-service", "unique-id-service ComposeUniqueId"): "compose_unique_id_client",
    ("compose-post-service", "post-storage-service StorePost"): "store_post_client",
    ("compose-post-service", "user-timeline-service WriteUserTimeline"): "write_user_timeline_client",
    ("compose-post-service", "home-timeline-service WriteHomeTimeline"): "write_home_timeline_client",
    ("text-service", "url-shorten-service ComposeUrls"): "compose_urls_client",
    ("text-service", "user-mention-service ComposeUserMentions"): "compose_user_mentions_client",
    ("url-shorten-service", "url-shorten-mongodb insert"): "url_mongo_insert_client",
    ("user-mention-service", "user-memcached get_multi"): "compose_user_mentions_memcached_get_client",
    ("user-mention-service", "user-mongodb find"): "compose_user_mentions_mongo_find_client",
    ("user-service", "user-memcached get_multi"): "user_mmc_get_user_id_client",
    ("user-service", "user-mongodb find"): "user_mongo_find_client",
    ("user-service", "user-mongodb insert"): "user_mongo_insert_client",
    ("post-storage-service", "post-storage-mongodb insert"): "post_storage_mongo_insert_client",
    ("post-storage-service", "post-storage-mongodb find"): "post_storage_mongo_find_client",
    ("post-storage-service", "post-storage-memcached get_multi"): "post_storage_mmc_mget_client",
    ("home-timeline-service", "home-timeline-redis ZREVRANGE"): "read_home_timeline_redis_find_client",
    ("home-timeline-service", "home-timeline-redis ZADD"): "write_home_timeline_redis_update_client",
    ("home-timeline-service", "social-graph-service GetFollowers"): "get_followers_client",
    ("home-timeline-service", "post-storage-service ReadPosts"): "post_storage_read_posts_client",
    ("user-timeline-service", "user-timeline-redis ZREVRANGE"): "read_user_timeline_redis_find_client",
    ("user-timeline-service", "user-timeline-redis ZADD"): "write_user_timeline_redis_update_client",
    ("user-timeline-service", "user-timeline-mongodb find"): "user_timeline_mongo_find_client",
    ("user-timeline-service", "user-timeline-mongodb update"): "write_user_timeline_mongo_insert_client",
    ("user-timeline-service", "post-storage-service ReadPosts"): "post_storage_read_posts_client",
    ("social-graph-service", "social-graph-redis ZRANGE"): "social_graph_redis_get_client",
    ("social-graph-service", "social-graph-mongodb find"): "social_graph_mongo_find_client",
    ("social-graph-service", "social-graph-mongodb insert"): "social_graph_mongo_insert_client",
}
"""Spans of what is asked, by service, peer and method or command."""


def tracing(edition: Edition) -> Tracing:
    """Names as the C++ services and nginx's Lua give them; the sampler takes one request in a hundred."""
    return Tracing(
        services={"nginx-thrift": "nginx-web-server"},
        servers=_SERVERS,
        clients=_CLIENTS,
        unseen=frozenset(("media-frontend",)),
        http="nginx",
        sampled=0.01,
    )
