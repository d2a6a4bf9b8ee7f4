"""The neighbours of an application: other teams' namespaces, add-ons of the cluster, and what nobody has tidied away.

Everything here is drawn as data: :class:`~sregym_env.worlds.tenants.deeds.Deed` values, which say who does what when
through the ordinary API. Nothing here selects, routes to or constrains a pod of the application.
"""
