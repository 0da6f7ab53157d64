"""The sentences and diagrams of docs/protocol.md that no struct can say."""

INTRODUCTION = """<!-- Written by `make protocol` from server/assent/wire. Do not edit. -->
# The wire

Assent is a language server (`assent serve --stdio`) with methods of its own, whose names begin with `assent/`. This
page describes them all; the structs in `server/assent/wire` are the source. Everything else is LSP 3.18, and any
LSP client works without these methods.

- `initialize` answers `capabilities.experimental.assent = {protocol, methods, features}`. Call only methods listed
  there.
- The client may send `initializationOptions.assent` (see InitializationOptions). What it does not claim in `client`
  falls back to plain LSP. Events go to clients that sent these options or called a session method.
- Unknown fields are ignored in both directions. A field of the wrong type is refused with `invalidParams`, whose
  data has the `path` of the field. Optional fields are marked with `?` and are left out when they have no value.
- Ranges use the negotiated position encoding. Ids are strings of at most 12 characters where the server makes them.
- The answers to `session/new` and `session/send` come before any event that names their id. Events of a session are
  numbered from 1 without gaps, per `epoch` (one server process).

## Display text

Titles, reasons, `covers`, a call's `summary`, the texts of a question, and every `display`, `oldDisplay` and
`newDisplay`, are text for people: characters that cannot be seen or that turn the reading direction are spelled out
as `⟨U+202E⟩`.
Show these and render nothing yourself. A `display` field stands beside a text that must stay exact because it runs
or goes back as an answer; where it is absent, that text can be shown as it is.

## Decisions on hunks

A hunk with `open: true` can still be decided; use this flag instead of a list of states. A decision may name
`lines` of a hunk: unselected old lines stay, unselected new ones are dropped, and the hunk becomes `edited`. A
client that claims `client.editMoved` gets `editMoved` instead of `editUpdated` when only ranges changed, at most 20
a second; hunks that are not named in it stand where they stood. A replay always has `editUpdated`.
"""

DIAGRAMS = """## A turn

```mermaid
sequenceDiagram
  participant C as Client
  participant S as Server
  C->>S: assent/session/send {sessionId, prompt}
  S-->>C: {turnId, queued: false}
  S--)C: turnStarted
  S--)C: status running
  S--)C: stepStarted
  S--)C: textDelta, textDelta, …
  S--)C: toolPreparing, toolStarted, toolFinished
  S--)C: message (the closed blocks and the tool's result)
  S--)C: usage
  S--)C: turnFinished {result}
  S--)C: status idle
```

With `wait: true` the answer to the send comes last, with the same result.

## An ask

```mermaid
sequenceDiagram
  participant A as Client A
  participant S as Server
  participant B as Client B
  S--)A: permissionPending {askId}
  S--)B: permissionPending {askId}
  S->>A: assent/permission/ask {requestId: r1, askId}
  S->>B: assent/permission/ask {requestId: r2, askId}
  B-->>S: {decision: allow}
  S--)A: assent/withdrawn {requestId: r1}
  S--)A: permissionResolved {askId, decision, by}
  S--)B: permissionResolved {askId, decision, by}
  S--)A: toolStarted
  S--)B: toolStarted
```

An answer that is not a decision is a deny. A client that goes away leaves the ask open.

## A review

```mermaid
sequenceDiagram
  participant C as Client
  participant S as Server
  S--)C: editProposed {proposal}
  S->>C: assent/permission/ask {requestId, proposal}
  C--)S: textDocument/didChange (the user types beside it)
  S--)C: editMoved {proposalId, version, hunks}
  C->>S: assent/edit/resolve {proposalId, version, decisions}
  S->>C: workspace/applyEdit
  C--)S: textDocument/didChange (the text is there)
  C-->>S: {applied: true}
  S--)C: editResolved {proposalId, decisions, proposal}
  S-->>C: {proposal, refused, report}
  S--)C: assent/withdrawn {requestId}
```

The first of the ask's answer and the decision on the last hunk counts.

## An attach

```mermaid
sequenceDiagram
  participant C as Client
  participant S as Server
  C->>S: assent/session/attach {sessionId, epoch, afterSeq: 41}
  alt same epoch, and event 42 is still known
    S-->>C: {reset: false, lastSeq: 57, messages: []}
    S--)C: events 42 to 57
  else
    S-->>C: {reset: true, lastSeq: 57, messages: the newest page}
  end
  S--)C: events from 58 on, live
  S->>C: assent/permission/ask (every open one, again)
```
"""
