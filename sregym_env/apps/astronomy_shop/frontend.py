"""The front end: Next.js, whose API routes ask the services behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import orjson

from sregym_env.apps.astronomy_shop.catalogue import PRODUCTS
from sregym_env.sim.programs.defaults import MIB
from sregym_env.sim.programs.services.peers import At, Peer
from sregym_env.sim.programs.services.runtimes.node import Node
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
    Say,
    Step,
)
from sregym_env.sim.programs.services.values import Variable
from sregym_env.sim.programs.services.wires import NEXT

_FRAME = "callErrorFromStatus (/app/node_modules/@grpc/grpc-js/build/src/call.js:32:19)"


def _rpc(peer: str, operation: str) -> Ask:
    """A call whose failure is printed with its trace; the user is told nothing of it."""
    return Ask(peer, f"/oteldemo.{operation}", lost=Lost(log=Say("error", _FRAME, "Error: {error}")))


_GET_PRODUCT = _rpc("product-catalog", "ProductCatalogService/GetProduct")
_SHIPPING = Ask(
    "shipping",
    "POST /get-quote",
    lost=Lost(log=Say("error", "node:internal/deps/undici/undici:14900:13", "TypeError: {error}")),
)

OPERATIONS: Mapping[str, tuple[Step, ...]] = {
    "GET /": (Compute(0.006),),
    "GET /product/{productId}": (Compute(0.006),),
    "GET /cart": (Compute(0.006),),
    "GET /api/products": (Compute(0.001), _rpc("product-catalog", "ProductCatalogService/ListProducts")),
    "GET /api/products/{productId}": (Compute(0.001), _GET_PRODUCT),
    "GET /api/recommendations": (
        Compute(0.0015),
        _rpc("recommendation", "RecommendationService/ListRecommendations"),
        _GET_PRODUCT,
    ),
    "GET /api/product-reviews/{productId}": (
        Compute(0.001),
        _rpc("product-reviews", "ProductReviewService/GetProductReviews"),
    ),
    "GET /api/product-reviews-avg-score/{productId}": (
        Compute(0.001),
        _rpc("product-reviews", "ProductReviewService/GetAverageProductReviewScore"),
    ),
    "POST /api/product-ask-ai-assistant/{productId}": (
        Compute(0.001),
        _rpc("product-reviews", "ProductReviewService/AskProductAIAssistant"),
    ),
    "GET /api/data": (Compute(0.001), _rpc("ad", "AdService/GetAds")),
    "GET /api/data/": (Compute(0.001), _rpc("ad", "AdService/GetAds")),
    "GET /api/currency": (Compute(0.0008), _rpc("currency", "CurrencyService/GetSupportedCurrencies")),
    "GET /api/shipping": (Compute(0.001), _SHIPPING),
    "GET /api/cart": (Compute(0.001), _rpc("cart", "CartService/GetCart")),
    "POST /api/cart": (
        Compute(0.001),
        _rpc("cart", "CartService/AddItem"),
        _rpc("cart", "CartService/GetCart"),
    ),
    "DELETE /api/cart": (Compute(0.001), _rpc("cart", "CartService/EmptyCart")),
    "POST /api/checkout": (Compute(0.0015), _rpc("checkout", "CheckoutService/PlaceOrder"), _GET_PRODUCT),
}
"""What every route asks, by operation."""

_METHODS = {
    "ad": "AD_ADDR",
    "cart": "CART_ADDR",
    "checkout": "CHECKOUT_ADDR",
    "currency": "CURRENCY_ADDR",
    "product-catalog": "PRODUCT_CATALOG_ADDR",
    "product-reviews": "PRODUCT_REVIEWS_ADDR",
    "recommendation": "RECOMMENDATION_ADDR",
}
"""Where each service is, by the variable that says so."""


def frontend() -> ServiceSettings:
    """The users' pages and their API."""
    end = End("panic", "Server.setupListenHandle [as _listen2] (node:net:1940:16)")
    return ServiceSettings(
        "frontend",
        Node(),
        NEXT,
        118 * MIB,
        (
            Print(
                "   ▲ Next.js 16.0.10\n   - Local:        http://localhost:%{env PORT 3000}\n   - Network:      http://0.0.0.0:%{env PORT 3000}"
            ),
            Print("\n ✓ Starting..."),
            Pass(0.6),
            Open(Variable("PORT", "3000"), unset=end, taken=end),
            Print(" ✓ Ready in 612ms"),
        ),
        tuple(Handler(operation, steps) for operation, steps in OPERATIONS.items()),
        (
            *(Peer(name, "grpc-js", At(Variable(variable))) for name, variable in _METHODS.items()),
            Peer("shipping", "fetch", At(Variable("SHIPPING_ADDR"))),
        ),
        _routes(),
    )


def _routes() -> tuple[Route, ...]:
    paths: dict[str, dict[str, str]] = {}
    for operation in OPERATIONS:
        method, _, path = operation.partition(" ")
        paths.setdefault(path, {})[method] = operation
    return tuple(Route(path, _check, _ANSWERS.get(path, _page), methods) for path, methods in paths.items())


def _check(given: Mapping[str, str]) -> str:
    return ""


def _page(given: Mapping[str, str]) -> str:
    return '<!DOCTYPE html><html lang="en"><head><title>OTel demo</title></head><body><div id="__next"></div></body></html>'


def _json(document: object) -> str:
    return orjson.dumps(document).decode()


def _product(index: int) -> dict[str, object]:
    id, name, units, nanos, categories = PRODUCTS[index]
    return {
        "id": id,
        "name": name,
        "priceUsd": {"currencyCode": "USD", "units": units, "nanos": nanos},
        "categories": categories.split(","),
    }


def _cart(given: Mapping[str, str]) -> str:
    return _json({"userId": given.get("sessionId", ""), "items": []})


_ANSWERS: Mapping[str, Callable[[Mapping[str, str]], str]] = {
    "/api/products": Always(_json([_product(index) for index in range(len(PRODUCTS))])),
    "/api/products/{productId}": Always(_json(_product(3))),
    "/api/recommendations": Always(_json([_product(index) for index in (1, 4, 6, 8)])),
    "/api/product-reviews/{productId}": Always(_json([{"username": "stargazer_mike", "description": "Works as described", "score": "4.5"}])),
    "/api/product-reviews-avg-score/{productId}": Always(_json("4.3")),
    "/api/product-ask-ai-assistant/{productId}": Always(_json("Customers are very happy with this product.")),
    "/api/data": Always(_json([{"redirectUrl": "/product/2ZYFJ3GM2N", "text": "Roof Binoculars for sale. 50% off."}])),
    "/api/data/": Always(_json([{"redirectUrl": "/product/2ZYFJ3GM2N", "text": "Roof Binoculars for sale. 50% off."}])),
    "/api/currency": Always(_json(["EUR", "USD", "JPY", "GBP", "CHF"])),
    "/api/shipping": Always(_json({"currencyCode": "USD", "units": 8, "nanos": 900000000})),
    "/api/cart": _cart,
    "/api/checkout": Always(_json({"orderId": "2c0a4d6e-8f1d-11f0-9b53-6a3a5f0e9f11", "shippingTrackingId": "5d9c1e42"})),
}  # fmt: skip
"""What a route answers, as far as somebody looks at it by hand."""
