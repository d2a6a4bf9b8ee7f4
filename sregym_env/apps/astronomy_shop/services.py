"""The demo's own programs: seventeen services in ten languages; the front end has a file of its own.

Who calls whom with which method is the call graph of the real application. CPU times are orders of magnitude of small
handlers in the languages that serve them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from sregym_env.apps.astronomy_shop.catalogue import COLUMNS
from sregym_env.apps.astronomy_shop.frontend import frontend
from sregym_env.sim.programs.defaults import MIB
from sregym_env.sim.programs.services.asides import Flagged, Remark
from sregym_env.sim.programs.services.peers import Account, At, Peer
from sregym_env.sim.programs.services.runtimes.dotnet import DotNet
from sregym_env.sim.programs.services.runtimes.jvm import Jvm
from sregym_env.sim.programs.services.runtimes.nginx import Nginx
from sregym_env.sim.programs.services.runtimes.node import Node
from sregym_env.sim.programs.services.runtimes.php import Php
from sregym_env.sim.programs.services.runtimes.python import Python
from sregym_env.sim.programs.services.runtimes.quiet import QuietCpp, QuietGo
from sregym_env.sim.programs.services.runtimes.ruby import Ruby
from sregym_env.sim.programs.services.runtimes.rust import Rust
from sregym_env.sim.programs.services.settings import Always, Route, ServiceSettings
from sregym_env.sim.programs.services.steps import (
    Ask,
    Compute,
    End,
    Handler,
    Lost,
    Open,
    Pass,
    Print,
    Reach,
    Refuse,
    Say,
    Start,
    Step,
)
from sregym_env.sim.programs.services.values import Option, Value, Variable
from sregym_env.sim.programs.services.wires import (
    ACTIX,
    FLASK,
    LACKED_BY_CPP,
    LACKED_BY_DOTNET,
    LACKED_BY_JAVA,
    LACKED_BY_NODE,
    LACKED_BY_PYTHON,
    NGINX,
    SINATRA,
    SLIM,
    WordedGrpc,
)

FLAGD = Peer("flagd", "openfeature", At(Variable("FLAGD_HOST"), Variable("FLAGD_PORT")))
"""Whom most services ask whether a feature is on."""


def _at(variable: str) -> At:
    return At(Variable(variable))


def _columns(table: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """That statements name all columns of a table."""
    return ((table, COLUMNS[table]),)


def _given(*variables: str) -> tuple[tuple[Peer, ...], tuple[str, ...]]:
    """Addresses that a service does not start without."""
    return tuple(Peer(name, "given", _at(name)) for name in variables), variables


def _insists(variables: tuple[str, ...], end: End) -> tuple[Start, ...]:
    return tuple(Reach(name, lost=end) for name in variables)


def _open(port: Value, end: End) -> Open:
    return Open(port, unset=end, taken=end)


def _nothing_wrong(given: Mapping[str, str]) -> str:
    return ""


def _route(path: str, method: str, answer: str) -> Route:
    """A path of an inner service, with what it answers."""
    return Route(path, _nothing_wrong, Always(answer), {method: f"{method} {path}"})


# --- Go ----------------------------------------------------------------------------------------------------


def checkout() -> ServiceSettings:
    """Takes orders: asks everybody in turn, in the order of ``PlaceOrder``."""
    given, names = _given(
        "SHIPPING_ADDR", "PRODUCT_CATALOG_ADDR", "CART_ADDR", "CURRENCY_ADDR", "EMAIL_ADDR", "PAYMENT_ADDR"
    )
    panic = End("panic", "185")
    fatal = End("fatal", "")

    def ask(peer: str, operation: str, answer: str) -> Ask:
        return Ask(peer, operation, lost=Lost(answer=answer))

    prepared = "failed to prepare order: "
    steps: tuple[Step, ...] = (
        Compute(0.0012),
        ask("cart", "/oteldemo.CartService/GetCart",
            "cart failure: failed to get user cart during checkout: {error}"),
        ask("product-catalog", "/oteldemo.ProductCatalogService/GetProduct",
            f'{prepared}failed to get product #"OLJCESPC7Z"'),
        ask("currency", "/oteldemo.CurrencyService/Convert",
            f'{prepared}failed to convert price of "OLJCESPC7Z" to USD'),
        ask("shipping", "POST /get-quote",
            "shipping quote failure: failed POST to shipping quote service: {error}"),
        ask("currency", "/oteldemo.CurrencyService/Convert",
            "failed to convert shipping cost to currency: {error}"),
        Flagged("flagd", "paymentUnreachable", (Refuse(
            "failed to charge card: could not charge the card: rpc error: code = Unavailable desc = name resolver error: "
            "produced zero addresses"),)),
        ask("payment", "/oteldemo.PaymentService/Charge",
            "failed to charge card: could not charge the card: {error}"),
        ask("shipping", "POST /ship-order",
            "shipping error: failed POST to shipping service: {error}"),
        # These two do not stop an order: what is not emptied is emptied another time, and mail is only mail.
        Ask("cart", "/oteldemo.CartService/EmptyCart", lost=Lost("ignore")),
        Ask("email", "POST /send_order_confirmation", lost=Lost("ignore")),
        Ask("kafka", "produce", "orders", Lost("ignore")),
        Flagged("flagd", "kafkaQueueProblems", (Ask("kafka", "produce", "orders", Lost("ignore")),), default=0.0, times=True),
    )  # fmt: skip
    return ServiceSettings(
        "checkout",
        QuietGo("/usr/src/app/main.go"),
        WordedGrpc("Internal"),
        11 * MIB,
        (
            *_insists(names, panic),
            _open(Variable("CHECKOUT_PORT"), fatal),
        ),
        (Handler("/oteldemo.CheckoutService/PlaceOrder", steps),),
        (
            *given,
            Peer("cart", "grpc-go-status", _at("CART_ADDR")),
            Peer("product-catalog", "grpc-go-status", _at("PRODUCT_CATALOG_ADDR")),
            Peer("currency", "grpc-go-status", _at("CURRENCY_ADDR")),
            Peer("shipping", "go-http", _at("SHIPPING_ADDR")),
            Peer("payment", "grpc-go-status", _at("PAYMENT_ADDR")),
            Peer("email", "go-http", _at("EMAIL_ADDR")),
            Peer("kafka", "sarama", _at("KAFKA_ADDR")),
            FLAGD,
        ),
        health=True,
    )


def product_catalog() -> ServiceSettings:
    """Knows the products, from its database."""

    def select(answer: str) -> Ask:
        return Ask("postgresql", "select", "catalog.products", Lost(answer=answer))

    end = End("fatal", "")
    return ServiceSettings(
        "product-catalog",
        QuietGo("/usr/src/app/main.go"),
        WordedGrpc("Internal"),
        11 * MIB,
        (
            Reach("postgresql", lost=End("fatal", "", "Failed to initialize database connection: {error}")),
            _open(Variable("PRODUCT_CATALOG_PORT"), end),
        ),
        (
            Handler(
                "/oteldemo.ProductCatalogService/ListProducts",
                (Compute(0.0006), select("failed to list products: {error}")),
            ),
            Handler(
                "/oteldemo.ProductCatalogService/GetProduct",
                (
                    Compute(0.0004),
                    # One product of ten fails: who asks for which is not told apart here.
                    Flagged(
                        "flagd",
                        "productCatalogFailure",
                        (Refuse("Internal: Error: Product Catalog Fail Feature Flag Enabled"),),
                        part=0.1,
                    ),
                    select("failed to get product: {error}"),
                ),
            ),
            Handler(
                "/oteldemo.ProductCatalogService/SearchProducts",
                (Compute(0.0006), select("failed to search products: {error}")),
            ),
        ),
        (
            Peer("postgresql", "lib-pq", _at("DB_CONNECTION_STRING"), columns=_columns("catalog.products")),
            FLAGD,
        ),
        health=True,
    )


# --- the Java virtual machine ------------------------------------------------------------------------------


def ad() -> ServiceSettings:
    """Advertisements, kept in memory."""
    end = End("panic", "start")
    failed = "GetAds Failed with status Status{code=UNAVAILABLE, description=null, cause=null}"
    return ServiceSettings(
        "ad",
        Jvm("oteldemo.AdService", "AdService.java"),
        WordedGrpc("Unknown", lacking=LACKED_BY_JAVA),
        175 * MIB,
        (
            Print("OpenTelemetry Javaagent 2.22.0 loaded"),
            Pass(2.5),
            Say("info", "", "Ad service starting."),
            _open(Variable("AD_PORT"), end),
            Say("info", "", "Ad service started, listening on %{env AD_PORT}"),
        ),
        (
            Handler(
                "/oteldemo.AdService/GetAds",
                (
                    Compute(0.0015),
                    Flagged("flagd", "adManualGc", (Compute(0.9),)),
                    Flagged(
                        "flagd", "adFailure", (Refuse("Unavailable: ", Say("warning", "", failed)),), part=0.1
                    ),
                    Remark("info", "", "Targeted ad request received for [telescopes]"),
                ),
            ),
        ),
        (FLAGD,),
        health=True,
        burns=((FLAGD, "adHighCpu", 3.0),),
    )


def fraud_detection() -> ServiceSettings:
    """Looks at every order that is published."""
    tried = Say(
        "warning",
        "org.apache.kafka.clients.NetworkClient",
        "[Consumer clientId=consumer-fraud-detection-1, groupId=fraud-detection] {error}",
    )
    return ServiceSettings(
        "fraud-detection",
        Jvm("frauddetection.MainKt", "main.kt"),
        WordedGrpc("Unknown", lacking=LACKED_BY_JAVA),
        180 * MIB,
        (
            Print("OpenTelemetry Javaagent 2.22.0 loaded"),
            *_insists(
                ("KAFKA_ADDR",),
                End("panic", "main", "java.lang.IllegalStateException: KAFKA_ADDR is not supplied"),
            ),
            Pass(3.0),
            Reach("kafka", every=5.0, log=(tried,)),
        ),
        (
            Handler(
                "consume orders",
                (
                    Compute(0.001),
                    Flagged(
                        "flagd",
                        "kafkaQueueProblems",
                        (
                            Remark(
                                "info",
                                "frauddetection.main",
                                "FeatureFlag 'kafkaQueueProblems' is enabled, sleeping 1 second",
                            ),
                            Compute(1.0),
                        ),
                        default=0.0,
                    ),
                    Remark(
                        "info",
                        "frauddetection.main",
                        "Consumed record with orderId: {trace_id}, and updated total count",
                    ),
                ),
            ),
        ),
        (
            Peer("KAFKA_ADDR", "given", _at("KAFKA_ADDR")),
            Peer("kafka", "kafka-clients", _at("KAFKA_ADDR"), database="fraud-detection/orders"),
            FLAGD,
        ),
    )


# --- .NET --------------------------------------------------------------------------------------------------


def accounting() -> ServiceSettings:
    """Books every order that is published."""
    tried = Say(
        "error", "", "%3|{time_s}|FAIL|rdkafka#consumer-1| [thrd:%{env KAFKA_ADDR}/bootstrap]: {error}"
    )
    booked = Lost("ignore", log=Say("error", "Accounting.Consumer", "Order parsing failed:\n      {error}"))
    return ServiceSettings(
        "accounting",
        DotNet(),
        WordedGrpc("Unknown", lacking=LACKED_BY_DOTNET),
        68 * MIB,
        (
            Say("info", "Accounting.Consumer", "Connecting to Kafka: %{env KAFKA_ADDR}"),
            Say("info", "Microsoft.Hosting.Lifetime", "Application started. Press Ctrl+C to shut down."),
            Reach("kafka", every=5.0, log=(tried,)),
        ),
        (
            Handler(
                "consume orders",
                (
                    Compute(0.001),
                    Remark(
                        "info",
                        "Accounting.Log",
                        'Order details: { "orderId": "{trace_id}", "shippingTrackingId": "{span_id}", "shippingCost": { "currencyCode": "USD", "units": "8", "nanos": 900000000 } }',
                    ),
                    Ask("postgresql", "insert", "accounting.order", booked),
                    Ask("postgresql", "insert", "accounting.shipping", Lost("ignore")),
                    Ask("postgresql", "insert", "accounting.orderitem", Lost("ignore")),
                ),
            ),
        ),
        (
            Peer("kafka", "confluent-kafka", _at("KAFKA_ADDR"), database="accounting/orders"),
            Peer("postgresql", "npgsql", _at("DB_CONNECTION_STRING")),
        ),
    )


def cart() -> ServiceSettings:
    """What users want to buy, in Valkey."""
    store = "cart.cartstore.ValkeyCartStore"
    raised = (
        "Error status code 'FailedPrecondition' with detail '\"Can't access cart storage. {error}\"' raised."
    )

    def ask(command: str) -> Ask:
        return Ask(
            "valkey-cart",
            command,
            "cart",
            Lost(log=Say("info", "Grpc.AspNetCore.Server.ServerCallHandler", raised)),
        )

    end = End("panic", "Program.<Main>$(String[] args) in /usr/src/app/src/Program.cs:line 74")
    lost = End(
        "panic",
        f"{store}.EnsureRedisConnected()",
        "System.ApplicationException: Wasn't able to connect to redis",
    )
    unset = End("fatal", "", "VALKEY_ADDR environment variable is required.")
    return ServiceSettings(
        "cart",
        DotNet(),
        WordedGrpc("FailedPrecondition", "Can't access cart storage. {error}", lacking=LACKED_BY_DOTNET),
        74 * MIB,
        (
            *_insists(("VALKEY_ADDR",), unset),
            Say("info", store, "Connecting to Redis: %{env VALKEY_ADDR},ssl=false,allowAdmin=true,abortConnect=false"),
            Reach("valkey-cart", patience=15.0, lost=lost),
            Say("info", store, "Successfully connected to Redis"),
            _open(Variable("CART_PORT"), end),
            Say("info", "Microsoft.Hosting.Lifetime", "Now listening on: http://[::]:%{env CART_PORT}"),
            Say("info", "Microsoft.Hosting.Lifetime", "Application started. Press Ctrl+C to shut down."),
        ),
        (
            Handler(
                "/oteldemo.CartService/GetCart",
                (Compute(0.0006), Remark("info", store, "GetCartAsync called with userId={trace_id}"), ask("HGET")),
            ),
            Handler(
                "/oteldemo.CartService/AddItem",
                (
                    Compute(0.0008),
                    Remark("info", store, "AddItemAsync called with userId={trace_id}, productId=L9ECAV7KIM, quantity=1"),
                    ask("HGET"),
                    ask("HMSET"),
                    ask("EXPIRE"),
                ),
            ),
            Handler(
                "/oteldemo.CartService/EmptyCart",
                (
                    Compute(0.0006),
                    Remark("info", store, "EmptyCartAsync called with userId={trace_id}"),
                    Flagged("flagd", "cartFailure", (
                        Refuse("FailedPrecondition: Can't access cart storage. System.ApplicationException: Wasn't able to connect to redis",
                               Say("error", store, "Wasn't able to connect to redis")),)),
                    ask("HMSET"),
                    ask("EXPIRE"),
                ),
            ),
        ),
        (
            Peer("VALKEY_ADDR", "given", _at("VALKEY_ADDR")),
            Peer("valkey-cart", "stackexchange-redis", _at("VALKEY_ADDR"),
                 account=Account((), (Option(Variable("VALKEY_ADDR"), "password"),))),
            FLAGD,
        ),
        health=True,
        ill=(FLAGD, "failedReadinessProbe"),
    )  # fmt: skip


# --- C++, Rust, PHP, Ruby ----------------------------------------------------------------------------------


def currency() -> ServiceSettings:
    """Rates, in memory."""
    return ServiceSettings(
        "currency",
        QuietCpp(),
        WordedGrpc("Unknown", lacking=LACKED_BY_CPP),
        7 * MIB,
        (
            _open(Variable("CURRENCY_PORT"), End("fatal", "")),
            Say("info", "", "Currency Server listening on port: 0.0.0.0:%{env CURRENCY_PORT}"),
        ),
        (
            Handler("/oteldemo.CurrencyService/Convert", (Compute(0.0001),)),
            Handler("/oteldemo.CurrencyService/GetSupportedCurrencies", (Compute(0.0001),)),
        ),
        health=True,
    )


def shipping() -> ServiceSettings:
    """What it costs to send something, and sending it."""
    port = Variable("SHIPPING_PORT")
    end = End("panic", "src/main.rs:66:10")
    return ServiceSettings(
        "shipping",
        Rust(),
        ACTIX,
        6 * MIB,
        (_open(port, end),),
        (
            Handler("POST /get-quote", (Compute(0.0002), Ask("quote", "POST /getquote"))),
            Handler("POST /ship-order", (Compute(0.0001),)),
        ),
        (Peer("quote", "reqwest", _at("QUOTE_ADDR")),),
        (
            _route("/get-quote", "POST", '{"cost_usd":{"currency_code":"USD","units":8,"nanos":900000000}}'),
            _route("/ship-order", "POST", '{"tracking_id":"5d9c1e42-1c86-4f5e-b6a2-1f1c2f1c9f10"}'),
        ),
    )


def quote() -> ServiceSettings:
    """The sum."""
    end = End("panic", "/var/www/public/index.php:68")
    return ServiceSettings(
        "quote",
        Php(),
        SLIM,
        21 * MIB,
        (_open(Variable("QUOTE_PORT"), end), Print("Listening on: http://0.0.0.0:%{env QUOTE_PORT}")),
        (Handler("POST /getquote", (Compute(0.0006),)),),
        routes=(_route("/getquote", "POST", "8.9"),),
    )


def email() -> ServiceSettings:
    """Says thank you."""
    end = End("panic", "email_server.rb:18")
    return ServiceSettings(
        "email",
        Ruby(),
        SINATRA,
        52 * MIB,
        (
            Print(
                'Puma starting in single mode...\n* Puma version: 7.1.0 ("Neon Witch")\n* Ruby version: ruby 3.4.7 +PRISM [x86_64-linux]'
            ),
            Pass(1.0),
            _open(Variable("EMAIL_PORT"), end),
            Print("* Listening on http://0.0.0.0:%{env EMAIL_PORT}\nUse Ctrl-C to stop"),
        ),
        (
            Handler(
                "POST /send_order_confirmation",
                (
                    Compute(0.002),
                    Remark("info", "", "Order confirmation email sent to: user@example.com"),
                    Remark(
                        "info",
                        "",
                        '10.244.0.1 - - [{time|%d/%b/%Y:%H:%M:%S} +0000] "POST /send_order_confirmation HTTP/1.1" 200 - 0.0042',
                    ),
                ),
            ),
        ),
        (FLAGD,),
        (_route("/send_order_confirmation", "POST", ""),),
    )


# --- Node.js -----------------------------------------------------------------------------------------------


def payment() -> ServiceSettings:
    """Charges cards."""
    end = End("panic", "Server.setupListenHandle [as _listen2] (node:net:1940:16)")
    refused = "Payment request failed. Invalid token. app.loyalty.level=gold"
    return ServiceSettings(
        "payment",
        Node(),
        WordedGrpc("Unknown", lacking=LACKED_BY_NODE),
        78 * MIB,
        (
            Pass(0.8),
            _open(Variable("PAYMENT_PORT"), end),
            Say("info", "", "payment gRPC server started on 0.0.0.0:%{env PAYMENT_PORT}"),
        ),
        (
            Handler(
                "/oteldemo.PaymentService/Charge",
                (
                    Compute(0.001),
                    Remark("info", "", "Charge request received."),
                    Flagged("flagd", "paymentFailure", (
                        Refuse(f"Unknown: {refused}", Say("warning", "", f"Error: {refused}")),), default=0.0),
                    Remark("info", "", "Transaction complete."),
                ),
            ),
        ),
        (FLAGD,),
        health=True,
    )  # fmt: skip


# --- Python ------------------------------------------------------------------------------------------------


def recommendation() -> ServiceSettings:
    """Other products."""
    here = "recommendation_server.py"
    given, names = _given("PRODUCT_CATALOG_ADDR")
    failed = Say("error", "_common.py:121", "Exception calling application: {error}")
    return ServiceSettings(
        "recommendation",
        Python("recommendation"),
        WordedGrpc("Unknown", "Exception calling application: {error}", lacking=LACKED_BY_PYTHON),
        58 * MIB,
        (
            Pass(1.2),
            *_insists(names, End("panic", f"{here}:160", "Exception: PRODUCT_CATALOG_ADDR environment variable must be set")),
            _open(Variable("RECOMMENDATION_PORT"), End("panic", f"{here}:178")),
            Say("info", f"{here}:181", "Recommendation service started, listening on port %{env RECOMMENDATION_PORT}"),
        ),
        (
            Handler(
                "/oteldemo.RecommendationService/ListRecommendations",
                (
                    Compute(0.0012),
                    Flagged("flagd", "recommendationCacheFailure", (
                        Remark("info", f"{here}:83", "get_product_list: cache miss"),), part=0.5),
                    Ask("product-catalog", "/oteldemo.ProductCatalogService/ListProducts", lost=Lost(log=failed)),
                    Remark("info", f"{here}:47", "Receive ListRecommendations for product ids:['L9ECAV7KIM']"),
                ),
            ),
        ),
        (*given, Peer("product-catalog", "grpc-python", _at("PRODUCT_CATALOG_ADDR")), FLAGD),
        health=True,
    )  # fmt: skip


def product_reviews() -> ServiceSettings:
    """What customers say, and an assistant that has read it."""
    here = "product_reviews_server.py"
    given, names = _given("DB_CONNECTION_STRING", "PRODUCT_CATALOG_ADDR")
    failed = Say("error", "_common.py:121", "Exception calling application: {error}")
    lost = Lost(log=failed)

    def select() -> Ask:
        return Ask("postgresql", "select", "reviews.productreviews", lost)

    return ServiceSettings(
        "product-reviews",
        Python("product-reviews"),
        WordedGrpc("Unknown", "Exception calling application: {error}", lacking=LACKED_BY_PYTHON),
        62 * MIB,
        (
            Pass(1.5),
            *_insists(names, End("panic", f"{here}:410", "Exception: environment variable must be set")),
            _open(Variable("PRODUCT_REVIEWS_PORT"), End("panic", f"{here}:430")),
            Say(
                "info",
                f"{here}:433",
                "Product reviews service started, listening on port %{env PRODUCT_REVIEWS_PORT}",
            ),
        ),
        (
            Handler(
                "/oteldemo.ProductReviewService/GetProductReviews",
                (
                    Compute(0.001),
                    Remark("info", f"{here}:96", "Receive GetProductReviews for product id:L9ECAV7KIM"),
                    select(),
                ),
            ),
            Handler(
                "/oteldemo.ProductReviewService/GetAverageProductReviewScore",
                (
                    Compute(0.001),
                    Remark(
                        "info",
                        f"{here}:112",
                        "Receive GetAverageProductReviewScore for product id:L9ECAV7KIM",
                    ),
                    select(),
                ),
            ),
            Handler(
                "/oteldemo.ProductReviewService/AskProductAIAssistant",
                (
                    Compute(0.002),
                    Remark("info", f"{here}:128", "Receive AskProductAIAssistant for product id:L9ECAV7KIM"),
                    Ask("llm", "POST /v1/chat/completions", lost=lost),
                    select(),
                    Ask("product-catalog", "/oteldemo.ProductCatalogService/GetProduct", lost=lost),
                    Ask("llm", "POST /v1/chat/completions", lost=lost),
                ),
            ),
        ),
        (
            *given,
            Peer(
                "postgresql",
                "psycopg2",
                _at("DB_CONNECTION_STRING"),
                columns=_columns("reviews.productreviews"),
            ),
            Peer("llm", "openai-python", _at("LLM_BASE_URL")),
            Peer("product-catalog", "grpc-python", _at("PRODUCT_CATALOG_ADDR")),
            FLAGD,
        ),
        health=True,
    )


def llm() -> ServiceSettings:
    """Something that answers as a language model does."""
    return ServiceSettings(
        "llm",
        Python("llm"),
        FLASK,
        46 * MIB,
        (
            Print(" * Serving Flask app 'app'\n * Debug mode: off"),
            Pass(0.8),
            _open("8000", End("panic", "app.py:190")),
            Print(" * Running on all addresses (0.0.0.0)\n * Running on http://127.0.0.1:8000"),
        ),
        (
            Handler(
                "POST /v1/chat/completions",
                (
                    Compute(0.004),
                    Flagged(
                        "flagd",
                        "llmRateLimitError",
                        (Refuse("Rate limit reached. Please try again later."),),
                        part=0.5,
                    ),
                ),
            ),
        ),
        (FLAGD,),
        (
            _route(
                "/v1/chat/completions",
                "POST",
                '{"id":"chatcmpl-1","object":"chat.completion","model":"astronomy-llm","choices":[{"index":0,"message":'
                '{"role":"assistant","content":"Customers are very happy with this product."},"finish_reason":"stop"}]}',
            ),
        ),
    )


# --- nginx -------------------------------------------------------------------------------------------------


def image_provider() -> ServiceSettings:
    """Pictures of the products."""
    end = End("panic", "")
    return ServiceSettings(
        "image-provider",
        Nginx(),
        NGINX,
        11 * MIB,
        (Reach("otel-collector-agent", lost=End("panic", "", "{error} in /etc/nginx/nginx.conf:18")), _open(Variable("IMAGE_PROVIDER_PORT"), end)),
        (Handler("GET /{*}", (Compute(0.0002),)),),
        (Peer("otel-collector-agent", "resolver", At(Variable("OTEL_COLLECTOR_HOST"), Variable("OTEL_COLLECTOR_PORT_GRPC"))),),
        (Route("/{*}", _nothing_wrong, Always("\ufffdPNG\n"), {"GET": "GET /{*}"}),),
    )  # fmt: skip


@cache
def services() -> Mapping[str, ServiceSettings]:
    """All services by the name of their component."""
    made = (
        ad(), cart(), currency(), quote(), shipping(), product_catalog(), recommendation(), llm(), product_reviews(),
        payment(), email(), checkout(), accounting(), fraud_detection(), image_provider(), frontend(),
    )  # fmt: skip
    return {each.name: each for each in made}
