"""Feature flags of the shop that hurt its users; the file has more."""

from __future__ import annotations

from sregym_env.cluster.app import FeatureFlag

HARMFUL = (
    FeatureFlag("adFailure", "ad", effect="ad answers one request in ten with UNAVAILABLE"),
    FeatureFlag(
        "failedReadinessProbe", "cart", effect="cart says that it is not serving, and gets no requests"
    ),
    FeatureFlag(
        "paymentFailure",
        "payment",
        ("100%", "90%", "75%", "50%", "25%", "10%"),
        "payment refuses so many of the charges, and orders fail",
    ),
    FeatureFlag(
        "paymentUnreachable", "checkout", effect="checkout calls payment under an address that does not exist"
    ),
    FeatureFlag(
        "productCatalogFailure",
        "product-catalog",
        effect="product-catalog answers requests for one of its products with an error",
    ),
    FeatureFlag(
        "llmRateLimitError", "llm", effect="llm refuses half of the requests with a rate limit error"
    ),
)
"""Five that the benchmark switches on, and one that it does not."""

HARMLESS = (
    "newProductPage", "freeShippingBanner", "checkoutProgressBar", "holidayTheme", "compareTelescopes", "wishlist",
    "reviewHighlights", "stickyCart", "productVideos", "darkMode", "relatedGuides", "starMapWidget", "giftWrapping",
    "loyaltyPoints", "cookieBannerV2", "searchSuggestions",
)  # fmt: skip
"""Flags of teams' own, of which what the shop serves does not depend."""
