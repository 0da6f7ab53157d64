"""The prompt of `assent chat`: line editing, history, several lines, completion of @ and /. Built on prompt_toolkit.

Imported only for a real terminal, in a thread while the server starts. What a person typed is kept in a file of their
own, as shells do; the library is told not to ask the terminal where its cursor is, which some answer late or never.
"""

import sys
from collections.abc import AsyncGenerator, Awaitable, Callable, Collection
from pathlib import Path

from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion
from prompt_toolkit.document import Document
from prompt_toolkit.filters import is_searching
from prompt_toolkit.formatted_text import ANSI
from prompt_toolkit.history import FileHistory
from prompt_toolkit.input import create_input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.output.vt100 import Vt100_Output
from prompt_toolkit.patch_stdout import patch_stdout

from assent.cli.chat.terminal import LeftPrompt
from assent.text.visible import visible
from assent.types.blocks import Json
from assent.types.private_files import create_private, private_folder

Complete = Callable[[str, int], Awaitable[list[Json]]]
"""(text, offset): the items of `assent/complete`."""


class LineEditor:
    def __init__(self, history: Path, complete: Complete, status: Callable[[], str]) -> None:
        _own_file(history)
        output = Vt100_Output.from_pty(sys.stdout, enable_bell=False)
        output.enable_cpr = False
        self._input = create_input(sys.stdin)
        self._output = output
        self._prompts: PromptSession[str] = PromptSession(
            history=FileHistory(str(history)),
            completer=_Mentions(complete),
            complete_while_typing=False,
            auto_suggest=AutoSuggestFromHistory(),
            key_bindings=_prompt_keys(),
            multiline=False,
            prompt_continuation="  ",
            rprompt=status,  # a toolbar below would need to know where the cursor is
            input=self._input,
            output=output,
            enable_open_in_editor=True,
            enable_suspend=True,
            reserve_space_for_menu=4,
        )

    async def prompt(self, words: str) -> str | None:
        """What the person wants; None when they leave with Ctrl-D. Raises LeftPrompt on Ctrl-C with nothing typed."""
        try:
            with patch_stdout(raw=True):
                return await self._prompts.prompt_async(ANSI(words), handle_sigint=False)
        except EOFError:
            return None
        except KeyboardInterrupt:
            raise LeftPrompt from None

    async def line(self, words: str, *, text: str = "", lines: bool = False) -> str | None:
        """One answer, perhaps of several lines; None when there is none. Raises LeftPrompt on Ctrl-C."""
        return await self._asked(words, _submit_keys() if lines else KeyBindings(), text=text, lines=lines)

    async def key(self, words: str, keys: Collection[str]) -> str | None:
        """One of the keys, without Enter; None at the end of input. Raises LeftPrompt on Ctrl-C."""
        bindings = KeyBindings()

        def answer(event: KeyPressEvent) -> None:
            event.current_buffer.text = event.data.lower()
            event.app.exit(result=event.data.lower())

        def nothing(_event: KeyPressEvent) -> None: ...

        for ignored in ("<any>", "enter", Keys.BracketedPaste, "c-r", "c-s", "c-q"):
            bindings.add(ignored)(nothing)
        for key in {*keys, *(each.upper() for each in keys)}:
            bindings.add(key)(answer)
        return await self._asked(words, bindings)

    def forget_typed(self) -> None:
        """Drop the keys that the library read beyond the end of the prompt before."""
        clear_typeahead(self._input)

    async def _asked(self, words: str, keys: KeyBindings, *, text: str = "", lines: bool = False) -> str | None:
        """In a session of its own: the library keeps keys and text from one question to the next."""
        asking: PromptSession[str] = PromptSession(input=self._input, output=self._output, enable_suspend=True)
        try:
            with patch_stdout(raw=True):  # other calls may report while the person thinks
                return await asking.prompt_async(
                    ANSI(words), default=text, multiline=lines, key_bindings=keys, handle_sigint=False
                )
        except EOFError:
            return None
        except KeyboardInterrupt:
            raise LeftPrompt from None


class _Mentions(Completer):
    """@ and / as the server completes them. A slow or broken answer offers nothing."""

    def __init__(self, complete: Complete) -> None:
        self._complete = complete

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> list[Completion]:
        return []

    async def get_completions_async(
        self, document: Document, complete_event: CompleteEvent
    ) -> AsyncGenerator[Completion, None]:
        before = document.text_before_cursor
        word = before.rsplit(maxsplit=1)[-1] if before and not before[-1].isspace() else ""
        if not word.startswith(("@", "/")):
            return
        for item in await self._complete(document.text, document.cursor_position):
            yield Completion(
                str(item["insertText"]),
                start_position=-len(word),
                display=visible(str(item["label"])),
                display_meta=visible(str(item["detail"])),
            )


def _prompt_keys() -> KeyBindings:
    keys = KeyBindings()

    def new_line(event: KeyPressEvent) -> None:
        event.current_buffer.insert_text("\n")

    def enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None  # Enter takes what is chosen; the next one sends
        elif buffer.document.text_before_cursor.endswith("\\"):
            buffer.delete_before_cursor()
            buffer.insert_text("\n")
        else:
            buffer.validate_and_handle()

    def clear(event: KeyPressEvent) -> None:
        if event.current_buffer.text:
            event.current_buffer.reset()
        else:
            event.app.exit(exception=KeyboardInterrupt)

    def begin(event: KeyPressEvent) -> None:
        """@ and / open their lists by themselves, where they begin a word."""
        buffer = event.current_buffer
        first = not buffer.document.text_before_cursor or buffer.document.text_before_cursor[-1].isspace()
        buffer.insert_text(event.data)
        if first and (event.data == "@" or buffer.document.text_before_cursor == "/"):
            buffer.start_completion(select_first=False)

    keys.add("escape", "enter")(new_line)
    keys.add("enter")(enter)
    keys.add("c-c", filter=~is_searching)(clear)
    keys.add("@")(begin)
    keys.add("/")(begin)
    return keys


def _submit_keys() -> KeyBindings:
    """In a text of several lines Enter is a new line, and Ctrl-S or Alt-Enter are done."""
    keys = KeyBindings()

    def done(event: KeyPressEvent) -> None:
        event.current_buffer.validate_and_handle()

    keys.add("c-s")(done)
    keys.add("escape", "enter")(done)
    return keys


def _own_file(path: Path) -> None:
    private_folder(path.parent)
    with open(path, "ab", opener=create_private):
        pass
