"""The embedded cluster's public key infrastructure, as kubeadm would have made it when the cluster was made.

Certificates only: their private keys do not exist any more, so that they vouch for nothing outside.
"""

from __future__ import annotations

AUTHORITY = """\
-----BEGIN CERTIFICATE-----
MIIBhTCCASugAwIBAgIUFL1FsfG3TLSzjw6KAQaPZm/EeS8wCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKa3ViZXJuZXRlczAeFw0yNjA2MjYwOTUwMDBaFw0zNjA2MjMw
OTUwMDBaMBUxEzARBgNVBAMMCmt1YmVybmV0ZXMwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQEjUE4Y/8b8j09rHT5q2b51iV0Tr7vWd71rzlsPMYm5DIq9OOoB7Ws
gFPiOaTskN3lHT4+bjM9j4u59lSGmeVCo1kwVzAPBgNVHRMBAf8EBTADAQH/MA4G
A1UdDwEB/wQEAwICpDAdBgNVHQ4EFgQUsPn0L5JYtcLELXh68ENntCn82NAwFQYD
VR0RBA4wDIIKa3ViZXJuZXRlczAKBggqhkjOPQQDAgNIADBFAiEA0vsP9eXt98B9
O0ysfTPPPfX0bIL+0dgWces+ianvVzkCIEYl+is46H2U56s8T65j8NeFQ5+MSqNa
BAt3RDMq/1Lf
-----END CERTIFICATE-----
"""
"""The cluster's root certificate (``ca.crt``), valid for ten years."""

API_SERVER = """\
-----BEGIN CERTIFICATE-----
MIICEjCCAbegAwIBAgIUTNM+lTcKL9fFuktj1J1AaBpiPmIwCgYIKoZIzj0EAwIw
FTETMBEGA1UEAwwKa3ViZXJuZXRlczAeFw0yNjA2MjYwOTUwMDBaFw0yNzA2MjYw
OTUwMDBaMBkxFzAVBgNVBAMMDmt1YmUtYXBpc2VydmVyMFkwEwYHKoZIzj0CAQYI
KoZIzj0DAQcDQgAEDrL8Jgd6QhXOliMpuJhzcL2JsldI6DQP9kCVB+0vtDyLSwDt
m+GjXAolenAwBAAYjPiCUP+bkW4w//Hx6J5PKaOB4DCB3TAMBgNVHRMBAf8EAjAA
MA4GA1UdDwEB/wQEAwIFoDATBgNVHSUEDDAKBggrBgEFBQcDATAfBgNVHSMEGDAW
gBSw+fQvkli1wsQteHrwQ2e0KfzY0DCBhgYDVR0RBH8wfYIKa3ViZXJuZXRlc4IS
a3ViZXJuZXRlcy5kZWZhdWx0ghZrdWJlcm5ldGVzLmRlZmF1bHQuc3ZjgiRrdWJl
cm5ldGVzLmRlZmF1bHQuc3ZjLmNsdXN0ZXIubG9jYWyCEXNyZS1jb250cm9sLXBs
YW5lhwQKYAABhwSsEgAFMAoGCCqGSM49BAMCA0kAMEYCIQDgcz7p06FM5d9FeJFO
0Q1skmP0E9TmTzD+kjJ6QZ8YOAIhAKeE/1gIZxZzyVmPipxvtLICps9jnDdz/h/D
brCg1gWY
-----END CERTIFICATE-----
"""
"""The API server's certificate (``apiserver.crt``), valid for a year."""
