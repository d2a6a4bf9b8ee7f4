"""Methods of a collection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sregym_env.sim.programs import mongo_server
from sregym_env.sim.programs.mongo_shell.documents import user_document
from sregym_env.sim.programs.mongo_shell.queries import matches, projected, with_id
from sregym_env.sim.programs.mongo_shell.session import Session, ShellError
from sregym_env.sim.programs.mongo_shell.values import Collection, Cursor, Raw, tojson


class CollectionMethods:
    """Methods of a collection."""

    def __init__(self, session: Session, collection: Collection) -> None:
        self.session = session
        self.collection = collection

    def call(self, name: str, arguments: list[Any]) -> Any:
        """Call a method by name."""
        method = getattr(self, f"do_{name}", None)
        full = f"{self.collection.database}.{self.collection.name}"
        if method is None:
            raise ShellError(f"TypeError: {full}.{name} is not a function :")
        try:
            return method(*arguments)
        except TypeError:
            raise ShellError(f"Error: {full}.{name}: wrong number or type of arguments :") from None

    def _documents(self, command: str, extra: str = "") -> tuple[Mapping[str, Any], ...]:
        database, name = self.collection.database, self.collection.name
        self.session.require(command, database, f'{command}: "{name}"{extra}')
        if database == "admin" and name == "system.users":
            return tuple(user_document(account) for account in self.session.data.accounts)
        return self.session.data.documents(database, name)

    def _born(self) -> int:
        """When the collection was made; now where it is about to be."""
        full = f"{self.collection.database}.{self.collection.name}"
        return self.session.data.born.get(full, self.session.server.now())

    def _store(self, documents: Sequence[Mapping[str, Any]]) -> None:
        database, name = self.collection.database, self.collection.name
        mongo_server.store(
            self.session.server, self.session.data.with_documents(database, name, tuple(documents))
        )

    def do_find(self, query: Any = None, projection: Any = None) -> Cursor:
        """``find(query, projection)``."""
        documents = self._documents("find", f", filter: {tojson(query or {}, one_line=True)}")
        born = self._born()
        found = [with_id(d, i, born) for i, d in enumerate(documents) if matches(d, query or {})]
        return Cursor(tuple(projected(d, projection or {}) for d in found))

    def do_findOne(self, query: Any = None, projection: Any = None) -> Any:
        """``findOne(query, projection)``."""
        documents = self._documents("find", f", filter: {tojson(query or {}, one_line=True)}")
        # Not all of them: one may stand in front of very many.
        for index, document in enumerate(documents):
            if matches(document, query or {}):
                return projected(with_id(document, index, self._born()), projection or {})
        return None

    def do_count(self, query: Any = None, options: Any = None) -> int:
        """``count(query)``."""
        return sum(1 for d in self._documents("count") if matches(d, query or {}))

    do_countDocuments = do_count
    do_estimatedDocumentCount = do_count

    def do_distinct(self, key: str, query: Any = None) -> Any:
        """``distinct(key, query)``."""
        seen: list[Any] = []
        for document in self._documents("distinct"):
            if matches(document, query or {}) and document.get(key) not in seen:
                seen.append(document.get(key))
        return seen

    def do_insertOne(self, document: Mapping[str, Any], options: Any = None) -> Any:
        """``insertOne(document)``."""
        known = self._documents("insert", ", ordered: true")
        self._store((*known, document))
        return {"acknowledged": True, "insertedId": with_id(document, len(known), self._born())["_id"]}

    def do_insertMany(self, documents: Sequence[Mapping[str, Any]], options: Any = None) -> Any:
        """``insertMany(documents)``."""
        known = self._documents("insert", ", ordered: true")
        self._store((*known, *documents))
        return {
            "acknowledged": True,
            "insertedIds": [with_id(d, len(known) + i, self._born())["_id"] for i, d in enumerate(documents)],
        }

    def do_insert(self, given: Any, options: Any = None) -> Any:
        """``insert(document or documents)``."""
        many = given if isinstance(given, (list, tuple)) else [given]
        self._store((*self._documents("insert", ", ordered: true"), *many))
        return Raw(f'WriteResult({{ "nInserted" : {len(many)} }})')

    def _delete(self, query: Any, limit: int) -> int:
        kept, gone = [], 0
        for document in self._documents("delete", ", ordered: true"):
            if matches(document, query or {}) and (not limit or gone < limit):
                gone += 1
            else:
                kept.append(document)
        self._store(kept)
        return gone

    def do_deleteOne(self, query: Any) -> Any:
        """``deleteOne(query)``."""
        return {"acknowledged": True, "deletedCount": self._delete(query, 1)}

    def do_deleteMany(self, query: Any) -> Any:
        """``deleteMany(query)``."""
        return {"acknowledged": True, "deletedCount": self._delete(query, 0)}

    def do_remove(self, query: Any, options: Any = None) -> Any:
        """``remove(query)``."""
        return Raw(f'WriteResult({{ "nRemoved" : {self._delete(query, 0)} }})')

    def _update(self, query: Any, change: Mapping[str, Any], limit: int) -> int:
        changed, updated = 0, []
        for document in self._documents("update", ", ordered: true"):
            if matches(document, query or {}) and (not limit or changed < limit):
                changed += 1
                fresh = {**document, **change.get("$set", {})}
                updated.append({k: v for k, v in fresh.items() if k not in change.get("$unset", {})})
            else:
                updated.append(dict(document))
        self._store(updated)
        return changed

    def do_updateOne(self, query: Any, change: Mapping[str, Any], options: Any = None) -> Any:
        """``updateOne(query, change)``."""
        count = self._update(query, change, 1)
        return {"acknowledged": True, "matchedCount": count, "modifiedCount": count}

    def do_updateMany(self, query: Any, change: Mapping[str, Any], options: Any = None) -> Any:
        """``updateMany(query, change)``."""
        count = self._update(query, change, 0)
        return {"acknowledged": True, "matchedCount": count, "modifiedCount": count}

    def do_drop(self) -> Any:
        """``drop()``."""
        known = self.collection.name in self.session.data.collections.get(self.collection.database, {})
        self._documents("drop")
        data = self.session.data.without_collection(self.collection.database, self.collection.name)
        mongo_server.store(self.session.server, data)
        return known

    def do_getIndexes(self) -> Any:
        """``getIndexes()``."""
        self._documents("listIndexes")
        return [{"v": 2, "key": {"_id": 1}, "name": "_id_"}]

    def do_createIndex(self, keys: Any, options: Any = None) -> Any:
        """``createIndex(keys)``."""
        self._documents("createIndexes")
        return {"createdCollectionAutomatically": False, "numIndexesBefore": 1, "numIndexesAfter": 2, "ok": 1}

    def do_stats(self, scale: Any = 1) -> Any:
        """``stats()``."""
        documents = self._documents("collStats")
        full = f"{self.collection.database}.{self.collection.name}"
        return {"ns": full, "size": 120 * len(documents), "count": len(documents), "nindexes": 1, "ok": 1}

    def do_validate(self, options: Any = None) -> Any:
        """``validate()``: reads the collection's file."""
        documents = self._documents("find")
        full = f"{self.collection.database}.{self.collection.name}"
        try:
            mongo_server.stored(self.session.server)
        except OSError:
            raise ShellError(
                f"Error: validate failed: {full}: -31802: WT_ERROR: non-specific WiredTiger error :"
            ) from None
        return {
            "ns": full,
            "nrecords": len(documents),
            "nInvalidDocuments": 0,
            "valid": True,
            "errors": [],
            "ok": 1,
        }

    def do_aggregate(self, stages: Any = None, options: Any = None) -> Any:
        """``aggregate(stages)`` with ``$match``, ``$limit``, ``$count`` and ``$sample``."""
        documents: tuple[Mapping[str, Any], ...] = self._documents("aggregate")
        for stage in stages if isinstance(stages, (list, tuple)) else [stages or {}]:
            if "$match" in stage:
                documents = tuple(d for d in documents if matches(d, stage["$match"]))
            elif "$limit" in stage:
                documents = documents[: stage["$limit"]]
            elif "$count" in stage:
                documents = ({str(stage["$count"]): len(documents)},)
            elif "$sample" in stage:
                documents = documents[: stage["$sample"].get("size", 1)]
        return Cursor(documents)
