"""What the shop sells and what its users say, as far as requests and start-up scripts show it."""

from __future__ import annotations

from collections.abc import Mapping

PRODUCTS: tuple[tuple[str, str, int, int, str], ...] = (
    ("OLJCESPC7Z", "National Park Foundation Explorascope", 101, 960000000, "telescopes"),
    ("66VCHSJNUP", "Starsense Explorer Refractor Telescope", 349, 950000000, "telescopes"),
    ("1YMWWN1N4O", "Eclipsmart Travel Refractor Telescope", 129, 950000000, "telescopes,travel"),
    ("L9ECAV7KIM", "Lens Cleaning Kit", 21, 950000000, "accessories"),
    ("2ZYFJ3GM2N", "Roof Binoculars", 209, 950000000, "binoculars"),
    ("0PUK6V6EV0", "Solar System Color Imager", 175, 0, "accessories,telescopes"),
    ("LS4PSXUNUM", "Red Flashlight", 57, 80000000, "accessories,flashlights"),
    ("9SIQT8TOJO", "Optical Tube Assembly", 3599, 0, "accessories,telescopes,assembly"),
    ("6E92ZMYYFZ", "Solar Filter", 69, 950000000, "accessories,telescopes"),
    ("HQTGWGPNH4", "The Comet Book", 0, 990000000, "books"),
)
"""(id, name, whole dollars, billionths, categories)."""
IDS = tuple(product[0] for product in PRODUCTS)

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "catalog.products": (
        "id", "name", "description", "picture", "price_currency_code", "price_units", "price_nanos", "categories",
    ),
    "reviews.productreviews": ("id", "product_id", "username", "description", "score"),
}  # fmt: skip
"""Columns of the tables that users' requests read."""

RENAMED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "catalog.products": (
        ("picture", "image_path"),
        ("categories", "category_list"),
        ("description", "summary"),
    ),
    "reviews.productreviews": (("description", "review_text"), ("username", "author"), ("score", "rating")),
}
"""(column, what later builds call it): one more build for each."""

INIT_SQL = """\
CREATE USER {user} WITH PASSWORD '{password}';

-- What accounting keeps of every order.
CREATE SCHEMA accounting;
CREATE TABLE accounting."order" (
    order_id TEXT PRIMARY KEY
);
CREATE TABLE accounting.shipping (
    shipping_tracking_id TEXT PRIMARY KEY,
    shipping_cost_currency_code TEXT NOT NULL,
    shipping_cost_units BIGINT NOT NULL,
    shipping_cost_nanos INT NOT NULL,
    street_address TEXT,
    city TEXT,
    state TEXT,
    country TEXT,
    zip_code TEXT,
    order_id TEXT NOT NULL,
    FOREIGN KEY (order_id) REFERENCES accounting."order"(order_id) ON DELETE CASCADE
);
CREATE TABLE accounting.orderitem (
    item_cost_currency_code TEXT NOT NULL,
    item_cost_units BIGINT NOT NULL,
    item_cost_nanos INT NOT NULL,
    product_id TEXT NOT NULL,
    quantity INT NOT NULL,
    order_id TEXT NOT NULL,
    PRIMARY KEY (order_id, product_id),
    FOREIGN KEY (order_id) REFERENCES accounting."order"(order_id) ON DELETE CASCADE
);
GRANT USAGE ON SCHEMA accounting TO {user};
GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA accounting TO {user};

-- What customers say of the products.
CREATE SCHEMA reviews;
CREATE TABLE reviews.productreviews (
    id INT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    product_id VARCHAR(16) NOT NULL,
    username VARCHAR(64) NOT NULL,
    description VARCHAR(1024),
    score NUMERIC(2,1) NOT NULL
);
CREATE INDEX product_id_index ON reviews.productreviews (product_id);
GRANT USAGE ON SCHEMA reviews TO {user};
GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA reviews TO {user};

-- What the shop sells.
CREATE SCHEMA catalog;
CREATE TABLE catalog.products (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    description TEXT,
    picture TEXT,
    price_currency_code TEXT NOT NULL,
    price_units BIGINT NOT NULL,
    price_nanos INT NOT NULL,
    categories TEXT
);
GRANT USAGE ON SCHEMA catalog TO {user};
GRANT SELECT ON ALL TABLES IN SCHEMA catalog TO {user};

"""


def init_sql(user: str, password: str) -> str:
    """The script that PostgreSQL runs when its data directory is empty."""
    products = ",\n".join(
        f"    ('{id}', '{name}', '', '{name.replace(' ', '')}.jpg', 'USD', {units}, {nanos}, '{categories}')"
        for id, name, units, nanos, categories in PRODUCTS
    )
    said = (("stargazer_mike", "Works as described", "4.5"), ("nova_jane", "Very happy with it", "5.0"),
            ("orbit_sam", "Good value", "4.0"), ("luna_kim", "Arrived quickly", "4.5"),
            ("comet_alex", "Does what it should", "3.5"))  # fmt: skip
    reviews = ",\n".join(
        f"    ('{id}', '{who}', '{text}', {score})" for id in IDS for who, text, score in said
    )
    return (
        INIT_SQL.format(user=user, password=password)
        + "INSERT INTO catalog.products (id, name, description, picture, price_currency_code, price_units, price_nanos, categories)\n"
        + f"VALUES\n{products};\n\n"
        + f"INSERT INTO reviews.productreviews (product_id, username, description, score)\nVALUES\n{reviews};\n"
    )
