"""StructuredOutput: the answer itself, as data that matches a JSON schema (Q10, T10)."""

from collections.abc import Callable
from typing import Any, ClassVar, cast

from assent.tools.tool import Input, Tool, ToolContext, ToolOutput
from assent.types.blocks import Json
from assent.types.errors import ToolError
from assent.types.permissions import Action

_FAULTS = 5


class StructuredOutput(Tool[Input]):
    """Made with the caller's schema. Its parsed input is the answer as it stands, not a struct of ours."""

    name: ClassVar[str] = "StructuredOutput"
    input_type: ClassVar[type[Input]] = Input

    def __init__(self, schema: Json, *, check: Callable[[Json], None] | None = None) -> None:
        """Raises ToolError for a schema that is none, or that does not describe an object.

        `check` raises ValueError for an answer that fits the schema and is still not what the caller's type takes.
        """
        import jsonschema
        from jsonschema.validators import validator_for  # pyright: ignore[reportUnknownVariableType] -- it has no types

        kind = cast("Any", validator_for)(schema, default=jsonschema.Draft202012Validator)
        try:
            kind.check_schema(schema)
        except jsonschema.SchemaError as error:
            raise ToolError(f"The JSON schema is not valid: {error.message}") from None
        if schema.get("type", "object") != "object":
            raise ToolError("The JSON schema must describe an object")
        self._schema: Json = {"type": "object", **schema}
        self._validator: Any = kind(schema)
        self._check = check

    def description(self) -> str:
        return (
            "Give your final answer by calling this, once, when the work is done. The input is the answer; it must "
            "match the schema exactly, and is checked against it."
        )

    def input_schema(self) -> Json:
        return self._schema

    def parse(self, raw: object) -> Input:
        if not isinstance(raw, dict):
            raise ToolError("The answer must be a JSON object")
        faults = sorted(self._validator.iter_errors(raw), key=lambda fault: list(map(str, fault.absolute_path)))
        if faults:
            told = "\n".join(f"- {fault.json_path}: {fault.message[:500]}" for fault in faults[:_FAULTS])
            more = f"\n- and {len(faults) - _FAULTS} more" if len(faults) > _FAULTS else ""
            raise ToolError(f"The answer does not match the schema:\n{told}{more}\nCorrect it and call again")
        if self._check is not None:
            try:
                self._check(cast("Json", raw))
            except ValueError as error:
                raise ToolError(f"The answer is not valid: {str(error)[:500]}\nCorrect it and call again") from None
        return cast("Input", raw)

    def title(self, input: Input) -> str:
        return "Answer"

    def action(self, input: Input, *, cwd: str) -> Action:
        return Action(tool=self.name, input=cast("Json", input), harmless=True)

    async def call(self, input: Input, ctx: ToolContext) -> ToolOutput:
        return ToolOutput(content="The answer matches the schema.", summary="answered", stop_turn=True)
