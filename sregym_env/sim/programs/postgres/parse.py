"""SQL as applications and operators write it, by recursive descent; errors as PostgreSQL reports them.

A library would read more of SQL, and not what is needed here: roles, grants, locks and settings, and reports that name the
word at which a statement stops making sense.
"""

from __future__ import annotations

from decimal import Decimal
from functools import lru_cache
from typing import Any, Literal

from sregym_env.runtime.numbers import whole
from sregym_env.sim.programs.postgres import tree
from sregym_env.sim.programs.postgres.errors import Refused, refuse
from sregym_env.sim.programs.postgres.tokens import Token, scan
from sregym_env.sim.programs.postgres.tree import (
    AlterDatabase,
    AlterRole,
    AlterTable,
    Among,
    Apply,
    Case,
    Cast,
    ColumnDef,
    ColumnRef,
    Create,
    CreateIndex,
    CreateTable,
    Delete,
    Drop,
    Explain,
    Expression,
    From,
    Grant,
    Insert,
    Join,
    KeyDef,
    Literal_,
    Lock,
    Maintain,
    Name,
    Operate,
    Order,
    Scalar,
    Select,
    SetParameter,
    Show,
    Source,
    Statement,
    Transaction,
    Update,
)

MAX_DEPTH = 60
"""Levels of parentheses and queries inside each other."""

_RESERVED = frozenset(
    "all and any as asc both case cast check collate column constraint create cross current_date current_timestamp "
    "current_user default desc distinct do else end except false fetch for foreign from full grant group having in inner "
    "intersect into is join lateral leading left like ilike limit not null offset on only or order outer primary references "
    "returning right select session_user some table then to true union unique user using values when where window with natural".split()
)
"""Words that name nothing unless they are quoted."""

_COMPARISONS = ("=", "<", ">", "<=", ">=", "<>", "!=")
_OTHERS = ("||", "->", "->>", "~", "!~", "~*", "!~*", "@>", "%%")
_MODES = (
    "access share", "row share", "row exclusive", "share update exclusive", "share", "share row exclusive",
    "exclusive", "access exclusive",
)  # fmt: skip


@lru_cache(maxsize=512)
def parsed(sql: str) -> Statement:
    """One statement. Raises Refused."""
    return _Parser(sql).statement()


class _Parser:
    def __init__(self, sql: str) -> None:
        self.sql = sql
        self.words = scan(sql)
        self.at = 0
        self.depth = 0

    # --- words ----------------------------------------------------------------------------------------

    @property
    def next(self) -> Token:
        return self.words[self.at]

    def wrong(self, token: Token | None = None) -> Refused:
        """The report of a word that does not fit."""
        token = token or self.next
        if token.kind == "end":
            return refuse("42601", "syntax error at end of input", position=token.position)
        shown = self.sql[token.position : token.end]
        return refuse("42601", f'syntax error at or near "{shown}"', position=token.position)

    def is_word(self, *texts: str) -> bool:
        """Whether these words come next."""
        for offset, text in enumerate(texts):
            token = self.words[min(self.at + offset, len(self.words) - 1)]
            if token.kind != "word" or token.text != text:
                return False
        return True

    def take(self, *texts: str) -> bool:
        """Go past these words, if they come next."""
        if not self.is_word(*texts):
            return False
        self.at += len(texts)
        return True

    def need(self, *texts: str) -> None:
        for text in texts:
            if not self.take(text):
                raise self.wrong()

    def symbol(self, *texts: str) -> str:
        """Go past one of these symbols; empty where none comes next."""
        token = self.next
        if token.kind == "symbol" and token.text in texts:
            self.at += 1
            return token.text
        return ""

    def need_symbol(self, text: str) -> None:
        if not self.symbol(text):
            raise self.wrong()

    def name(self, *, any_word: bool = False) -> str:
        """A name, quoted or not."""
        token = self.next
        if token.kind == "name" or (token.kind == "word" and (any_word or token.text not in _RESERVED)):
            self.at += 1
            return token.text
        raise self.wrong()

    def text(self) -> str:
        """A text between quotes."""
        token = self.next
        if token.kind != "text":
            raise self.wrong()
        self.at += 1
        return token.text

    def names(self) -> tuple[str, ...]:
        found = [self.name()]
        while self.symbol(","):
            found.append(self.name())
        return tuple(found)

    def table(self) -> Name:
        position = self.next.position
        first = self.name()
        if self.symbol("."):
            second = self.name(any_word=True)
            if self.symbol("."):
                return Name(self.name(any_word=True), second, position)
            return Name(second, first, position)
        return Name(first, "", position)

    def tables(self) -> tuple[Name, ...]:
        found = [self.table()]
        while self.symbol(","):
            found.append(self.table())
        return tuple(found)

    # --- statements -------------------------------------------------------------------------------------

    def statement(self) -> Statement:
        found = self._statement()
        self.symbol(";")
        if self.next.kind != "end":
            raise self.wrong()
        return found

    def _statement(self) -> Statement:
        token = self.next
        if token.kind == "symbol" and token.text == "(":
            return self.select()
        if token.kind != "word":
            raise self.wrong()
        match token.text:
            case "select" | "values" | "with" | "table":
                return self.select()
            case "insert":
                return self._insert()
            case "update":
                return self._update()
            case "delete":
                return self._delete()
            case "truncate":
                return self._truncate()
            case "create":
                return self._create()
            case "drop":
                return self._drop()
            case "alter":
                return self._alter()
            case "grant" | "revoke":
                return self._grant()
            case "lock":
                return self._lock()
            case "begin" | "start" | "commit" | "end" | "rollback" | "abort" | "savepoint" | "release":
                return self._transaction()
            case "set" | "reset":
                return self._set()
            case "show":
                self.at += 1
                return Show(self._parameter())
            case "explain":
                return self._explain()
            case (
                "vacuum"
                | "analyze"
                | "checkpoint"
                | "comment"
                | "reindex"
                | "discard"
                | "cluster"
                | "refresh"
            ):
                return self._maintain()
        raise self.wrong()

    def _rest(self) -> None:
        """Go to the end of a statement of which nobody needs more."""
        while self.next.kind != "end" and not (self.next.kind == "symbol" and self.next.text == ";"):
            self.at += 1

    def _maintain(self) -> Statement:
        word = self.next.text
        self.at += 1
        if word in ("vacuum", "analyze"):
            self.take("full")
            self.take("verbose")
            self.take("analyze")
            table = None if self.next.kind == "end" or self.next.text in (";", "(") else self.table()
            self._rest()
            return Maintain(word.upper(), table)
        self._rest()
        return Maintain({"discard": "DISCARD ALL"}.get(word, word.upper()))

    def _explain(self) -> Statement:
        self.at += 1
        analyze = False
        if self.symbol("("):
            while not self.symbol(")"):
                if self.next.kind == "end":
                    raise self.wrong()
                analyze = analyze or self.is_word("analyze")
                self.at += 1
        while self.is_word("analyze") or self.is_word("verbose"):
            analyze = analyze or self.is_word("analyze")
            self.at += 1
        return Explain(self._statement(), analyze)

    def _transaction(self) -> Statement:
        word = self.next.text
        self.at += 1
        self._rest()
        match word:
            case "begin" | "start":
                return Transaction("begin")
            case "commit" | "end":
                return Transaction("commit")
            case "savepoint" | "release":
                return Transaction("savepoint")
        return Transaction("rollback")

    def _parameter(self) -> str:
        if self.take("all"):
            return "all"
        if self.take("time", "zone"):
            return "timezone"
        if self.take("transaction", "isolation", "level"):
            return "transaction_isolation"
        name = self.name(any_word=True)
        while self.symbol("."):
            name += "." + self.name(any_word=True)
        return name

    def _set(self, system: bool = False) -> Statement:
        if self.take("reset"):
            return SetParameter(self._parameter(), None, system)
        self.need("set")
        if not system and (self.take("session", "authorization") or self.take("role")):
            self._rest()
            return SetParameter("role", "none")
        if not self.take("local"):
            self.take("session")
        if self.is_word("transaction") or self.is_word("characteristics"):
            self._rest()
            return SetParameter("transaction_isolation", None)
        zone = self.is_word("time", "zone")
        name = self._parameter()
        if not zone and not self.symbol("=") and not self.take("to"):
            raise self.wrong()
        return SetParameter(name, self._setting(), system)

    def _setting(self) -> str | None:
        if self.take("default"):
            return None
        parts = [self._scalar()]
        while self.symbol(","):
            parts.append(self._scalar())
        return ", ".join(parts)

    def _scalar(self) -> str:
        sign = "-" if self.symbol("-") else ""
        token = self.next
        if token.kind not in ("word", "name", "text", "number"):
            raise self.wrong()
        self.at += 1
        return sign + token.text

    def _integer(self) -> int:
        """A whole number, perhaps negative."""
        token = self.next
        text = self._scalar()
        if not text.lstrip("-").isdecimal() or len(text) > 10:
            raise self.wrong(token)
        return int(text)

    def _lock(self) -> Statement:
        self.at += 1
        self.take("table")
        self.take("only")
        tables = self.tables()
        mode = "access exclusive"
        if self.take("in"):
            start = self.next
            found = []
            while self.next.kind == "word" and self.next.text != "mode":
                found.append(self.next.text)
                self.at += 1
            mode = " ".join(found)
            if mode not in _MODES:
                raise self.wrong(start)
            self.need("mode")
        return Lock(tables, "".join(part.title() for part in mode.split()) + "Lock", self.take("nowait"))

    def _grant(self) -> Statement:
        revoke = self.next.text == "revoke"
        self.at += 1
        if self.take("grant", "option", "for"):
            pass
        privileges = [self._privilege()]
        while self.symbol(","):
            privileges.append(self._privilege())
        towards = "from" if revoke else "to"
        if self.take(towards):
            return Grant(revoke, tuple(privileges), "role", (), self._grantees())
        self.need("on")
        kind, objects = self._granted()
        self.need(towards)
        return Grant(revoke, tuple(each.upper() for each in privileges), kind, objects, self._grantees())

    def _privilege(self) -> str:
        word = self.name(any_word=True)
        if word == "all":
            self.take("privileges")
        if self.symbol("("):
            while not self.symbol(")"):
                if self.next.kind == "end":
                    raise self.wrong()
                self.at += 1
        return word

    def _granted(self) -> tuple[Any, tuple[Name, ...]]:
        for words, kind in (
            (("all", "tables", "in", "schema"), "all tables"),
            (("all", "sequences", "in", "schema"), "all sequences"),
            (("all", "functions", "in", "schema"), "all sequences"),
            (("schema",), "schema"),
            (("database",), "database"),
            (("sequence",), "sequence"),
            (("table",), "table"),
        ):
            if self.take(*words):
                return kind, self.tables()
        return "table", self.tables()

    def _grantees(self) -> tuple[str, ...]:
        found = []
        while True:
            self.take("group")
            found.append(self._role())
            if not self.symbol(","):
                break
        for words in (("with", "grant", "option"), ("with", "admin", "option"), ("cascade",), ("restrict",)):
            self.take(*words)
        return tuple(found)

    def _role(self) -> str:
        return self.name(any_word=self.is_word("current_user") or self.is_word("public"))

    # --- definitions --------------------------------------------------------------------------------------

    def _missing(self) -> bool:
        return self.take("if", "not", "exists")

    def _create(self) -> Statement:
        self.at += 1
        if self.take("or", "replace"):
            pass
        for word, kind, tag in (
            ("user", "role", "CREATE ROLE"), ("role", "role", "CREATE ROLE"), ("group", "role", "CREATE ROLE"),
            ("database", "database", "CREATE DATABASE"), ("schema", "schema", "CREATE SCHEMA"),
            ("extension", "extension", "CREATE EXTENSION"),
        ):  # fmt: skip
            if not self.take(word):
                continue
            if kind == "role":
                name = self.name()
                options = (("login", word == "user"), *self._role_options())
                return Create("role", name, False, options, tag)
            missing = self._missing()
            if kind == "schema" and self.take("authorization"):
                name = self.name()
                return Create("schema", name, missing, (("owner", name),), tag)
            name = self.name()
            return Create(kind, name, missing, self._database_options(), tag)  # type: ignore[arg-type]
        if self.is_word("unique") or self.is_word("index"):
            return self._index()
        for word in ("temp", "temporary", "unlogged"):
            self.take(word)
        self.need("table")
        return self._create_table()

    def _role_options(self) -> tuple[tuple[str, Any], ...]:
        found: list[tuple[str, Any]] = []
        self.take("with")
        while self.next.kind == "word":
            token = self.next
            word = token.text
            self.at += 1
            bare = word.removeprefix("no")
            if word in ("encrypted", "unencrypted"):
                continue
            if word == "password":
                found.append(("password", None if self.take("null") else self.text()))
            elif bare in (
                "login",
                "superuser",
                "createdb",
                "createrole",
                "inherit",
                "replication",
                "bypassrls",
            ):
                found.append((bare, bare == word))
            elif word == "connection" and self.take("limit"):
                found.append(("limit", self._integer()))
            elif word == "valid" and self.take("until"):
                found.append(("until", self.text()))
            elif word in ("in", "role", "admin", "user"):
                self.take("role")
                self.take("group")
                found.append(("member", self.names()) if word == "in" else ("members", self.names()))
            else:
                raise refuse("42601", f'unrecognized role option "{word}"', position=token.position)
        return tuple(found)

    def _database_options(self) -> tuple[tuple[str, Any], ...]:
        found: list[tuple[str, Any]] = []
        self.take("with")
        while self.next.kind == "word":
            word = self.next.text
            self.at += 1
            if word == "connection":
                self.need("limit")
                word = "limit"
            if word == "cascade":
                continue
            self.symbol("=")
            found.append((word, self._scalar()))
        return tuple(found)

    def _index(self) -> Statement:
        unique = self.take("unique")
        self.need("index")
        self.take("concurrently")
        missing = self._missing()
        name = "" if self.is_word("on") else self.name()
        self.need("on")
        table = self.table()
        if self.take("using"):
            self.name()
        self.need_symbol("(")
        columns = [self.name()]
        while True:
            if not self.take("asc"):
                self.take("desc")
            if not self.symbol(","):
                break
            columns.append(self.name())
        self.need_symbol(")")
        self._rest()
        made = name or f"{table.name}_{'_'.join(columns)}_idx"
        return CreateIndex(made, table, tuple(columns), unique, missing)

    def _create_table(self) -> Statement:
        missing = self._missing()
        table = self.table()
        self.need_symbol("(")
        columns: list[ColumnDef] = []
        keys: list[KeyDef] = []
        while not self.symbol(")"):
            name = self.name() if self.take("constraint") else ""
            if (
                name
                or self.is_word("primary", "key")
                or self.is_word("foreign")
                or self.is_word("check")
                or (self.is_word("unique") and self.words[self.at + 1].text == "(")
            ):
                keys.append(self._key(name))
            else:
                columns.append(self._column(keys))
            if not self.symbol(","):
                self.need_symbol(")")
                break
        self._rest()
        return CreateTable(table, tuple(columns), tuple(keys), missing)

    def _columns(self) -> tuple[str, ...]:
        self.need_symbol("(")
        found = self.names()
        self.need_symbol(")")
        return found

    def _key(self, name: str) -> KeyDef:
        if self.take("primary", "key"):
            return KeyDef("primary", self._columns(), name=name)
        if self.take("unique"):
            return KeyDef("unique", self._columns(), name=name)
        if self.take("check"):
            self._parenthesis()
            return KeyDef("check", name=name)
        self.need("foreign", "key")
        columns = self._columns()
        return self._references(columns, name)

    def _skipped(self) -> None:
        """Go past parentheses, if there are any, whatever stands in them."""
        if self.symbol("("):
            while not self.symbol(")"):
                if self.next.kind == "end":
                    raise self.wrong()
                self.at += 1

    def _parenthesis(self) -> None:
        """Go past what stands in parentheses."""
        self.need_symbol("(")
        self.expression()
        self.need_symbol(")")

    def _references(self, columns: tuple[str, ...], name: str) -> KeyDef:
        self.need("references")
        table = self.table()
        foreign = self._columns() if self.next.text == "(" and self.next.kind == "symbol" else ()
        cascade = False
        while self.take("on"):
            deleted = self.take("delete")
            if not deleted:
                self.need("update")
            if self.take("cascade"):
                cascade = cascade or deleted
            elif not (self.take("set", "null") or self.take("restrict") or self.take("no", "action")):
                self.need("set", "default")
        return KeyDef("foreign", columns, table, foreign, cascade, name)

    def type_name(self) -> str:
        """The name of a type, in PostgreSQL's own words."""
        word = self.name(any_word=True)
        if word == "double":
            self.need("precision")
            word = "double precision"
        if word == "character" and self.take("varying"):
            word = "varchar"
        inside = ""
        if self.symbol("("):
            parts = [self._scalar()]
            while self.symbol(","):
                parts.append(self._scalar())
            self.need_symbol(")")
            inside = f"({','.join(parts)})"
        if word in ("timestamp", "time"):
            if self.take("with", "time", "zone"):
                word += "tz"
            else:
                self.take("without", "time", "zone")
        if self.symbol("["):
            self.need_symbol("]")
            return canonical(word) + inside + "[]"
        return canonical(word) + inside

    def _column(self, keys: list[KeyDef]) -> ColumnDef:
        name = self.name()
        kind = self.type_name()
        identity = kind in ("serial", "bigserial", "smallserial")
        kind = {"serial": "integer", "bigserial": "bigint", "smallserial": "smallint"}.get(kind, kind)
        not_null, default = identity, None
        generated: Expression | None = None
        text = ""
        while self.next.kind == "word":
            if self.take("not", "null"):
                not_null = True
            elif self.take("null"):
                pass
            elif self.take("primary", "key"):
                keys.append(KeyDef("primary", (name,)))
            elif self.take("unique"):
                keys.append(KeyDef("unique", (name,)))
            elif self.take("default"):
                default = self.expression(7)
            elif self.is_word("references"):
                keys.append(self._references((name,), ""))
            elif self.take("check"):
                self._parenthesis()
            elif self.take("generated", "always", "as"):
                if self.take("identity"):
                    identity = not_null = True
                    self._skipped()
                    continue
                first = self.next.position
                self.need_symbol("(")
                generated = self.expression()
                text = self.sql[first : self.next.position + 1]
                self.need_symbol(")")
                self.need("stored")
            elif self.take("generated"):
                self.need("by", "default", "as", "identity")
                identity = not_null = True
                self._skipped()
            elif self.take("constraint") or self.take("collate"):
                self.name()
            else:
                raise self.wrong()
        return ColumnDef(name, kind, not_null, default, identity, generated, text)

    def _drop(self) -> Statement:
        self.at += 1
        kinds: dict[str, tuple[Any, str]] = {
            "user": ("role", "DROP ROLE"), "role": ("role", "DROP ROLE"), "group": ("role", "DROP ROLE"),
            "database": ("database", "DROP DATABASE"), "schema": ("schema", "DROP SCHEMA"),
            "table": ("table", "DROP TABLE"), "index": ("index", "DROP INDEX"),
            "extension": ("extension", "DROP EXTENSION"), "owned": ("role", "DROP OWNED"),
        }  # fmt: skip
        word = self.next.text
        if self.next.kind != "word" or word not in kinds or word == "owned":
            raise self.wrong()
        self.at += 1
        kind, tag = kinds[word]
        exists = self.take("if", "exists")
        names = self.tables()
        self.take("with")
        if self.symbol("("):
            self.need("force")
            self.need_symbol(")")
        cascade = self.take("cascade")
        self.take("restrict")
        return Drop(kind, names, exists, cascade, tag)

    def _alter(self) -> Statement:
        self.at += 1
        if self.take("role") or self.take("user") or self.take("group"):
            name = self._role() if not self.take("all") else "all"
            if self.take("in", "database"):
                self.name()
            if self.is_word("set") or self.is_word("reset"):
                found = self._set()
                assert isinstance(found, SetParameter)
                return AlterRole(name, (("setting", (found.name, found.value)),))
            if self.take("rename", "to"):
                return AlterRole(name, (("rename", self.name()),))
            return AlterRole(name, self._role_options())
        if self.take("system"):
            return self._set(system=True)
        if self.take("database"):
            name = self.name()
            if self.take("owner", "to"):
                return AlterDatabase(name, (("owner", self.name()),))
            if self.take("rename", "to"):
                return AlterDatabase(name, (("rename", self.name()),))
            if self.is_word("set") or self.is_word("reset"):
                found = self._set()
                assert isinstance(found, SetParameter)
                return AlterDatabase(name, (("setting", (found.name, found.value)),))
            return AlterDatabase(name, self._database_options())
        if self.take("table"):
            return self._alter_table()
        if self.take("default", "privileges"):
            self._rest()
            return Maintain("ALTER DEFAULT PRIVILEGES")
        for word in ("schema", "sequence", "index", "extension", "view", "function"):
            if self.take(word):
                self._rest()
                return Maintain(f"ALTER {word.upper()}")
        raise self.wrong()

    def _alter_table(self) -> Statement:
        self.take("if", "exists")
        self.take("only")
        table = self.table()
        if self.take("rename", "to"):
            return AlterTable(table, "rename", (self.name(),))
        if self.take("rename"):
            self.take("column")
            before = self.name()
            self.need("to")
            return AlterTable(table, "rename_column", (before, self.name()))
        if self.take("owner", "to"):
            return AlterTable(table, "owner", (self.name(),))
        if self.take("add"):
            if (
                self.is_word("constraint")
                or self.is_word("primary")
                or self.is_word("foreign")
                or self.is_word("check")
            ):
                self._rest()
                return AlterTable(table, "keep")
            self.take("column")
            missing = self._missing()
            keys: list[KeyDef] = []
            return AlterTable(table, "add", (self._column(keys), missing))
        if self.take("drop"):
            if self.take("constraint"):
                self._rest()
                return AlterTable(table, "keep")
            self.take("column")
            exists = self.take("if", "exists")
            name = self.name()
            return AlterTable(table, "drop", (name, exists, self.take("cascade")))
        if self.is_word("alter") or self.is_word("enable") or self.is_word("disable") or self.is_word("set"):
            self._rest()
            return AlterTable(table, "keep")
        raise self.wrong()

    # --- data -----------------------------------------------------------------------------------------------

    def _insert(self) -> Statement:
        self.at += 1
        self.need("into")
        table = self.table()
        if self.take("as"):
            self.name()
        columns: tuple[str, ...] = ()
        places: tuple[int, ...] = ()
        if (
            self.next.text == "("
            and self.next.kind == "symbol"
            and self.words[self.at + 1].text not in ("select", "values")
        ):
            start = self.at
            columns = self._columns()
            places = tuple(each.position for each in self.words[start + 1 : self.at : 2])
        if self.take("overriding"):
            self._rest_until("value")
        rows: Any
        if self.take("default", "values"):
            rows = ((),)
        elif self.take("values"):
            rows = [self._row()]
            while self.symbol(","):
                rows.append(self._row())
            rows = tuple(rows)
        else:
            rows = self.select()
        skip = False
        if self.take("on", "conflict"):
            if self.next.text == "(" and self.next.kind == "symbol":
                self._columns()
            self.need("do")
            skip = True
            if not self.take("nothing"):
                raise self.wrong()
        return Insert(table, columns, rows, skip, places, self._returning())

    def _rest_until(self, word: str) -> None:
        while not self.take(word):
            if self.next.kind == "end":
                raise self.wrong()
            self.at += 1

    def _row(self) -> tuple[Expression | None, ...]:
        self.need_symbol("(")
        found = [self._value()]
        while self.symbol(","):
            found.append(self._value())
        self.need_symbol(")")
        return tuple(found)

    def _value(self) -> Expression | None:
        return None if self.take("default") else self.expression()

    def _returning(self) -> tuple[tuple[Expression, str], ...]:
        return self._items() if self.take("returning") else ()

    def _update(self) -> Statement:
        self.at += 1
        self.take("only")
        table = self.table()
        if self.take("as") or (self.next.kind in ("word", "name") and not self.is_word("set")):
            self.name()
        self.need("set")
        sets = [self._assignment()]
        while self.symbol(","):
            sets.append(self._assignment())
        where = self.expression() if self.take("where") else None
        return Update(table, tuple(sets), where, self._returning())

    def _assignment(self) -> tuple[str, Expression, int]:
        position = self.next.position
        name = self.name()
        self.need_symbol("=")
        value = self._value()
        return name, Literal_(None) if value is None else value, position

    def _delete(self) -> Statement:
        self.at += 1
        self.need("from")
        self.take("only")
        table = self.table()
        where = self.expression() if self.take("where") else None
        return Delete(table, where, False, self._returning())

    def _truncate(self) -> Statement:
        self.at += 1
        self.take("table")
        table = self.table()
        for word in ("restart", "identity", "continue", "cascade", "restrict"):
            self.take(word)
        return Delete(table, None, True)

    # --- queries ----------------------------------------------------------------------------------------------

    def deeper(self) -> None:
        """One level further in. Raises Refused where there are too many."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise refuse("54001", "stack depth limit exceeded")

    def select(self) -> Select:
        self.deeper()
        found = self._union()
        self.depth -= 1
        return found

    def _union(self) -> Select:
        first = self._core()
        if self.take("union"):
            self.take("all")
            return _with(first, union=self._union())
        return first

    def _core(self) -> Select:
        if self.symbol("("):
            inner = self.select()
            self.need_symbol(")")
            return self._tail(inner)
        if self.take("values"):
            rows = [self._row()]
            while self.symbol(","):
                rows.append(self._row())
            return self._tail(Select(values=tuple(rows)))  # type: ignore[arg-type]
        if self.take("table"):
            return Select(((ColumnRef("*"), ""),), Source(self.table()))
        self.need("select")
        distinct = self.take("distinct")
        if not distinct:
            self.take("all")
        items = () if self.is_word("from") or self.next.kind == "end" else self._items()
        source = self._from() if self.take("from") else None
        where = self.expression() if self.take("where") else None
        group: tuple[Expression, ...] = ()
        if self.take("group", "by"):
            group = self._list()
        having = self.expression() if self.take("having") else None
        return self._tail(Select(items, source, where, group, having, distinct=distinct))

    def _tail(self, select: Select) -> Select:
        if self.take("order", "by"):
            orders = [self._order()]
            while self.symbol(","):
                orders.append(self._order())
            select = _with(select, order=tuple(orders))
        while True:
            if self.take("limit"):
                select = _with(select, limit=None if self.take("all") else self.expression())
            elif self.take("offset"):
                select = _with(select, offset=self.expression())
                if not self.take("rows"):
                    self.take("row")
            elif self.take("fetch"):
                if not self.take("first"):
                    self.need("next")
                select = _with(
                    select,
                    limit=Literal_(1) if self.is_word("row") or self.is_word("rows") else self.expression(),
                )
                if not self.take("row"):
                    self.need("rows")
                self.need("only")
            elif self.take("for"):
                self._rest_until("update" if not self.is_word("share") else "share")
                self.take("nowait")
                self.take("skip", "locked")
                select = _with(select, locking=True)
            else:
                return select

    def _list(self) -> tuple[Expression, ...]:
        found = [self.expression()]
        while self.symbol(","):
            found.append(self.expression())
        return tuple(found)

    def _order(self) -> Order:
        key = self.expression()
        descending = self.take("desc")
        if not descending:
            self.take("asc")
        first = descending
        if self.take("nulls"):
            first = self.take("first")
            if not first:
                self.need("last")
        return Order(key, descending, first)

    def _items(self) -> tuple[tuple[Expression, str], ...]:
        found = [self._item()]
        while self.symbol(","):
            found.append(self._item())
        return tuple(found)

    def _item(self) -> tuple[Expression, str]:
        if self.symbol("*"):
            return ColumnRef("*"), ""
        value = self.expression()
        if self.take("as"):
            return value, self.name(any_word=True)
        token = self.next
        if token.kind == "name" or (token.kind == "word" and token.text not in _RESERVED):
            return value, self.name()
        return value, ""

    def _from(self) -> From:
        found: From = self._source()
        while True:
            if self.symbol(","):
                found = Join(found, self._source(), "cross")
                continue
            kind: Literal["inner", "left", "cross"] = "inner"
            if self.take("cross", "join"):
                found = Join(found, self._source(), "cross")
                continue
            if self.take("left"):
                self.take("outer")
                kind = "left"
                self.need("join")
            elif self.take("inner"):
                self.need("join")
            elif not self.take("join"):
                return found
            right = self._source()
            if self.take("using"):
                found = Join(found, right, kind, None, self._columns())
            else:
                self.need("on")
                found = Join(found, right, kind, self.expression())

    def _source(self) -> Source:
        of: Any
        if self.symbol("("):
            of = self.select()
            self.need_symbol(")")
        else:
            self.take("only")
            self.take("lateral")
            position = self.next.position
            of = self.table()
            if self.symbol("("):
                of = Apply(of.name, () if self.next.text == ")" else self._list(), position=position)
                self.need_symbol(")")
        alias = ""
        if (
            self.take("as")
            or self.next.kind == "name"
            or (self.next.kind == "word" and self.next.text not in _RESERVED)
        ):
            alias = self.name()
            if self.next.kind == "symbol" and self.next.text == "(":
                self._columns()
        return Source(of, alias)

    # --- expressions --------------------------------------------------------------------------------------------

    def expression(self, least: int = 0) -> Expression:
        """An expression whose operators bind at least so strongly (the table of chapter 4.1.6)."""
        self.deeper()
        left = self._unary()
        while True:
            found = self._infix(left, least)
            if found is None:
                break
            left = found
        self.depth -= 1
        return left

    def _unary(self) -> Expression:
        position = self.next.position
        if self.take("not"):
            return Operate("not", (self.expression(3),), position)
        sign = self.symbol("-", "+")
        if sign:
            value = self.expression(9)
            if isinstance(value, Literal_) and isinstance(value.value, (int, Decimal)):
                return Literal_(-value.value if sign == "-" else value.value)
            return Operate("negative", (value,), position) if sign == "-" else value
        return self._postfix(self._primary())

    def _postfix(self, value: Expression) -> Expression:
        while self.symbol("::"):
            value = Cast(value, self.type_name())
        return value

    def _infix(self, left: Expression, least: int) -> Expression | None:
        token = self.next
        if token.kind == "symbol":
            return self._symbolic(left, least, token)
        if token.kind != "word":
            return None
        word, position = token.text, token.position
        if word == "or" and least <= 1:
            self.at += 1
            return Operate("or", (left, self.expression(2)), position)
        if word == "and" and least <= 2:
            self.at += 1
            return Operate("and", (left, self.expression(3)), position)
        if word == "is" and least <= 4:
            return self._is(left, position)
        if least > 6:
            return None
        negated = word == "not" and self.words[self.at + 1].text in ("in", "like", "ilike", "between")
        if negated:
            self.at += 1
            word = self.next.text
        found: Expression | None = None
        if word in ("like", "ilike"):
            self.at += 1
            found = Operate(word, (left, self.expression(7)), position)
        elif word == "between":
            self.at += 1
            low = self.expression(7)
            self.need("and")
            found = Operate("between", (left, low, self.expression(7)), position)
        elif word == "in":
            self.at += 1
            return self._among(left, negated)
        if found is None:
            return None
        return Operate("not", (found,), position) if negated else found

    def _symbolic(self, left: Expression, least: int, token: Token) -> Expression | None:
        text, position = token.text, token.position
        for texts, strength in (
            (_COMPARISONS, 5),
            (_OTHERS, 7),
            (("+", "-"), 8),
            (("*", "/", "%"), 9),
            (("^",), 10),
        ):
            if text in texts and least <= strength:
                self.at += 1
                if strength == 5 and (self.is_word("any") or self.is_word("some") or self.is_word("all")):
                    return self._any(left, text)
                return Operate(
                    "<>" if text == "!=" else text, (left, self.expression(strength + 1)), position
                )
        return None

    def _any(self, left: Expression, operator: str) -> Expression:
        every = self.take("all")
        if not every:
            self.at += 1
        self.need_symbol("(")
        if self.is_word("select"):
            choices: Any = self.select()
        else:
            choices = (Apply("unnest", (self.expression(),)),)
        self.need_symbol(")")
        return Among(left, choices, operator != "=")

    def _is(self, left: Expression, position: int) -> Expression:
        self.at += 1
        negated = self.take("not")
        for word in ("null", "true", "false", "unknown"):
            if self.take(word):
                found = Operate(f"is {'null' if word == 'unknown' else word}", (left,), position)
                return Operate("not", (found,), position) if negated else found
        self.need("distinct", "from")
        different = Operate("distinct", (left, self.expression(5)), position)
        return Operate("not", (different,), position) if negated else different

    def _among(self, left: Expression, negated: bool) -> Expression:
        self.need_symbol("(")
        choices: Any = self.select() if self.is_word("select") else self._list()
        self.need_symbol(")")
        return Among(left, choices, negated)

    def _primary(self) -> Expression:
        token = self.next
        if token.kind == "number":
            self.at += 1
            return Literal_(_numeral(token.text), token.position)
        if token.kind == "text":
            self.at += 1
            return Literal_(token.text, token.position)
        if token.kind == "symbol" and token.text == "(":
            self.at += 1
            if self.is_word("select") or self.is_word("values"):
                inner: Expression = Scalar(self.select())
            else:
                inner = self.expression()
            self.need_symbol(")")
            return inner
        if token.kind == "symbol" and token.text == "*":
            self.at += 1
            return ColumnRef("*", "", token.position)
        if token.kind == "word":
            found = self._keyword(token)
            if found is not None:
                return found
        if token.kind in ("word", "name"):
            return self._named(token)
        raise self.wrong()

    def _keyword(self, token: Token) -> Expression | None:
        word = token.text
        if word in ("null", "true", "false"):
            self.at += 1
            return Literal_({"null": None, "true": True, "false": False}[word])
        if word in ("current_user", "session_user", "user", "current_date", "current_timestamp", "localtimestamp",
                    "current_catalog", "current_schema", "current_role"):  # fmt: skip
            if self.words[self.at + 1].text == "(":
                return None
            self.at += 1
            return Apply(word, position=token.position)
        if word == "case":
            return self._case()
        if word == "cast":
            self.at += 1
            self.need_symbol("(")
            value = self.expression()
            self.need("as")
            kind = self.type_name()
            self.need_symbol(")")
            return Cast(value, kind)
        if word == "exists":
            self.at += 1
            self.need_symbol("(")
            select = self.select()
            self.need_symbol(")")
            return Scalar(select, True)
        if word == "interval" and self.words[self.at + 1].kind == "text":
            self.at += 1
            return Cast(Literal_(self.text()), "interval")
        if word == "extract" and self.words[self.at + 1].text == "(":
            self.at += 2
            part = self.name(any_word=True)
            self.need("from")
            value = self.expression()
            self.need_symbol(")")
            return Apply("extract", (Literal_(part), value), position=token.position)
        if word == "array" and self.words[self.at + 1].text == "[":
            self.at += 2
            items = () if self.next.text == "]" else self._list()
            self.need_symbol("]")
            return Apply("array", items, position=token.position)
        return None

    def _case(self) -> Expression:
        self.at += 1
        subject = None if self.is_word("when") else self.expression()
        branches = []
        while self.take("when"):
            condition = self.expression()
            if subject is not None:
                condition = Operate("=", (subject, condition))
            self.need("then")
            branches.append((condition, self.expression()))
        otherwise = self.expression() if self.take("else") else None
        self.need("end")
        if not branches:
            raise self.wrong()
        return Case(tuple(branches), otherwise)

    def _named(self, token: Token) -> Expression:
        callable_ = self.words[min(self.at + 1, len(self.words) - 1)]
        called = callable_.kind == "symbol" and callable_.text == "("
        if token.kind == "word" and token.text in _RESERVED and not called:
            raise self.wrong()
        self.at += 1
        name, table = token.text, ""
        while self.symbol("."):
            if self.symbol("*"):
                return ColumnRef("*", name, token.position)
            table, name = name, self.name(any_word=True)
        if not self.symbol("("):
            return ColumnRef(name, table, token.position)
        if self.symbol("*"):
            self.need_symbol(")")
            if self.is_word("filter"):
                return Apply(name, self._filtered(()), position=token.position)
            return Apply(name, (), True, position=token.position)
        distinct = self.take("distinct")
        arguments = () if self.next.kind == "symbol" and self.next.text == ")" else self._list()
        if self.take("order", "by"):
            self._order()
        self.need_symbol(")")
        if self.is_word("filter"):
            arguments = self._filtered(arguments)
        return Apply(name, arguments, False, distinct, token.position)

    def _filtered(self, arguments: tuple[Expression, ...]) -> tuple[Expression, ...]:
        """``FILTER (WHERE ...)``: what does not fit is null, which aggregates leave out."""
        self.need("filter")
        self.need_symbol("(")
        self.need("where")
        condition = self.expression()
        self.need_symbol(")")
        return tuple(Case(((condition, each),), None) for each in arguments or (Literal_(1),))


def _numeral(text: str) -> int | Decimal:
    """A number: a bigint where it fits, else a numeric."""
    found = whole(text, None)
    return Decimal(text[:1000]) if found is None else found


def _with(select: Select, **changes: Any) -> Select:
    fields = {name: getattr(select, name) for name in tree.Select.__slots__}
    return Select(**{**fields, **changes})


_TYPES = {
    "int": "integer", "int4": "integer", "int8": "bigint", "int2": "smallint", "bool": "boolean", "decimal": "numeric",
    "float8": "double precision", "float4": "real", "float": "double precision", "varchar": "character varying",
    "char": "character", "bpchar": "character", "timestamptz": "timestamp with time zone",
    "timestamp": "timestamp without time zone", "timetz": "time with time zone", "time": "time without time zone",
}  # fmt: skip


def canonical(kind: str) -> str:
    """A type's own name: ``int8`` is ``bigint``."""
    return _TYPES.get(kind, kind)
