import pytest

from assent.text.uris import path_of, same_document, uri_of


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a/b.py", "/a/b.py"),
        ("file:///a%20b/%C3%A9%23.py", "/a b/é#.py"),
        ("file:///a/b?c#d", "/a/b?c#d"),
        ("file://localhost/a", "/a"),
        ("FILE:///a", "/a"),
        ("file:///c%3A/x.py", "c:/x.py"),
        ("file:///C:/x.py", "c:/x.py"),
        ("file:///C:", "c:/"),
        ("file://server/share/x", "//server/share/x"),
        ("file:///a%FFb", "/a\udcffb"),
        ("untitled:Untitled-1", None),
        ("untitled:/home/me/new.py", None),
        ("vscode-notebook-cell:/a/b.ipynb#W0s", None),
        ("assent:session/x", None),
        ("", None),
    ],
)
def test_the_path_of_a_uri(uri: str, path: str | None) -> None:
    assert path_of(uri) == path


@pytest.mark.parametrize(
    ("path", "uri"),
    [
        ("/a/b.py", "file:///a/b.py"),
        ("/a b/é#?.py", "file:///a%20b/%C3%A9%23%3F.py"),
        ("C:\\x\\y.py", "file:///c%3A/x/y.py"),
        ("c:/x/y.py", "file:///c%3A/x/y.py"),
        ("//server/share/x y", "file://server/share/x%20y"),
        ("/a\udcffb", "file:///a%FFb"),
        ("/[id]/@x/(a)+b.ts", "file:///%5Bid%5D/@x/(a)+b.ts"),
    ],
)
def test_the_uri_of_a_path_and_back(path: str, uri: str) -> None:
    assert uri_of(path) == uri
    assert uri_of(path_of(uri) or "") == uri


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("file:///C:/a.py", "file:///c%3A/a.py"),
        ("file:///a%20b", "file:///a b"),
        ("file:///x/%5Bid%5D.ts", "file:///x/[id].ts"),
        ("file:///a+b", "file:///a%2Bb"),
    ],
)
def test_two_spellings_of_one_document_are_one(one: str, other: str) -> None:
    assert same_document(one) == same_document(other)


def test_what_is_no_file_keeps_its_spelling() -> None:
    assert same_document("untitled:A b") == "untitled:A b"
