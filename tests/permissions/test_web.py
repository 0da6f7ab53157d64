"""Which host a URL names, in the face of people who would rather it named another."""

import pytest

from assent.permissions.web import host_denied, host_matches, is_private, site_of
from permissions.scratch import Scratch


@pytest.mark.parametrize(
    ("url", "host"),
    [
        ("https://docs.python.org/3/", "docs.python.org"),
        ("https://DOCS.Python.ORG/x", "docs.python.org"),
        ("http://docs.python.org:80/", "docs.python.org"),
        ("https://docs.python.org:443/", "docs.python.org"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
        ("https://[2606:4700::1111]/", "2606:4700::1111"),
    ],
)
def test_plain_urls_name_their_host(url: str, host: str) -> None:
    site = site_of(url)
    assert (site.host, site.doubt, site.port) == (host, "", None)
    assert host_matches(site, host)


@pytest.mark.parametrize(
    "url",
    [
        "https://docs.python.org.evil.example/", "https://docs.python.org@evil.example/", "https://evil.example\\@docs.python.org/",
        "https://docs.python.org%2eevil.example/", "https://docs.python.org:8080/", "https://evil.example#@docs.python.org/", "https://evil.example/?docs.python.org",
        "https://docs.python.org\t.evil.example/", "https://docs.python.org\n/", " https://docs.python.org/", "https://docs.python.org\u200b/", "https://docs。python.org.evil.example/",
        "https://dоcs.python.org/", "ftp://docs.python.org/", "file:///etc/passwd", "javascript:alert(1)", "//docs.python.org/", "docs.python.org", "https://", "https:///docs.python.org",
        "https://docs.python.org:99999/", "https://docs.python.org:x/", "https://[::1", "https://[zz]/", "https://-x-.example/", "https://user:pw@docs.python.org/", "https://a..b/", "",
        "https://x." + "a" * 300 + "/", "https://\udcff/", "http://2130706433/", "http://0x7f.1/", "http://017700000001/", "http://127.1/", "https://xn--\udc80/", "https://www.docs.python.org/",
        "https://" + "ü" * 70 + ".example/",
    ],
)  # fmt: skip
def test_hostile_urls_are_never_allowed_by_a_rule(shared_ws: Scratch, url: str) -> None:
    decision = shared_ws.decide("WebFetch", {"url": url}, allow=["WebFetch(domain:docs.python.org)"])
    assert decision.decision in ("ask", "deny"), url


@pytest.mark.parametrize(
    "host",
    ["localhost", "a.localhost", "127.0.0.1", "10.1.2.3", "192.168.0.1", "169.254.169.254", "::1", "fe80::1", "fd00::1", "::ffff:127.0.0.1", "0.0.0.0",
     "printer", "nas.local", "vault.internal", "100.64.0.1", "224.0.0.1", "2002:7f00:1::"],
)  # fmt: skip
def test_private_hosts_are_refused_unless_named(shared_ws: Scratch, host: str) -> None:
    assert is_private(host)
    url = f"http://[{host}]/" if ":" in host else f"http://{host}/"
    for options in ({"allow": ["WebFetch"]}, {"mode": "bypassPermissions"}, {"allow": ["WebFetch(domain:*.local)"]}):
        assert shared_ws.decide("WebFetch", {"url": url}, **options).decision == "deny"


def test_public_addresses_are_not_private() -> None:
    assert not is_private("example.org")
    assert not is_private("93.184.216.34")
    assert not is_private("2606:4700::1111")


def test_a_deny_rule_covers_subdomains_ports_and_doubtful_urls() -> None:
    for url in ("https://evil.example/", "https://a.evil.example:8080/", "https://x@evil.example/"):
        assert host_denied(site_of(url), "evil.example")
        assert host_denied(site_of(url), "*.evil.example")
    assert not host_denied(site_of("https://notevil.example/"), "evil.example")
    assert not host_denied(site_of("https://\\/"), "evil.example")


def test_a_redirect_to_another_host_is_judged_anew(shared_ws: Scratch) -> None:
    rules = ["WebFetch(domain:docs.python.org)"]
    assert shared_ws.decide("WebFetch", {"url": "https://docs.python.org/"}, allow=rules).decision == "allow"
    assert shared_ws.decide("WebFetch", {"url": "https://evil.example/"}, allow=rules).decision == "ask"


@pytest.mark.parametrize(
    "url",
    [
        "https://docs.python.org./",
        "https://docs.python.org:/@evil.example/",
        "https://docs\u3002python.org/",
        "https://\uff44ocs.python.org/",
    ],
)
def test_another_spelling_of_an_allowed_host_asks_and_of_a_denied_one_is_denied(shared_ws: Scratch, url: str) -> None:
    # D14
    assert shared_ws.decide("WebFetch", {"url": url}, allow=["WebFetch(domain:docs.python.org)"]).decision == "ask"
    denied = shared_ws.decide("WebFetch", {"url": url}, mode="bypassPermissions", deny=["WebFetch(domain:python.org)"])
    assert denied.decision == "deny"


@pytest.mark.parametrize(
    "url", ["http://localhost./", "http://2130706433/", "http://127.1/", "http://0x7f.1/", "http://999999999999/"]
)
def test_an_odd_spelling_of_this_machine_is_refused_like_the_plain_one(shared_ws: Scratch, url: str) -> None:
    assert shared_ws.decide("WebFetch", {"url": url}, allow=["WebFetch"]).decision == "deny"
