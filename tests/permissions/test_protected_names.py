"""The iron gate's table: every row holds in every mode, ordinary files stay ordinary, and the page says the same."""

import re

import pytest

from assent.permissions.protected_names import ORDINARY, TABLE, ProtectedNames
from permissions.protected_page import PAGE, page
from permissions.scratch import Scratch

EXAMPLES = {
    r"\.?mcp\.json\W.*": ["mcp.json.bak", ".mcp.json~"],
    r".*\.(?:instructions|prompt|chatmode|agent)\.md": ["py.instructions.md", "x.prompt.md", "a.chatmode.md", "b.agent.md"],
    r".*\.mdc": ["x.mdc"],
    r".*\.code-workspace": ["x.code-workspace"],
    r".*\.sublime-project": ["x.sublime-project"],
    r"\.eslintrc(?:\..*)?": [".eslintrc", ".eslintrc.json", ".eslintrc.yml", ".eslintrc.cjs", ".ESLintrc.JSON"],
    r"eslint\.config\..*": ["eslint.config.js", "eslint.config.mts", "eslint.config.json"],
    r"\.prettierrc(?:\..*)?": [".prettierrc", ".prettierrc.toml", ".prettierrc.json5"],
    r"prettier\.config\..*": ["prettier.config.ts"],
    r"\.stylelintrc(?:\..*)?": [".stylelintrc", ".stylelintrc.yaml"],
    r"stylelint\.config\..*": ["stylelint.config.mjs"],
    r"\.(?:remarkrc|textlintrc|markdownlint-cli2)(?:\..*)?": [".remarkrc", ".textlintrc.json", ".markdownlint-cli2.jsonc"],
    r"\.markdownlint\.[cm]js": [".markdownlint.cjs"],
    r"\.?cspell(?:\.config)?\.[cm]?[jt]s": ["cspell.config.cjs", ".cspell.js"],
    r"\.rubocop.*\.ya?ml": [".rubocop.yml", ".rubocop_todo.yml"],
    r"\.golangci\.(?:ya?ml|toml|json)": [".golangci.yml", ".golangci.toml"],
    r"\.php-cs-fixer(?:\.dist)?\.php": [".php-cs-fixer.php", ".php-cs-fixer.dist.php"],
    r"\.php_cs(?:\.dist)?": [".php_cs"],
    r"\.?phpcs\.xml(?:\.dist)?": ["phpcs.xml", ".phpcs.xml.dist"],
    r"psalm\.xml(?:\.dist)?": ["psalm.xml"],
    r"phpstan(?:\.dist)?\.neon(?:\.dist)?": ["phpstan.neon", "phpstan.neon.dist"],
    r"\.ansible-lint(?:\.ya?ml)?": [".ansible-lint"],
    r"(?:babel|postcss|tailwind|svelte|astro|uno|graphql|relay)\.config\.[cm]?[jt]s": ["babel.config.js", "uno.config.ts"],
    r"\.(?:babelrc|postcssrc|graphqlrc)(?:\..*)?": [".babelrc", ".babelrc.json", ".graphqlrc.ts"],
    r"(?:vite|vitest|jest|playwright|cypress)\.config\..*": ["vite.config.ts", "jest.config.json"],
    r"(?:wdio|karma)\.conf(?:ig)?\..*": ["karma.conf.js", "wdio.conf.ts"],
    r"vitest\.workspace\..*": ["vitest.workspace.ts"],
    r"\.(?:mocharc|nycrc)(?:\..*)?": [".mocharc.yml", ".nycrc"],
    r"\.pre-commit-(?:config|hooks)\.ya?ml": [".pre-commit-config.yaml", ".pre-commit-hooks.yml"],
    r"\.?lefthook(?:-local)?\.(?:ya?ml|toml|json)": ["lefthook.yml", ".lefthook-local.toml"],
    r"prek\.toml": ["prek.toml"],
    r"\.(?:huskyrc|lintstagedrc|commitlintrc)(?:\..*)?": [".huskyrc", ".lintstagedrc.json", ".commitlintrc.yml"],
    r"(?:lint-staged|commitlint)\.config\..*": ["lint-staged.config.mjs", "commitlint.config.js"],
    r"\.?simple-git-hooks\..*": [".simple-git-hooks.cjs"],
    r"\.gitlab-ci.*\.ya?ml": [".gitlab-ci.yml", ".gitlab-ci-extra.yaml"],
    r"\.travis\.yml": [".travis.yml"],
    r"azure-pipelines.*\.ya?ml": ["azure-pipelines.yml", "azure-pipelines-release.yaml"],
    r"bitbucket-pipelines\.yml": ["bitbucket-pipelines.yml"],
    r"\.?appveyor\.yml": ["appveyor.yml", ".appveyor.yml"],
    r"\.drone\.(?:yml|jsonnet)": [".drone.yml"],
    r"\.woodpecker\.ya?ml": [".woodpecker.yml"],
    r"\.cirrus\.(?:yml|star)": [".cirrus.star"],
    r"cloudbuild\.ya?ml": ["cloudbuild.yaml"],
    r"jenkinsfile(?:\..*)?": ["Jenkinsfile", "Jenkinsfile.release"],
    r"\.envrc\..*": [".envrc.local"],
    r"\.?mise(?:\..*)?\.toml": ["mise.toml", ".mise.toml", "mise.local.toml"],
    r"\.env\.(?!example|sample|template|dist|defaults|schema).*": [".env.production"],
    r"\.(?:bash|zsh)(?:rc|env|profile|_profile|_login|_logout|_aliases)\W.*": [".bashrc.local", ".zshrc~"],
    r"\.?pnpmfile\.[cm]?js": [".pnpmfile.cjs", "pnpmfile.js"],
    r"\.pnp\.(?:cjs|loader\.mjs|js)": [".pnp.cjs"],
    r".*\.pth": ["x.pth"],
    r"(?:site|user)customize\.py": ["sitecustomize.py", "usercustomize.py"],
}  # fmt: skip
"""Names that each pattern of the table stands for."""


def examples(row: ProtectedNames) -> list[str]:
    match row.kind:
        case "pattern":
            return [example for pattern in row.names.split() for example in EXAMPLES[pattern]]
        case "folder":
            return [f"{name}/x" for name in row.names.split()]
        case _:
            return row.names.split()


@pytest.mark.parametrize("row", TABLE, ids=lambda row: f"{row.kind} {row.why} {row.names.split()[0]}")
def test_every_row_asks_in_every_mode_and_under_every_rule(shared_ws: Scratch, row: ProtectedNames) -> None:
    # P13
    for name in examples(row):
        for path in (name, f"sub/{name}", name.upper()):
            for options in ({"mode": "acceptEdits"}, {"mode": "bypassPermissions"}, {"allow": ["Edit", "Bash"]}):
                decision = shared_ws.decide("Write", {"file_path": path, "content": "x"}, **options)
                assert (decision.decision, decision.step) == ("ask", "ironGate"), (path, options)
            command = shared_ws.bash(f"echo x > '{path}'", mode="bypassPermissions")
            assert (command.decision, command.step) == ("ask", "ironGate"), path


def test_every_pattern_has_examples_that_it_matches() -> None:
    patterns = {pattern for row in TABLE if row.kind == "pattern" for pattern in row.names.split()}
    assert patterns == set(EXAMPLES)
    assert all(re.fullmatch(pattern, name.casefold()) for pattern, names in EXAMPLES.items() for name in names)


def test_names_in_the_table_are_in_lower_case_and_occur_once() -> None:
    names = [(row.kind, name) for row in TABLE for name in row.names.split()]
    assert len(names) == len(set(names))
    assert all(name == name.casefold() for kind, name in names if kind != "pattern")


@pytest.mark.parametrize(("listed", "why"), ORDINARY, ids=lambda value: str(value)[:30])
def test_ordinary_files_are_edited_without_being_asked_about(shared_ws: Scratch, listed: str, why: str) -> None:
    assert why
    for name in listed.split():
        decision = shared_ws.decide("Write", {"file_path": name, "content": "x"}, mode="acceptEdits")
        assert decision.decision == "allow", name


def test_the_page_says_what_the_table_says() -> None:
    assert PAGE.read_text() == page(), "run: PYTHONPATH=tests python -m permissions.protected_page"
