"""The ways to install that `:help assent-recipes` and the README name, as far as they can be had offline: each in a fresh Neovim.

Plugin managers and completion plugins are in no package registry, so what they do is done here by hand: a folder below
`pack`, a `runtimepath` that names the subfolder or gets it late, and Neovim's own `vim.pack` on a clone of a repository.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from nvimscreen import ROOT, program

pytestmark = pytest.mark.editor

PLUGIN = ROOT / "editors" / "neovim"
README = ROOT / "README.md"
SAYS = """
local helped = pcall(vim.cmd.help, "assent-review")
io.write(vim.inspect({ command = vim.fn.exists(":Assent"), helped = helped, loaded = package.loaded["assent.client"] ~= nil }))
vim.cmd("qa!")
"""
THERE = "{\n  command = 2,\n  helped = true,\n  loaded = false\n}"


def run(version: str, folder: Path, init: str) -> str:
    """What a Neovim with this configuration says of the plugin, once it has started."""
    homes = {f"XDG_{name}_HOME": str(folder / name.lower()) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), **homes, "GIT_CONFIG_GLOBAL": str(folder / "gitconfig")}
    (folder / "init.lua").write_text(
        init + f"vim.api.nvim_create_autocmd('VimEnter', {{ callback = function() {SAYS} end }})"
    )
    argv = [program(version), "--headless", "-u", str(folder / "init.lua"), "-i", "NONE", "-n"]
    done = subprocess.run(
        argv, env=env, cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, text=True, check=False, timeout=60
    )
    return done.stdout + done.stderr


@pytest.mark.parametrize("version", ["0.10", "0.12"])
def test_a_package_folder_is_enough(version: str, tmp_path: Path) -> None:
    package = tmp_path / "data" / "nvim" / "site" / "pack" / "assent" / "start" / "assent"
    package.parent.mkdir(parents=True)
    package.symlink_to(PLUGIN)
    assert run(version, tmp_path, "") == THERE


@pytest.mark.parametrize("version", ["0.10", "0.12"])
def test_a_runtime_path_that_names_the_subfolder_is_enough(version: str, tmp_path: Path) -> None:
    assert run(version, tmp_path, f"vim.opt.rtp:prepend([[{PLUGIN}]])\n") == THERE


def readme(manager: str) -> str:
    """The lines of the README for this plugin manager."""
    found = re.search(
        rf"^-- {re.escape(manager)}[^\n]*\n(.*?)^(?:$|```)", README.read_text(encoding="utf-8"), re.M | re.S
    )
    assert found is not None, manager
    return found[1]


def test_a_runtime_path_that_grows_while_plugins_load_needs_the_line_that_the_recipe_has(tmp_path: Path) -> None:
    """What packer's compiled file does: it is a plugin itself, so Neovim does not look into what it adds."""
    compiled = tmp_path / "config" / "nvim" / "plugin" / "packer_compiled.lua"
    compiled.parent.mkdir(parents=True)
    grows = f'vim.o.runtimepath = vim.o.runtimepath .. ",{PLUGIN}"\n'
    compiled.write_text(grows)
    assert "command = 0" in run("0.12", tmp_path, "")
    line = 'vim.cmd.runtime("plugin/assent.lua")'
    assert line in readme("packer")
    compiled.write_text(grows + line)
    assert run("0.12", tmp_path, "") == THERE


def test_the_readmes_lines_for_vim_pack_take_a_repository_whose_plugin_is_in_a_subfolder(tmp_path: Path) -> None:
    origin = tmp_path / "repository"
    shutil.copytree(PLUGIN, origin / "editors" / "neovim")
    who = ["-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "init.defaultBranch=main"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "All of it"]):
        subprocess.run(["git", *who, *words], cwd=origin, check=True)
    unasked = "local add = vim.pack.add\nvim.pack.add = function(specs) add(specs, { confirm = false }) end\n"
    assert THERE in run("0.12", tmp_path, unasked + readme("vim.pack").replace("REPOSITORY", f"file://{origin}"))


def test_the_readmes_lines_for_lazy_nvim_and_packer_load_the_subfolder(tmp_path: Path) -> None:
    lazy = f"local spec = {readme('lazy.nvim')}\nassert(spec.lazy == false)\nspec.config({{ dir = [[{ROOT}]] }})\n"
    assert run("0.12", tmp_path, lazy) == THERE
    use = f"local function use(spec) vim.opt.rtp:prepend([[{ROOT}/]] .. spec.rtp) end\n"
    assert run("0.12", tmp_path, use + readme("packer")) == THERE


def test_a_status_line_plugin_may_ask_before_anything_is_used(tmp_path: Path) -> None:
    line = "require('assent').statusline() == '' and require('assent').counts().hunks == 0"
    init = f"vim.opt.rtp:prepend([[{PLUGIN}]])\nassert({line})\n"
    assert run("0.12", tmp_path, init) == THERE
