;;; zero-plugin.el --- Assent through eglot, with no plugin  -*- lexical-binding: t; -*-

;; Emacs 29 or later, with the eglot that comes with it.  Put this into your init file if you
;; want chat documents only; assent.el beside it is the package with a chat and a review.
;; Open a file that ends in .assent.md, write under "## You", and send with
;; M-x eglot-code-actions RET Assent: Send.

;;; Code:

(require 'eglot)

(defvar assent-command '("assent" "serve" "--stdio")
  "How to start the server.")

(define-derived-mode assent-chat-mode text-mode "Assent"
  "A conversation with Assent."
  (visual-line-mode 1))

(put 'assent-chat-mode 'eglot-language-id "markdown")
(add-to-list 'auto-mode-alist '("\\.assent\\.md\\'" . assent-chat-mode))
(add-hook 'assent-chat-mode-hook #'eglot-ensure)

;; Eglot gives a buffer one server.  Modes named here share the chat's, so that the
;; agent sees their unsaved text and edits them through Emacs, on the undo list.
(add-to-list 'eglot-server-programs
             `((assent-chat-mode) . ,(lambda (&rest _) assent-command)))

;; Eglot tells a server of a change once Emacs is idle.  After an answer in the minibuffer
;; Emacs counts as idle only with the next key, and until then the rest of Assent's words
;; would wait: so what Assent itself has changed is told at once.
(cl-defmethod eglot-handle-request :after (server (_method (eql workspace/applyEdit)) &rest _)
  "Tell SERVER how its edit has changed the buffers, without waiting for a pause."
  (dolist (buffer (eglot--managed-buffers server))
    (when (buffer-live-p buffer)
      (with-current-buffer buffer (eglot--signal-textDocument/didChange)))))

(define-key assent-chat-mode-map (kbd "C-c C-c") #'eglot-code-actions)

(provide (quote assent-zero-plugin))
;;; zero-plugin.el ends here
