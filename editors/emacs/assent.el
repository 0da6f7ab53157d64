;;; assent.el --- A coding agent that acts with your assent  -*- lexical-binding: t; -*-

;; Version: 0.2.0
;; Package-Requires: ((emacs "29.1"))
;; Keywords: tools, convenience

;;; Commentary:

;; Put this file on your `load-path', then:
;;
;;   (require 'assent)
;;   (setq assent-command '("/path/to/assent" "serve" "--stdio"))  ; unless it is on your PATH
;;
;; M-x assent opens the chat of the current project.  Edits that wait for you show in the
;; buffers themselves; C-c . a accepts the one at point, C-c . r rejects it, C-c . n goes to
;; the next.  Asks and questions wait until you call M-x assent-answer (C-c C-a in the chat):
;; nothing pops up, and the minibuffer is never taken.
;;
;; It speaks JSON-RPC through the library that eglot brings, beside whatever server eglot has
;; for your files.  Buffers of the project are shown to the agent as they are, unsaved text
;; included, and changed only through Emacs, on the undo list.

;;; Code:

(require 'assent-form)
(require 'cl-lib)
(require 'diff-mode)
(require 'eglot)
(require 'jsonrpc)
(require 'project)
(require 'ring)

(defgroup assent nil "A coding agent that acts with your assent." :group 'tools)

(defcustom assent-command '("assent" "serve" "--stdio")
  "How to start the server."
  :type '(repeat string))

(defface assent-hint '((t :inherit shadow)) "What can be done about a hunk.")
(defface assent-heading '((t :inherit bold)) "Who speaks, in the chat.")

(defvar assent--connection nil "The server, or nil.")
(defvar assent--sessions (make-hash-table :test #'equal) "Chat buffers by session.")
(defvar assent--proposals (make-hash-table :test #'equal) "Proposals by id.")
(defvar assent--history (make-ring 100))

(defvar-local assent--session nil "The session of this chat.")
(defvar-local assent--attached nil "Whether events of it come.")
(defvar-local assent--opening nil "What to do once the session that was asked for is there, the first first.")
(defvar-local assent--state "idle")
(defvar-local assent--mode "")
(defvar-local assent--asks nil "What waits for an answer: (ASK-ID . TITLE), the oldest first.")
(defvar-local assent--end nil "Where the conversation ends and the prompt begins.")
(defvar-local assent--calls nil "Tool calls on the screen: (ID . MARKER) at the end of each one's line.")
(defvar-local assent--speaking nil "Whether the heading of the answer stands there.")
(defvar-local assent--streamed nil "Blocks of this turn whose text came in pieces.")
(defvar-local assent--past nil "Where one is in what was sent before.")

;;; The connection

(defclass assent-connection (jsonrpc-process-connection) ()
  "The connection to the server.")

(defun assent--uri (file)
  "FILE as a URI."
  (funcall (if (fboundp 'eglot-path-to-uri) 'eglot-path-to-uri 'eglot--path-to-uri) file))

(defun assent--file (uri)
  "The file that URI names."
  (funcall (if (fboundp 'eglot-uri-to-path) 'eglot-uri-to-path 'eglot--uri-to-path) uri))

(defun assent--root ()
  "The folder of the current project."
  (expand-file-name (if-let ((project (project-current))) (project-root project) default-directory)))

(defun assent--running ()
  "The server, if it runs."
  (and assent--connection (jsonrpc-running-p assent--connection) assent--connection))

(defun assent--program (root)
  "The server's program, found outside ROOT: no project brings it along."
  (let ((exec-path (seq-filter (lambda (folder)
                                 (and folder (file-name-absolute-p folder)
                                      (or (file-in-directory-p "~" root) (not (file-in-directory-p folder root)))))
                               exec-path)))
    (executable-find (car assent-command))))

(defun assent--environment ()
  "Emacs's environment without what tells Python where its modules are."
  (seq-remove (lambda (variable) (string-prefix-p "PYTHON" variable)) process-environment))

(defun assent--start ()
  "Start the server unless it runs, and return the connection."
  (or (assent--running)
      (let* ((root (assent--root))
             (program (assent--program root))
             (connection nil))
        (unless program
          (user-error "%s was not found outside this project; install Assent, or set `assent-command'"
                      (car assent-command)))
        (setq connection
              (make-instance
               'assent-connection
               :name "assent"
               :events-buffer-config '(:size 0)
               :notification-dispatcher #'assent--told
               :request-dispatcher #'assent--asked
               :on-shutdown #'assent--ended
               :process (lambda ()
                          (let ((default-directory "/")  ; nobody's project
                                (process-environment (assent--environment)))
                            (make-process :name "assent" :command (cons program (cdr assent-command))
                                          :connection-type 'pipe :coding 'utf-8-emacs-unix :noquery t
                                          :stderr (get-buffer-create " *assent stderr*"))))))
        (jsonrpc-request
         connection :initialize
         `(:processId ,(emacs-pid)
           :rootUri ,(assent--uri root)
           :workspaceFolders [(:uri ,(assent--uri root) :name ,(file-name-nondirectory (directory-file-name root)))]
           :capabilities (:workspace (:applyEdit t :workspaceEdit (:documentChanges t))
                          :general (:positionEncodings ["utf-16"]))
           :initializationOptions (:assent (:client (:review t :save t :partials t :answersLater t))))
         :timeout 60)
        (jsonrpc-notify connection :initialized eglot--{})
        (setq assent--connection connection)
        (dolist (buffer (buffer-list)) (with-current-buffer buffer (assent--open-document)))
        connection)))

(defun assent--ended (&rest _)
  "The server is gone; what waits is taken up again with the next command."
  (setq assent--connection nil)
  (maphash (lambda (_ buffer)
             (when (buffer-live-p buffer)
               (with-current-buffer buffer
                 (setq assent--attached nil assent--asks nil assent--opening nil)
                 (assent--set-state "disconnected"))))
           assent--sessions))

(defun assent--request (method params &optional done failed)
  "Ask the server METHOD with PARAMS; DONE gets the result later.
FAILED is called if there is none."
  (let ((connection (assent--start)))
    (assent--flush)
    (jsonrpc-async-request
     connection method params :timeout 600
     :success-fn (or done #'ignore)
     :error-fn (lambda (err) (when failed (funcall failed)) (message "Assent: %s" (plist-get err :message)))
     :timeout-fn (lambda () (when failed (funcall failed)) (message "Assent: no answer to %s" method)))))

(defun assent--asked (_connection method params)
  "Answer the request METHOD with PARAMS of the server."
  (pcase method
    ('workspace/applyEdit (assent--apply (plist-get params :edit)))
    ('assent/editor/save (assent--save (append (plist-get params :uris) nil)))
    (_ (jsonrpc-error :code -32601 :message "not here"))))

(defun assent--told (_connection method params)
  "Hear the notification METHOD with PARAMS of the server."
  (pcase method
    ('assent/session/event
     (let ((buffer (gethash (plist-get params :sessionId) assent--sessions)))
       (when (buffer-live-p buffer)
         (with-current-buffer buffer (assent--event (plist-get params :event) params)))))
    ('window/showMessage
     (unless (assent--waiting-chat)  ; which says so itself, and names the command that answers here
       (message "%s" (plist-get params :message))))))

;;; Documents: the server sees them as they are

(defvar-local assent--version nil "Of the text the server knows; nil when it was not told of it.")
(defvar-local assent--dirty nil "Whether the text changed since.")

(defun assent--document ()
  "How the server names this buffer."
  (list :uri (assent--uri buffer-file-name) :version assent--version))

(defun assent--text ()
  "All of this buffer's text."
  (save-restriction (widen) (buffer-substring-no-properties (point-min) (point-max))))

(defun assent--open-document ()
  "Show this buffer to the server, if it is a file."
  (when (and (assent--running) buffer-file-name (not assent--version) (not (file-remote-p buffer-file-name)))
    (setq assent--version 1 assent--dirty nil)
    (jsonrpc-notify assent--connection :textDocument/didOpen
                    `(:textDocument (,@(assent--document) :languageId "" :text ,(assent--text))))
    (add-hook 'after-change-functions #'assent--changed nil t)
    (add-hook 'after-save-hook #'assent--saved nil t)
    (add-hook 'after-revert-hook #'assent--draw-here nil t)
    (add-hook 'kill-buffer-hook #'assent--close-document nil t))
  (when (and buffer-file-name (> (hash-table-count assent--proposals) 0)) (assent--draw-here)))

(defun assent--close-document ()
  "This buffer goes."
  (when (and assent--version (assent--running))
    (jsonrpc-notify assent--connection :textDocument/didClose
                    `(:textDocument (:uri ,(assent--uri buffer-file-name))))))

(defvar assent--timer nil)

(defun assent--changed (&rest _)
  "Remember that the text changed; the server is told when one pauses."
  (setq assent--dirty t)
  (unless assent--timer
    (setq assent--timer (run-with-idle-timer 0.2 nil #'assent--flush))))

(defun assent--flush ()
  "Tell the server every text that changed."
  (when assent--timer (cancel-timer assent--timer) (setq assent--timer nil))
  (when (assent--running)
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer
        (when (and assent--version assent--dirty)
          (setq assent--dirty nil assent--version (1+ assent--version))
          (jsonrpc-notify assent--connection :textDocument/didChange
                          `(:textDocument ,(assent--document) :contentChanges [(:text ,(assent--text))])))))))

(defun assent--saved ()
  "This buffer was saved."
  (when (assent--running)
    (assent--flush)
    (jsonrpc-notify assent--connection :textDocument/didSave
                    `(:textDocument (:uri ,(assent--uri buffer-file-name))))))

(add-hook 'find-file-hook #'assent--open-document)

(defun assent--position (place)
  "The position of PLACE, which counts columns in UTF-16."
  (save-restriction
    (widen)
    (save-excursion
      (goto-char (point-min))
      (forward-line (plist-get place :line))
      (let ((left (plist-get place :character)))
        (while (and (> left 0) (not (eolp)))
          (setq left (- left (if (> (char-after) #xffff) 2 1)))
          (forward-char)))
      (point))))

(defun assent--apply (edit)
  "Carry out the workspace EDIT, in buffers that have the text it was made for."
  (let ((changes (append (plist-get edit :documentChanges) nil)))
    (assent--flush)
    (if (cl-some (lambda (change)
                   (let* ((document (plist-get change :textDocument))
                          (buffer (find-buffer-visiting (assent--file (plist-get document :uri))))
                          (version (plist-get document :version)))
                     (or (not buffer)
                         (with-current-buffer buffer
                           (or buffer-read-only (and version (not (eql version assent--version))))))))
                 changes)
        '(:applied :json-false :failureReason "the buffer has changed meanwhile")
      (dolist (change changes)
        (with-current-buffer (find-buffer-visiting (assent--file (plist-get (plist-get change :textDocument) :uri)))
          (undo-boundary)
          (let ((places (mapcar (lambda (each)
                                  (let ((range (plist-get each :range)))
                                    (list (copy-marker (assent--position (plist-get range :start)))
                                          (copy-marker (assent--position (plist-get range :end)))
                                          (plist-get each :newText))))
                                (plist-get change :edits))))
            (save-excursion
              (save-restriction
                (widen)
                (pcase-dolist (`(,beg ,end ,text) (nreverse places))
                  (goto-char beg)
                  (delete-region beg end)
                  (insert text)))))
          (undo-boundary)))
      (assent--flush)
      '(:applied t))))

(defun assent--save (uris)
  "Save the buffers of URIS, as the server asks before it runs a command."
  (let (saved failed)
    (dolist (uri uris)
      (let ((buffer (find-buffer-visiting (assent--file uri))))
        (condition-case err
            (with-current-buffer buffer
              (unless (verify-visited-file-modtime buffer) (error "Its file was changed by another program"))
              (let ((inhibit-message t)) (save-buffer))
              (push uri saved))
          (error (push (list :uri uri :message (error-message-string err)) failed)))))
    (list :saved (vconcat saved) :failed (vconcat failed))))

;;; The chat

(defvar-keymap assent-mode-map
  "C-c C-c" #'assent-send
  "C-c C-k" #'assent-stop
  "C-c C-a" #'assent-answer
  "C-c C-n" #'assent-next-hunk
  "M-p" #'assent-previous-prompt
  "M-n" #'assent-next-prompt)

(define-derived-mode assent-mode text-mode "Assent"
  "A conversation with Assent.  The prompt is at its end; \\[assent-send] sends it."
  (visual-line-mode 1)
  (setq mode-line-process '(:eval (assent--status-words))))

(defun assent--status-words ()
  "What goes on, for the mode line."
  (format " %s%s" assent--state
          (if assent--asks (format ", asks: %s" (substitute-command-keys "\\<assent-mode-map>\\[assent-answer]")) "")))

(defun assent--set-state (state)
  "Show STATE."
  (setq assent--state state)
  (force-mode-line-update))

(defun assent--put (text &optional face)
  "Add TEXT with FACE to the conversation; the prompt and point stay as they are."
  (let ((inhibit-read-only t)
        (following (>= (point) assent--end))
        (buffer-undo-list t))
    (save-excursion
      (goto-char assent--end)
      (let ((began (point)))
        (insert-before-markers text)
        (add-text-properties began (point) `(read-only t front-sticky (read-only) rear-nonsticky t ,@(when face (list 'face face))))))
    (when following
      (dolist (window (get-buffer-window-list nil nil t))
        (set-window-point window (max (window-point window) assent--end))))))

(defun assent--block (text &optional face)
  "Add TEXT with FACE as a paragraph of its own."
  (let ((before (if (> assent--end (point-min)) (buffer-substring-no-properties (max (point-min) (- assent--end 2)) assent--end) "\n\n")))
    (assent--put (concat (cond ((string-suffix-p "\n\n" before) "") ((string-suffix-p "\n" before) "\n") (t "\n\n")))))
  (assent--put text face))

(defun assent--answering ()
  "Put the heading of the answer, once."
  (unless assent--speaking
    (setq assent--speaking t)
    (assent--block "## Assent\n\n" 'assent-heading)))

(defun assent--words (content)
  "The text of CONTENT, a string or blocks."
  (if (stringp content) content
    (mapconcat (lambda (block) (or (plist-get block :text) "")) content "")))

(defun assent--call-state (id words)
  "Say WORDS at the end of the line of the call ID."
  (when-let ((marker (cdr (assoc id assent--calls))))
    (let ((inhibit-read-only t) (buffer-undo-list t))
      (save-excursion
        (goto-char marker)
        (delete-region (point) (line-end-position))
        (insert (propertize (concat "  " words) 'read-only t 'face 'shadow))))))

(defun assent--event (event params)
  "Show EVENT of this chat's session, which came with PARAMS."
  (unless (and (plist-get params :parentToolUseId)
               (not (string-match-p "\\`\\(permission\\|elicitation\\)" (plist-get event :type))))
    (pcase (plist-get event :type)
      ("turnStarted"
       (setq assent--speaking nil assent--streamed nil)
       (assent--block "## You\n\n" 'assent-heading)
       (assent--put (concat (assent--words (plist-get event :prompt)) "\n")))
      ("textDelta"
       (cl-pushnew (plist-get event :blockId) assent--streamed :test #'equal)
       (assent--answering)
       (assent--put (plist-get event :text)))
      ("message"  ; whole, as commands are answered; what the model says came in pieces before
       (let ((words (assent--words (plist-get event :content))))
         (when (and (equal (plist-get event :role) "assistant") (memq (plist-get event :meta) '(nil :json-false))
                    (not (string-empty-p words)) (not (member (plist-get event :id) assent--streamed)))
           (assent--answering)
           (assent--block (concat words "\n")))))
      ("toolStarted"
       (assent--answering)
       (let ((command (plist-get (plist-get event :input) :command)))
         (assent--block (format "- %s" (string-trim (plist-get event :title))))
         (let ((line-end (marker-position assent--end)))
           (assent--put (if (stringp command) (concat "\n  $ " (string-replace "\n" "\n    " command) "\n") "\n"))
           (push (cons (plist-get event :toolUseId) (copy-marker line-end)) assent--calls))))
      ("toolFinished"
       (assent--call-state (plist-get event :toolUseId)
                           (concat (if (eq (plist-get event :isError) t) "✗ " "✓ ")
                                   (car (split-string (or (plist-get event :summary) "") "\n")))))
      ("permissionPending"
       (setq assent--asks (append assent--asks (list (cons (plist-get event :askId) (plist-get event :title)))))
       (message "Assent asks: %s (M-x assent-answer)" (plist-get event :title)))
      ("elicitationPending"
       (setq assent--asks (append assent--asks (list (cons (plist-get event :elicitId) (plist-get event :message)))))
       (message "Assent has a question: %s (M-x assent-answer)" (plist-get event :message)))
      ((or "permissionResolved" "elicitationResolved")
       (setq assent--asks (assoc-delete-all (or (plist-get event :askId) (plist-get event :elicitId)) assent--asks)))
      ((or "editProposed" "editUpdated" "editResolved") (assent--proposed (plist-get event :proposal)))
      ("status"
       (setq assent--mode (or (plist-get event :mode) assent--mode))
       (assent--set-state (plist-get event :state)))
      ("compactSoon"
       (assent--block (format "› The conversation has %s tokens. At %s, %s.\n" (plist-get event :tokens)
                              (plist-get event :threshold) (plist-get event :wouldGo))))
      ("notice" (assent--block (concat "› " (plist-get event :text) "\n")))
      ("turnFinished"
       (setq assent--speaking nil)
       (let ((result (plist-get event :result)))
         (when (eq (plist-get result :isError) t)
           (assent--block (format "Stopped (%s) %s\n" (plist-get result :terminal) (plist-get result :result))))
         (assent--put "\n"))))
    (force-mode-line-update)))

(defun assent--chat-of (folder)
  "The chat of FOLDER, if there is one."
  (cl-find-if (lambda (buffer)
                (with-current-buffer buffer (and (derived-mode-p 'assent-mode) (equal default-directory folder))))
              (buffer-list)))

;;;###autoload
(defun assent ()
  "Open the chat of the current project."
  (interactive)
  (let* ((root (file-name-as-directory (assent--root)))
         (buffer (or (assent--chat-of root)
                     (generate-new-buffer (format "*assent: %s*" (file-name-nondirectory (directory-file-name root)))))))
    (pop-to-buffer buffer)
    (unless (derived-mode-p 'assent-mode)
      (setq default-directory root)
      (assent-mode)
      (setq assent--end (copy-marker (point-min) t))
      (assent--put "Write below; C-c C-c sends, C-c C-a answers what is asked, C-c C-k stops.\n\n" 'shadow)
      (set-marker-insertion-type assent--end nil)
      (goto-char (point-max)))
    (assent--with-session #'ignore)
    buffer))

(defun assent--with-session (then)
  "Have a live session in this chat, and call THEN in its buffer."
  (let ((buffer (current-buffer)))
    (if (and assent--attached (assent--running))
        (funcall then)
      ;; Asked for once, however often it is wanted before the answer comes: a second one would be another session.
      (unless (prog1 assent--opening (setq assent--opening (append assent--opening (list then))))
        (condition-case err
            (if assent--session
                (assent--request :assent/session/attach (list :sessionId assent--session)
                                 (lambda (answer) (assent--attached-to buffer answer))
                                 (lambda () (assent--not-opened buffer)))
              (assent--request :assent/session/new (list :cwd (directory-file-name default-directory))
                               (lambda (answer) (assent--opened buffer answer))
                               (lambda () (assent--not-opened buffer))))
          ((error quit)
           (setq assent--opening nil)
           (signal (car err) (cdr err))))))))

(defun assent--opened (buffer answer)
  "The session that ANSWER describes is new, and the one of BUFFER."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq assent--session (plist-get answer :sessionId) assent--attached t
            assent--mode (plist-get answer :mode))
      (puthash assent--session buffer assent--sessions)
      (assent--go-on))))

(defun assent--attached-to (buffer answer)
  "Go on in BUFFER with the session that ANSWER describes."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq assent--attached t
            assent--asks (append (mapcar (lambda (ask) (cons (plist-get ask :askId) (plist-get ask :title)))
                                         (plist-get answer :pendingAsks))
                                 (mapcar (lambda (question) (cons (plist-get question :elicitId) (plist-get question :message)))
                                         (plist-get answer :pendingElicits))))
      (seq-do #'assent--proposed (plist-get answer :proposals))
      (assent--go-on))))

(defun assent--go-on ()
  "Do what waited for the session of this chat, in order."
  (let ((waiting assent--opening))
    (setq assent--opening nil)
    (mapc #'funcall waiting)))

(defun assent--not-opened (buffer)
  "The session of BUFFER did not come; the next command asks for it again."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer (setq assent--opening nil))))

(defun assent--prompt ()
  "What stands in the prompt."
  (string-trim (buffer-substring-no-properties assent--end (point-max))))

(defun assent--set-prompt (text)
  "Put TEXT into the prompt."
  (delete-region assent--end (point-max))
  (goto-char (point-max))
  (insert text))

(defun assent-send ()
  "Send what stands in the prompt."
  (interactive nil assent-mode)
  (let ((text (assent--prompt)))
    (unless (string-empty-p text)
      (ring-insert assent--history text)
      (setq assent--past nil)
      (assent--set-prompt "")
      (assent--with-session
       (lambda ()
         (assent--request :assent/session/send
                          (list :sessionId assent--session :prompt text
                                :whenBusy (if (equal assent--state "idle") "queue" "steer"))))))))

(defun assent-stop ()
  "Stop the turn that runs."
  (interactive nil assent-mode)
  (when assent--session
    (assent--request :assent/session/interrupt (list :sessionId assent--session))))

(defun assent-previous-prompt (&optional step)
  "Put what was sent before into the prompt; STEP says how far."
  (interactive nil assent-mode)
  (unless (ring-empty-p assent--history)
    (setq assent--past (+ (or assent--past -1) (or step 1)))
    (if (< assent--past 0)
        (progn (setq assent--past nil) (assent--set-prompt ""))
      (assent--set-prompt (ring-ref assent--history assent--past)))))

(defun assent-next-prompt ()
  "Put what was sent after into the prompt."
  (interactive nil assent-mode)
  (assent-previous-prompt -1))

;;;###autoload
(defun assent-ask-region (beg end question)
  "Ask QUESTION about the lines from BEG to END, in the chat of the project."
  (interactive "r\nsAsk about these lines: ")
  (unless buffer-file-name (user-error "This buffer has no file; save it first"))
  (let ((mention (list :uri (assent--uri buffer-file-name)
                       :range (list :start (list :line (1- (line-number-at-pos beg t)) :character 0)
                                    :end (list :line (line-number-at-pos (max beg (1- end)) t) :character 0)))))
    (with-current-buffer (assent)
      (assent--with-session
       (lambda ()
         (assent--request :assent/session/send
                          (list :sessionId assent--session :prompt question :mentions (vector mention))))))))

;;; Asks: in the minibuffer, and only when called

(defun assent--waiting-chat ()
  "A chat in which something waits for an answer, this one first."
  (cl-find-if (lambda (buffer) (buffer-local-value 'assent--asks buffer))
              (cons (current-buffer) (seq-filter #'buffer-live-p (hash-table-values assent--sessions)))))

(defun assent--describe (ask)
  "Everything about ASK, in words."
  (let ((command (plist-get ask :command)) (proposal (plist-get ask :proposal)))
    (concat (plist-get ask :title) "\n" (plist-get ask :reason) "\n"
            (when command (concat "\n$ " (or (plist-get command :display) (plist-get command :text)) "\n"))
            (when proposal
              (mapconcat (lambda (hunk)
                           (concat "\n@@ line " (number-to-string (1+ (plist-get (plist-get (plist-get hunk :range) :start) :line))) "\n"
                                   (assent--prefixed "-" (plist-get hunk :oldText))
                                   (assent--prefixed "+" (plist-get hunk :newText))))
                         (plist-get proposal :hunks) ""))
            (unless (or command proposal) (format "\n%S\n" (plist-get ask :input))))))

(defun assent--prefixed (sign text)
  "TEXT with SIGN before every line."
  (if (string-empty-p text) ""
    (mapconcat (lambda (line) (concat sign line "\n")) (split-string (string-remove-suffix "\n" text) "\n") "")))

;;;###autoload
(defun assent-answer ()
  "Answer the oldest ask that waits.  All of it is shown first."
  (interactive)
  (let ((chat (or (assent--waiting-chat) (user-error "Nothing waits for an answer"))))
    (with-current-buffer chat
      (let* ((id (caar assent--asks))
             (answer (jsonrpc-request (assent--start) :assent/session/attach (list :sessionId assent--session) :timeout 60))
             (ask (seq-find (lambda (each) (equal (plist-get each :askId) id)) (plist-get answer :pendingAsks)))
             (question (seq-find (lambda (each) (equal (plist-get each :elicitId) id)) (plist-get answer :pendingElicits))))
        (cond
         (question (assent--answer-question question))
         ((not ask)
          (setq assent--asks (assoc-delete-all id assent--asks))
          (message "That was answered elsewhere, or its turn has ended"))
         (t
          (save-window-excursion
            (assent--show-ask (assent--describe ask))
            (assent--reply ask))))))))

(defun assent--show-ask (text)
  "Show TEXT, all that is asked, while it is answered in the minibuffer."
  (with-current-buffer (get-buffer-create "*assent ask*")
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert text)
      (diff-mode)
      (goto-char (point-min))
      (setq buffer-read-only t))
    (display-buffer (current-buffer))))

(defun assent--choose (question)
  "Read the answer to QUESTION, a list: of its options, or in other words."
  (let* ((options (append (plist-get question :options) nil))
         (completion-extra-properties
          (list :annotation-function
                (lambda (label)
                  (let ((about (plist-get (seq-find (lambda (each) (equal label (plist-get each :label))) options) :description)))
                    (if (and about (not (string-empty-p about))) (concat "  " about) "")))))
         (labels (mapcar (lambda (each) (plist-get each :label)) options))
         (prompt (concat (plist-get question :question) " ")))
    (or (delete "" (if (eq (plist-get question :multiSelect) t)
                       (completing-read-multiple prompt labels)
                     (list (completing-read prompt labels))))
        (user-error "Nothing was chosen; it goes on waiting"))))

(defun assent--answer-question (question)
  "Read the answer to QUESTION and send it.  Quitting leaves it waiting."
  (let ((asked (append (plist-get question :questions) nil)) (schema (plist-get question :schema)))
    (cond
     (asked
      (let ((answers (mapcan (lambda (each)
                               (list (intern (concat ":" (plist-get each :id))) (vconcat (assent--choose each))))
                             asked)))
        (assent--send-answer question "accept" (list :answers answers))))
     (t (save-window-excursion
          (assent--show-ask (concat (plist-get question :message) "\n" (plist-get question :url)))
          (if (plist-get schema :properties)
              (condition-case nil
                  (assent--fill-form question)
                (quit (assent--leave question)))
            (assent--leave question "accept" (if (plist-get question :url) "open" "accept"))))))))

(defun assent--send-answer (question action &optional content)
  "Answer QUESTION with ACTION and CONTENT."
  (jsonrpc-request
   (assent--start) :workspace/executeCommand
   (list :command "assent.answerAsk"
         :arguments (vector (list :sessionId assent--session :elicitId (plist-get question :elicitId)
                                  :answer (list :action action :content (or content eglot--{})))))
   :timeout 60))

(defun assent--fill-form (question)
  "Ask for the fields of QUESTION until the server takes them."
  (let (given problems)
    (while
        (condition-case refused
            (progn
              (setq given (assent-form-read (plist-get question :schema) given problems))
              (assent--send-answer question "accept" given)
              nil)
          (jsonrpc-error
           (setq problems (plist-get (alist-get 'jsonrpc-error-data (cddr refused)) :problems))
           (or problems (signal (car refused) (cdr refused))))))))

(defun assent--leave (question &optional action name)
  "Ask what becomes of QUESTION, which has no fields to fill in now.
ACTION, called NAME, can be chosen beside a no."
  (let ((choice (car (read-multiple-choice
                      "Your answer?"
                      `((?w "wait" "It goes on waiting") (?d "decline" "Say no")
                        (?c "cancel" "Give no answer at all")
                        ,@(when action `((?y ,name "Say yes"))))))))
    (pcase choice
      (?d (assent--send-answer question "decline"))
      (?c (assent--send-answer question "cancel"))
      (?y (when-let ((url (plist-get question :url)))
            (unless (string-match-p "\\`https?://" url) (user-error "That is no page of the web; it is not opened"))
            (browse-url url))
          (assent--send-answer question action))
      (_ (message "It goes on waiting")))))

(defun assent--reply (ask)
  "Read an answer to ASK and send it."
  (let* ((suggestion (and (> (length (plist-get ask :suggestions)) 0) (aref (plist-get ask :suggestions) 0)))
         (rule (plist-get suggestion :rule))
         (named (or (plist-get suggestion :display) rule))
         (rules (if (plist-get suggestion :rules) (list :rules (plist-get suggestion :rules)) (list :rule rule)))
         (choice (car (read-multiple-choice
                       "Allow this?"
                       `((?n "no" "Deny it") (?y "yes" "Allow it once") (?r "no, because" "Deny it with a reason")
                         ,@(when rule `((?a "always" ,(format "Allow %s in this project" named)))))))))
    (jsonrpc-request
     (assent--start) :assent/permission/answer
     `(:askId ,(plist-get ask :askId)
       ,@(pcase choice
           (?y '(:decision "allow" :scope "once"))
           (?a `(:decision "allow" :scope "project" ,@rules))
           (?r `(:decision "deny" :message ,(read-string "Why not? ")))
           (_ '(:decision "deny"))))
     :timeout 60)))

;;; Review: hunks in the buffers themselves

(defvar-keymap assent-review-mode-map
  "C-c . a" #'assent-accept
  "C-c . r" #'assent-reject
  "C-c . n" #'assent-next-hunk
  "C-c . p" #'assent-previous-hunk
  "C-c . !" #'assent-accept-buffer)

(define-minor-mode assent-review-mode
  "On while this buffer has hunks to decide."
  :lighter " Review")

(defun assent--proposed (proposal)
  "PROPOSAL is new, or has changed."
  (when proposal
    (puthash (plist-get proposal :proposalId) proposal assent--proposals)
    (when-let ((buffer (find-buffer-visiting (assent--file (plist-get proposal :uri)))))
      (with-current-buffer buffer
        (unless (or (buffer-modified-p) (verify-visited-file-modtime buffer))
          (revert-buffer t t t))
        (assent--draw-here)))))

(defun assent--open-hunks (&optional uri)
  "Hunks that can be decided, of URI or of all files: (PROPOSAL . HUNK), in order."
  (let (found)
    (maphash (lambda (_ proposal)
               (when (or (not uri) (equal uri (plist-get proposal :uri)))
                 (seq-do (lambda (hunk)
                           (when (eq (plist-get hunk :open) t) (push (cons proposal hunk) found)))
                         (plist-get proposal :hunks))))
             assent--proposals)
    (sort found (lambda (a b)
                  (let ((one (plist-get (car a) :uri)) (other (plist-get (car b) :uri)))
                    (if (equal one other) (< (assent--line (cdr a)) (assent--line (cdr b))) (string< one other)))))))

(defun assent--line (hunk)
  "The first line of HUNK, counted from 0."
  (plist-get (plist-get (plist-get hunk :range) :start) :line))

(defun assent--landed-p (hunk)
  "Whether HUNK is in the text already."
  (member (plist-get hunk :state) '("landed" "edited")))

(defun assent--draw-here ()
  "Draw the hunks of this buffer."
  (save-restriction
    (widen)
    (remove-overlays (point-min) (point-max) 'assent t)
    (let ((places (and buffer-file-name (assent--open-hunks (assent--uri buffer-file-name)))))
      (assent-review-mode (if places 1 -1))
      (pcase-dolist (`(,proposal . ,hunk) places)
        (let* ((range (plist-get hunk :range))
               (beg (assent--position (plist-get range :start)))
               (end (assent--position (plist-get range :end)))
               (overlay (make-overlay beg end)))
          (overlay-put overlay 'assent t)
          (overlay-put overlay 'assent-place (cons proposal hunk))
          (overlay-put overlay 'face (if (assent--landed-p hunk) 'diff-added 'diff-removed))
          (overlay-put overlay 'after-string (assent--hint hunk end)))))))

(defun assent--hint (hunk end)
  "What stands after HUNK, which ends at END: its new text, and what can be done."
  (let* ((landed (assent--landed-p hunk))
         (new (plist-get hunk :newText))
         (keys (substitute-command-keys
                (format "\\<assent-review-mode-map>\\[assent-accept] %s · \\[assent-reject] %s"
                        (if landed "keep" "accept") (if landed "take back" "reject")))))
    (concat (unless (or (= end (point-min)) (eq (char-before end) ?\n)) "\n")
            (unless landed (propertize (if (or (string-empty-p new) (string-suffix-p "\n" new)) new (concat new "\n")) 'face 'diff-added))
            (propertize (format "▲ Assent %s · %s\n" (plist-get hunk :state) keys) 'face 'assent-hint))))

(defun assent--hunk-at-point ()
  "The overlay of the hunk at point, or of the one that begins on this line."
  (or (seq-find (lambda (overlay) (overlay-get overlay 'assent))
                (append (overlays-at (point)) (overlays-in (line-beginning-position) (min (point-max) (1+ (line-end-position))))))
      (user-error "No hunk is here; M-x assent-next-hunk goes to one")))

(defvar assent--shown nil "The hunk that was too large for its window and was shown in one of its own.")

(defun assent--seen-p (overlay)
  "Whether all of OVERLAY's hunk is on the screen; what is not is shown now."
  (let* ((hunk (cdr (overlay-get overlay 'assent-place)))
         (id (plist-get hunk :hunkId))
         (rows (+ 2 (length (split-string (plist-get hunk :oldText) "\n")) (length (split-string (plist-get hunk :newText) "\n")))))
    (cond
     ((or (assent--landed-p hunk) (equal assent--shown id)) t)
     ((< rows (window-body-height))
      (let ((first (line-number-at-pos (window-start))) (line (line-number-at-pos (overlay-start overlay))))
        (or (and (>= line first) (<= (+ (- line first) rows) (window-body-height)))
            (progn (goto-char (overlay-start overlay)) (recenter 0)
                   (message "Not all of this hunk was on the screen; here it is. Once more accepts it")
                   nil))))
     (t (setq assent--shown id)
        (with-current-buffer (get-buffer-create "*assent hunk*")
          (let ((inhibit-read-only t))
            (erase-buffer)
            (insert (assent--prefixed "-" (plist-get hunk :oldText)) (assent--prefixed "+" (plist-get hunk :newText)))
            (diff-mode)
            (setq buffer-read-only t)
            (goto-char (point-min)))
          (display-buffer (current-buffer)))
        (message "This hunk is larger than its window; here it is. Once more accepts it")
        nil))))

(defun assent--resolve (proposal decisions)
  "Send DECISIONS about PROPOSAL."
  (assent--request :assent/edit/resolve
                   (list :proposalId (plist-get proposal :proposalId) :decisions decisions)
                   (lambda (answer) (assent--proposed (plist-get answer :proposal)))))

(defun assent--decide (overlay decision)
  "Send DECISION about the hunk of OVERLAY."
  (pcase-let ((`(,proposal . ,hunk) (overlay-get overlay 'assent-place)))
    (assent--resolve proposal (vector (list :hunkId (plist-get hunk :hunkId) :decision decision)))))

(defun assent-accept ()
  "Accept the hunk at point.  One that is not on the screen is shown instead."
  (interactive)
  (let ((overlay (assent--hunk-at-point)))
    (when (assent--seen-p overlay)
      (assent--decide overlay "accept"))))

(defun assent-reject ()
  "Reject the hunk at point, or take it back if it has landed."
  (interactive)
  (assent--decide (assent--hunk-at-point) "reject"))

(defun assent-accept-buffer ()
  "Accept every hunk of this buffer."
  (interactive)
  (dolist (proposal (delete-dups (mapcar #'car (assent--open-hunks (assent--uri buffer-file-name)))))
    (assent--resolve proposal '(:all "accept"))))

(defun assent-next-hunk (&optional back)
  "Go to the next hunk, across files; with BACK to the previous one."
  (interactive)
  (let* ((places (if back (reverse (assent--open-hunks)) (assent--open-hunks)))
         (here (and buffer-file-name (assent--uri buffer-file-name)))
         (line (1- (line-number-at-pos nil t)))
         (beyond (lambda (place)
                   (let ((uri (plist-get (car place) :uri)) (at (assent--line (cdr place))))
                     (cond ((not here) t)
                           ((equal uri here) (if back (< at line) (> at line)))
                           (t (if back (string< uri here) (string< here uri)))))))
         (place (or (seq-find beyond places) (car places) (user-error "There is nothing to review"))))
    (unless (equal (plist-get (car place) :uri) here)
      (pop-to-buffer (find-file-noselect (assent--file (plist-get (car place) :uri)))))
    (push-mark nil t)
    (goto-char (assent--position (plist-get (plist-get (cdr place) :range) :start)))))

(defun assent-previous-hunk ()
  "Go to the previous hunk."
  (interactive)
  (assent-next-hunk t))

(provide 'assent)
;;; assent.el ends here
