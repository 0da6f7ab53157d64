"""Names of variables that hold secrets, and of those that every program needs."""

import re

import pytest

from assent.extensions.mcp.config import ServerConfig, read_entry
from assent.types.secret_names import secret_named

SECRET = re.findall(
    r"\S+",
    """
    GH_PAT OPENAI_KEY DEPLOY_KEY MYSQL_PWD PGPASS DB_PASS DATABASE_URL REDIS_URL MONGODB_URI SENTRY_DSN NPM_AUTH KEY
    DOCKER_AUTH_CONFIG SESSION_COOKIE SLACK_WEBHOOK_URL AZURE_STORAGE_CONNECTION_STRING SERVICE_JWT GITHUB_TOKEN
    AWS_SECRET_ACCESS_KEY PGPASSWORD GOOGLE_APPLICATION_CREDENTIALS gh_pat
""",
)
NEEDED = re.findall(
    r"\S+",
    """
    PWD OLDPWD PATH HOME LANG LC_ALL EDITOR SSH_AUTH_SOCK XDG_SESSION_ID KEYBOARD_LAYOUT DBUS_SESSION_BUS_ADDRESS
    MONKEY PATTERN COMPASS AUTHOR GIT_AUTHOR_NAME DISPLAY XAUTHORITY PIP_INDEX_URL HTTPS_PROXY
""",
)


@pytest.mark.parametrize("name", SECRET)
def test_a_project_s_server_entry_cannot_pass_on_a_variable_that_is_named_like_a_secret(name: str) -> None:
    entry = {"type": "http", "url": f"https://x.example/${{{name}}}"}
    found = read_entry("s", entry, scope="project", source=".mcp.json", variables={name: "the value"})
    assert isinstance(found, ServerConfig)
    assert "the value" not in found.url and name in found.problems[0]


@pytest.mark.parametrize("name", NEEDED)
def test_a_variable_that_programs_need_is_not_taken_for_a_secret(name: str) -> None:
    assert not secret_named(name)
