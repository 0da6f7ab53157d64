"""Which host a URL names, in the face of people who would rather it named another."""

from ipaddress import IPv4Address, IPv6Address, ip_network

import pytest

from assent.permissions.rules import RuleError, parse_rule
from assent.permissions.web import host_denied, host_matches, is_private, site_of
from assent.types.addresses import EMBEDDING, LISTED, is_public
from assent.types.permissions import Ask
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


@pytest.mark.parametrize(
    "carried", ["?q=" + "a" * 300, "?" + "a" * 257, "/" + "a" * 300, "/x?" + "&x=1" * 70, "/%41" + "%41" * 90]
)
def test_a_rule_for_a_host_does_not_carry_long_texts_out_unless_it_says_so(shared_ws: Scratch, carried: str) -> None:
    url = {"url": f"https://docs.python.org{carried if carried[0] == '/' else '/' + carried}"}
    for rule in ("WebFetch(domain:docs.python.org)", "WebFetch(domain:*.python.org)"):
        decision = shared_ws.decide("WebFetch", url, allow=[rule])
        assert isinstance(decision, Ask)
        assert "256 characters" in decision.reason
        assert [offer.rule for offer in decision.suggestions] == ["WebFetch(domain:docs.python.org, query)"] * 2
        longer = rule.replace(")", ", query)")
        assert shared_ws.decide("WebFetch", url, allow=[longer]).decision == "allow"
    policy = {"permissions": {"allow": ["WebFetch(domain:docs.python.org)"]}}
    assert shared_ws.decide("WebFetch", url, policy=policy).decision == "ask"
    assert "256" not in shared_ws.decide("WebFetch", url).reason


def test_a_query_of_ordinary_length_goes_with_the_rule(shared_ws: Scratch) -> None:
    url = {"url": "https://docs.python.org/3/search.html?" + "a" * 256}
    assert shared_ws.decide("WebFetch", url, allow=["WebFetch(domain:docs.python.org)"]).decision == "allow"
    denied = shared_ws.decide("WebFetch", url, deny=["WebFetch(domain:docs.python.org, query)"])
    assert denied.decision == "deny"  # a restriction is read widely


def test_after_a_domain_only_the_word_query_is_understood() -> None:
    with pytest.raises(RuleError, match="only `query`"):
        parse_rule("WebFetch(domain:x.org, anything)")


@pytest.mark.parametrize("network", [*LISTED])
def test_every_listed_network_is_private_from_its_first_address_to_its_last(shared_ws: Scratch, network: str) -> None:
    listed = ip_network(network)
    for address in (listed[0], listed[-1]):
        assert not is_public(str(address))
        assert is_private(str(address))
        url = f"http://[{address}]/" if address.version == 6 else f"http://{address}/"
        assert shared_ws.decide("WebFetch", {"url": url}, mode="bypassPermissions").decision == "deny"


@pytest.mark.parametrize(
    ("inner", "public"),
    [("127.0.0.1", False), ("10.1.2.3", False), ("169.254.169.254", False), ("192.0.0.8", False), ("8.8.8.8", True)],
)
def test_an_address_that_wraps_another_is_as_public_as_that_one(inner: str, public: bool) -> None:
    number = int(IPv4Address(inner))
    wrapped = [IPv6Address(int(ip_network(network)[0]) | number) for network in EMBEDDING]
    wrapped.append(IPv6Address((0x2002 << 112) | (number << 80)))  # 6to4
    wrapped += [IPv6Address((0x2600_1234 << 96) | (mark << 32) | number) for mark in (0x5EFE, 0x0200_5EFE)]  # ISATAP
    assert [is_public(str(address)) for address in wrapped] == [public] * len(wrapped)


@pytest.mark.parametrize("address", ["93.184.216.34", "8.8.8.8", "2606:2800:220:1::1", "1.1.1.1", "2a00:1450::1"])
def test_ordinary_addresses_are_public(address: str) -> None:
    assert is_public(address)
    assert not is_public("fe80::1%eth0")
