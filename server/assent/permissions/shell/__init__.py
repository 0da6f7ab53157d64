"""What a shell line would do: its syntax, the tables of programs that only read, and the judgement."""
