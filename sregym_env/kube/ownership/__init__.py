"""Field ownership: who manages which fields of an object, and server-side apply on top of it.

``fields``   sets of fields in ``FieldsV1`` form and their algebra;
``shape``    which parts of a type merge and which are owned as a whole;
``compare``  the fields of a value, and what differs between two;
``merge``    merging a configuration over an object, taking fields out of it;
``checked``  complaints about an applied configuration;
``entries``  the entries of ``metadata.managedFields``;
``writes``   updates and applies: who owns what afterwards, conflicts;
``inferred`` the owners of an object that nobody has recorded.

Everything here is pure. The rules are those of ``sigs.k8s.io/structured-merge-diff`` v4 and
``k8s.io/apimachinery/pkg/util/managedfields`` of v1.32.
"""
