"""The iron gate's one table: which names are asked about whatever rules and modes say, and why, row by row.

A row belongs here when changing the file makes something run, or reach a model, without anybody starting it: an
editor, a shell, git, CI or an agent reads it by itself. What only runs when somebody starts a build or the tests is
ordinary, and stands in `ORDINARY` with the reason. `docs/protected-paths.md` is this table as a page. Data only;
`protected.py` reads it.
"""

from dataclasses import dataclass
from typing import Literal

Kind = Literal["folder", "name", "pair", "pattern"]


@dataclass(frozen=True, slots=True)
class ProtectedNames:
    """`names` are written in lower case: folders and names as they are, pairs as `folder/name`, patterns as one
    regular expression over the last name each."""

    kind: Kind
    why: str
    names: str


_AGENT = "settings of a coding agent"
_CI = "CI: runs with the project's secrets"
_CREDENTIALS = "credentials"
_EDITOR = "run by the editor"
_ENTERED = "run when a directory is entered"
_HOOKS = "git hooks"
_INSTRUCTIONS = "instructions that coding agents follow"
_LINTER = "names plug-ins that editors load to check or format a file"
_PACKAGES = "package manager settings that run programs"
_SHELL = "run by the shell at start"
_START = "run by a tool at start"
_TESTS = "names plug-ins that test runners and the editor's test panel load"

TABLE: tuple[ProtectedNames, ...] = (
    ProtectedNames("folder", "git's own files: hooks and configuration run programs", ".git"),
    ProtectedNames("folder", "Assent's own settings", ".assent"),
    ProtectedNames("pair", "Assent's own settings", ".config/assent"),
    ProtectedNames("pair", "Assent's own data", "share/assent"),
    ProtectedNames(
        "folder",
        _AGENT,
        """
            .claude .codex .gemini .cursor .windsurf .continue .opencode .cline .roo .kiro .amazonq .codeium
            .aider .junie .augment .clinerules .agents .qwen .crush .trae .kilocode .factory .amp .aiassistant
            .tabnine .goose .ona
        """,
    ),
    ProtectedNames(
        "name",
        _AGENT,
        """
            .claude.json opencode.json opencode.jsonc .aider.conf.yml .aider.conf.yaml .roomodes crush.json
            .crush.json
        """,
    ),
    ProtectedNames("name", "MCP servers: programs an agent starts", ".mcp.json mcp.json"),
    ProtectedNames("pattern", "MCP servers: programs an agent starts", r"\.?mcp\.json\W.*"),
    ProtectedNames(
        "name",
        _INSTRUCTIONS,
        """
            assent.md assent.local.md agents.md agents.local.md agents.override.md agent.md claude.md
            claude.local.md gemini.md codex.md qwen.md warp.md crush.md replit.md skill.md .cursorrules
            .windsurfrules .rules .goosehints copilot-instructions.md
        """,
    ),
    ProtectedNames(
        "pair", _INSTRUCTIONS, ".github/instructions .github/prompts .github/chatmodes .github/agents .github/skills"
    ),
    ProtectedNames("pattern", _INSTRUCTIONS, r".*\.(?:instructions|prompt|chatmode|agent)\.md .*\.mdc"),
    ProtectedNames(
        "folder",
        "editor settings: tasks, launch and run files start programs",
        ".vscode .idea .run .zed .fleet .theia .nova",
    ),
    ProtectedNames("folder", "editor settings", ".vscode-server .vs .lapce"),
    ProtectedNames("folder", _EDITOR, ".nvim .vim .emacs.d .helix .devcontainer"),
    ProtectedNames(
        "pattern", "editor settings: tasks and build systems start programs", r".*\.code-workspace .*\.sublime-project"
    ),
    ProtectedNames(
        "name",
        _EDITOR,
        """
            .nvim.lua .lazy.lua .nvimrc .exrc _exrc .vimrc _vimrc .gvimrc .lvimrc .local.vimrc .vimrc.local
            .emacs .dir-locals.el .dir-locals-2.el .neoconf.json .devcontainer.json .luarc.json .luarc.jsonc
            .ycm_extra_conf.py
        """,
    ),
    ProtectedNames("pair", _EDITOR, ".config/nvim .config/emacs .config/helix"),
    ProtectedNames("pair", "editor settings: tasks start programs", ".config/zed code/user"),
    ProtectedNames(
        "name",
        "cloud workspaces run its tasks when they open",
        ".gitpod.yml .gitpod.dockerfile .replit replit.nix .stackblitzrc",
    ),
    ProtectedNames("folder", "cloud workspaces run its tasks when they open", ".codesandbox .gitpod"),
    ProtectedNames(
        "name",
        "tells a language server which program to run",
        """
            rust-analyzer.toml .rust-analyzer.toml hie.yaml .hie-bios .merlin erlang_ls.config omnisharp.json
            .pyre_configuration
        """,
    ),
    ProtectedNames("folder", "tells a language server which program to run", ".bsp .metals .lsp"),
    ProtectedNames(
        "name",
        "annotation processors and builders that the Java language server runs",
        ".factorypath .externaltoolbuilders .project",
    ),
    ProtectedNames("folder", "annotation processors and builders that the Java language server runs", ".settings"),
    ProtectedNames("pattern", _LINTER, r"\.eslintrc(?:\..*)? eslint\.config\..*"),
    ProtectedNames("pattern", _LINTER, r"\.prettierrc(?:\..*)? prettier\.config\..*"),
    ProtectedNames("pattern", _LINTER, r"\.stylelintrc(?:\..*)? stylelint\.config\..*"),
    ProtectedNames("pattern", _LINTER, r"\.(?:remarkrc|textlintrc|markdownlint-cli2)(?:\..*)? \.markdownlint\.[cm]js"),
    ProtectedNames(
        "pattern", _LINTER, r"\.?cspell(?:\.config)?\.[cm]?[jt]s \.rubocop.*\.ya?ml \.golangci\.(?:ya?ml|toml|json)"
    ),
    ProtectedNames("pattern", _LINTER, r"\.php-cs-fixer(?:\.dist)?\.php \.php_cs(?:\.dist)? \.?phpcs\.xml(?:\.dist)?"),
    ProtectedNames(
        "pattern", _LINTER, r"psalm\.xml(?:\.dist)? phpstan(?:\.dist)?\.neon(?:\.dist)? \.ansible-lint(?:\.ya?ml)?"
    ),
    ProtectedNames(
        "name",
        _LINTER,
        """
            .flake8 mypy.ini .mypy.ini .pylintrc pylintrc .sqlfluff .standard.yml .solargraph.yml .formatter.exs
            .credo.exs .perlcriticrc .luacheckrc .tflint.hcl .checkov.yml .checkov.yaml .lintr .oxlintrc.json
            tslint.json analysis_options.yaml steepfile .haml-lint.yml .erb_lint.yml .erb-lint.yml .slim-lint.yml
        """,
    ),
    ProtectedNames(
        "pattern",
        "code that language servers and editor extensions run",
        r"(?:babel|postcss|tailwind|svelte|astro|uno|graphql|relay)\.config\.[cm]?[jt]s "
        r"\.(?:babelrc|postcssrc|graphqlrc)(?:\..*)?",
    ),
    ProtectedNames(
        "pattern",
        "code that the editor's test panel runs",
        r"(?:vite|vitest|jest|playwright|cypress)\.config\..* (?:wdio|karma)\.conf(?:ig)?\..* vitest\.workspace\..*",
    ),
    ProtectedNames(
        "name", "run by pytest, and so by the editor's test panel, before any test is chosen", "conftest.py"
    ),
    ProtectedNames("pattern", _TESTS, r"\.(?:mocharc|nycrc)(?:\..*)?"),
    ProtectedNames("name", _TESTS, "pytest.ini .pytest.ini .coveragerc .rspec .taprc .proverc .busted"),
    ProtectedNames("folder", "Mercurial's own files: hooks run programs", ".hg"),
    ProtectedNames("folder", "Subversion's own files", ".svn"),
    ProtectedNames("folder", "Bazaar's own files: plugins run programs", ".bzr"),
    ProtectedNames("folder", "Jujutsu's own files: its settings run programs", ".jj"),
    ProtectedNames("pair", "settings that run programs", ".config/jj"),
    ProtectedNames("name", "git settings that run programs", ".gitconfig .gitmodules .lfsconfig .hgrc"),
    ProtectedNames("pair", "git settings: hooks and aliases run programs", ".config/git"),
    ProtectedNames("folder", _HOOKS, ".husky .githooks .git-hooks .lefthook .lefthook-local"),
    ProtectedNames("pair", _HOOKS, ".config/husky"),
    ProtectedNames(
        "pattern",
        _HOOKS,
        r"\.pre-commit-(?:config|hooks)\.ya?ml \.?lefthook(?:-local)?\.(?:ya?ml|toml|json) prek\.toml",
    ),
    ProtectedNames(
        "pattern", _HOOKS, r"\.(?:huskyrc|lintstagedrc|commitlintrc)(?:\..*)? (?:lint-staged|commitlint)\.config\..*"
    ),
    ProtectedNames("pattern", _HOOKS, r"\.?simple-git-hooks\..*"),
    ProtectedNames("name", _HOOKS, ".overcommit.yml captainhook.json .czrc .cz.json"),
    ProtectedNames("pair", _CI, ".github/workflows .github/actions .gitea/workflows .forgejo/workflows .gitlab/ci"),
    ProtectedNames("folder", _CI, ".circleci .buildkite .woodpecker .teamcity .tekton .ci .semaphore .harness"),
    ProtectedNames(
        "pattern",
        _CI,
        r"\.gitlab-ci.*\.ya?ml \.travis\.yml azure-pipelines.*\.ya?ml bitbucket-pipelines\.yml \.?appveyor\.yml "
        r"\.drone\.(?:yml|jsonnet) \.woodpecker\.ya?ml \.cirrus\.(?:yml|star) cloudbuild\.ya?ml jenkinsfile(?:\..*)?",
    ),
    ProtectedNames("name", _CI, "buildspec.yml codefresh.yml wercker.yml .semaphore.yml bitrise.yml codemagic.yaml"),
    ProtectedNames(
        "name",
        "the host runs its build commands at the next push",
        "netlify.toml vercel.json .readthedocs.yml .readthedocs.yaml render.yaml heroku.yml",
    ),
    ProtectedNames("folder", _ENTERED, ".mise .direnv .devenv .shadowenv.d"),
    ProtectedNames("pair", _ENTERED, ".config/direnv .config/mise mise/config.toml"),
    ProtectedNames(
        "name",
        _ENTERED,
        """
            .envrc .direnvrc .env .env.local .rtx.toml .rvmrc .rbenv-vars .asdfrc .tool-versions flake.nix
            default.nix shell.nix devenv.nix devenv.yaml devbox.json .autoenv .autoenv.zsh .autoenv.leave
            .autoenv_leave.zsh
        """,
    ),
    ProtectedNames("pattern", _ENTERED, r"\.envrc\..* \.?mise(?:\..*)?\.toml"),
    ProtectedNames("pattern", _CREDENTIALS, r"\.env\.(?!example|sample|template|dist|defaults|schema).*"),
    ProtectedNames(
        "name",
        _SHELL,
        """
            .bashrc .bash_profile .bash_login .bash_logout .bash_aliases .profile .zshrc .zshenv .zprofile
            .zlogin .zlogout .kshrc .mkshrc .cshrc .tcshrc .login .inputrc .xinitrc .xprofile .xsession
            .xsessionrc .pam_environment config.fish
        """,
    ),
    ProtectedNames("pattern", _SHELL, r"\.(?:bash|zsh)(?:rc|env|profile|_profile|_login|_logout|_aliases)\W.*"),
    ProtectedNames("folder", _SHELL, ".oh-my-zsh .zsh .bashrc.d"),
    ProtectedNames("pair", _SHELL, ".config/fish"),
    ProtectedNames(
        "pair", "run at login", ".config/systemd .config/autostart .config/environment.d library/launchagents"
    ),
    ProtectedNames("pair", "programs on the search path", ".local/bin"),
    ProtectedNames("folder", "SSH keys and settings", ".ssh"),
    ProtectedNames("folder", "keys", ".gnupg"),
    ProtectedNames("folder", _CREDENTIALS, ".aws .azure .kube .docker .gcloud .password-store"),
    ProtectedNames("pair", _CREDENTIALS, ".cargo/credentials.toml .config/gh .config/gcloud"),
    ProtectedNames(
        "name",
        _CREDENTIALS,
        """
            .netrc _netrc .pgpass .my.cnf .git-credentials .pypirc .htpasswd authorized_keys authorized_keys2
            id_rsa id_dsa id_ecdsa id_ed25519 .vault-token .dockercfg .dockerconfigjson .terraformrc
        """,
    ),
    ProtectedNames("folder", "build settings that run code", ".mvn .gradle"),
    ProtectedNames("pair", "build settings that run programs", ".cargo/config .cargo/config.toml tools/bazel"),
    ProtectedNames("pair", "build settings that run code", "wrapper/gradle-wrapper.properties"),
    ProtectedNames("folder", "package manager code", ".yarn"),
    ProtectedNames("folder", _PACKAGES, ".bundle"),
    ProtectedNames(
        "name",
        _PACKAGES,
        """
            .npmrc .yarnrc .yarnrc.yml .yarnrc.yaml .pnpmrc pnpm-workspace.yaml pip.conf uv.toml .condarc
            .bunfig.toml bunfig.toml .bazelrc .bazeliskrc .buckconfig nuget.config
        """,
    ),
    ProtectedNames("pattern", _PACKAGES, r"\.?pnpmfile\.[cm]?js \.pnp\.(?:cjs|loader\.mjs|js)"),
    ProtectedNames("pair", _PACKAGES, ".config/pip .config/nix .config/uv"),
    ProtectedNames("folder", "run by Python at start", ".ipython"),
    ProtectedNames("folder", "run by notebooks at start", ".jupyter"),
    ProtectedNames("folder", "run by Julia at start", ".julia"),
    ProtectedNames("pattern", "run by Python at start", r".*\.pth (?:site|user)customize\.py"),
    ProtectedNames(
        "name",
        _START,
        """
            .gdbinit .lldbinit .pdbrc .pythonrc .pythonrc.py .irbrc .pryrc .rprofile .sqliterc .psqlrc
            .tmux.conf .screenrc .wgetrc .curlrc .ripgreprc .ackrc .mailcap .lesskey rust-toolchain
            rust-toolchain.toml .watchmanconfig .tigrc .ghci .ocamlinit .mailrc crontab .renviron .octaverc
            .juliarc.jl .erlang .iex.exs .byebugrc .sbtopts .jvmopts .ansible.cfg ansible.cfg init.gradle
            .flaskenv
        """,
    ),
)

ORDINARY: tuple[tuple[str, str], ...] = (
    (
        "package.json Makefile justfile Rakefile Taskfile.yml",
        "what an agent is asked to edit; runs when somebody starts a script",
    ),
    (
        "pyproject.toml setup.cfg tox.ini setup.py noxfile.py",
        "the project's own build files; run when somebody builds or tests",
    ),
    ("test_x.py build.rs", "source code of the project, reviewed as code like the modules and crates beside it"),
    (
        "Cargo.toml go.mod pom.xml build.gradle CMakeLists.txt Gemfile",
        "build files: what they run is the project itself",
    ),
    ("Dockerfile docker-compose.yml", "run when somebody builds or starts the container"),
    (
        "webpack.config.js rollup.config.mjs next.config.js nuxt.config.ts",
        "code, but only the build that somebody starts runs it",
    ),
    ("tsconfig.json jsconfig.json", "may only name plug-ins by package name, which come through package.json"),
    (
        "ruff.toml .editorconfig pyrightconfig.json .isort.cfg rustfmt.toml biome.json .clang-format",
        "plain values; names nothing that runs",
    ),
    (".gitattributes .gitignore", "may only name drivers that git's own configuration defines"),
    ("README.md CONTRIBUTING.md docs/agents.txt", "read by people; no agent takes it for instructions by itself"),
    (".env.example", "a template without secrets, loaded by nothing"),
)
"""Files that look like the above and are not behind the gate: names, and why."""
