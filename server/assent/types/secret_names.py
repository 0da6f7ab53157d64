"""Which variables hold secrets, by how they are named: the one list for servers, commands and whatever fills in names.

A name that only may hold one counts: what is kept back can be passed on in the user's own settings. Names that every
program needs (PWD, SSH_AUTH_SOCK, ...) do not.
"""

import re

_SECRET = re.compile(
    r"TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|COOKIE|BEARER|WEBHOOK|CONNECTION_?STRING"
    r"|(?:^|_)(?:KEY|PAT|PASS|PGPASS|AUTH|DSN|JWT)$|_(?:PWD|AUTH_CONFIG)$"
    r"|(?:DATABASE|DB|REDIS|MONGO\w*|POSTGRES\w*|PG|MYSQL|AMQP|BROKER|RABBITMQ)_UR[IL]$",
    re.IGNORECASE,
)


def secret_named(variable: str) -> bool:
    return _SECRET.search(variable) is not None
