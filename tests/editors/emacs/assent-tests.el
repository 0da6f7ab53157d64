;;; assent-tests.el --- The package in a real Emacs, with the real server  -*- lexical-binding: t; -*-

;; Run by tests/editors/test_emacs.py, which starts Emacs in a project with greeter.py in it.

;;; Code:

(require 'ert)
(require 'assent)

(setq native-comp-enable-subr-trampolines nil)  ; what stands in for a primitive would be compiled first

(defun tests-wait (what condition)
  "Wait until CONDITION holds; WHAT says for what."
  (let ((deadline (+ (float-time) 100)))
    (while (not (funcall condition))
      (when (> (float-time) deadline)
        (error "Waited for %s; the chat:\n%s" what
               (mapconcat (lambda (b) (with-current-buffer b (buffer-substring-no-properties (point-min) (point-max))))
                          (seq-filter #'buffer-live-p (hash-table-values assent--sessions)) "\n")))
      (accept-process-output nil 0.05))))

(defun tests-send (prompt)
  "Send PROMPT in a new chat of this project, and return its buffer."
  (mapc #'kill-buffer (seq-filter #'buffer-live-p (hash-table-values assent--sessions)))
  (let ((chat (save-window-excursion (assent))))
    (with-current-buffer chat
      (tests-wait "a session" (lambda () assent--attached))
      (goto-char (point-max))
      (insert prompt)
      (assent-send))
    chat))

(defun tests-overlays ()
  "What the hunks of this buffer show after their lines."
  (mapcar (lambda (overlay) (overlay-get overlay 'after-string))
          (sort (seq-filter (lambda (overlay) (overlay-get overlay 'assent)) (overlays-in (point-min) (point-max)))
                (lambda (a b) (< (overlay-start a) (overlay-start b))))))

(defmacro tests-in-greeter (&rest body)
  "Run BODY in the buffer of greeter.py, with every proposal forgotten."
  `(with-current-buffer (find-file-noselect "greeter.py")
     (clrhash assent--proposals)
     ,@body))

(ert-deftest hunks-show-in-the-buffer-and-are-decided-one-by-one ()
  (tests-in-greeter
   (let ((chat (tests-send "replace 'Helo' by 'Hello' in greeter.py")))
     (tests-wait "two hunks" (lambda () (= 2 (length (tests-overlays)))))
     (should (string-match-p "return \"Hello\"" (car (tests-overlays))))
     (should (string-match-p "accept · .* reject" (car (tests-overlays))))
     (should assent-review-mode)
     (set-window-buffer nil (current-buffer))
     (goto-char (point-min))
     (assent-next-hunk)
     (should (= 2 (line-number-at-pos)))
     (cl-letf (((symbol-function 'window-body-height) (lambda (&rest _) 40)))
       (assent-accept))
     (tests-wait "the first hunk" (lambda () (string-match-p "\"Hello\"" (buffer-string))))
     (should (string-match-p "\"Helo and bye\"" (buffer-string)))
     (assent-next-hunk)
     (assent-reject)
     (tests-wait "the end of the turn"
                 (lambda () (with-current-buffer chat (and (equal assent--state "idle")
                                                           (string-match-p "1 of 2 hunks accepted" (buffer-string))))))
     (should-not (tests-overlays))
     (should-not assent-review-mode)
     (should-not (buffer-local-value 'assent--asks chat))
     (undo-boundary)
     (primitive-undo 2 buffer-undo-list)
     (should (string-match-p "\"Helo\"" (buffer-string))))))  ; on the undo list, like anything else

(ert-deftest an-ask-waits-until-it-is-called-and-is-shown-whole-before-it-is-answered ()
  (let ((chat (tests-send "run `touch made`")) shown)
    (tests-wait "the ask" (lambda () (buffer-local-value 'assent--asks chat)))
    (should-not (file-exists-p "made"))
    (cl-letf (((symbol-function 'read-multiple-choice)
               (lambda (_ choices)
                 (should (equal ?n (caar choices)))  ; what comes first is never a yes
                 (setq shown (with-current-buffer "*assent ask*" (buffer-string)))
                 (assq ?y choices))))
      (assent-answer))
    (should (string-match-p "\\$ touch made" shown))
    (tests-wait "the command" (lambda () (file-exists-p "made")))
    (tests-wait "the end" (lambda () (equal "idle" (buffer-local-value 'assent--state chat))))
    (should (string-match-p "## You\n\nrun `touch made`" (with-current-buffer chat (buffer-string))))))

(ert-deftest a-denied-ask-runs-nothing-and-says-why ()
  (let ((chat (tests-send "run `touch never`")))
    (tests-wait "the ask" (lambda () (buffer-local-value 'assent--asks chat)))
    (cl-letf (((symbol-function 'read-multiple-choice) (lambda (_ choices) (assq ?r choices)))
              ((symbol-function 'read-string) (lambda (&rest _) "not on my machine")))
      (assent-answer))
    (tests-wait "the end" (lambda () (equal "idle" (buffer-local-value 'assent--state chat))))
    (should-not (file-exists-p "never"))))

(ert-deftest unsaved-text-is-what-the-agent-changes ()
  (tests-in-greeter
   (goto-char (point-max))
   (insert "# Heilo\n")
   (let ((chat (tests-send "replace 'Heilo' by 'Hello' in greeter.py")))
     (tests-wait "the hunk" #'tests-overlays)
     (assent-accept-buffer)
     (tests-wait "the end" (lambda () (equal "idle" (buffer-local-value 'assent--state chat))))
     (should (string-suffix-p "# Hello\n" (buffer-string)))
     (should (buffer-modified-p)))))

(ert-deftest what-is-sent-before-the-session-is-there-goes-to-one-session-in-order ()
  (mapc #'kill-buffer (seq-filter #'buffer-live-p (hash-table-values assent--sessions)))
  (let ((before (hash-table-keys assent--sessions))
        (chat (save-window-excursion (assent))))
    (with-current-buffer chat
      (should-not assent--attached)  ; or this shows nothing
      (dolist (prompt '("hello to the first" "hello to the second"))
        (goto-char (point-max))
        (insert prompt)
        (assent-send))
      (tests-wait "both" (lambda () (and (equal assent--state "idle")
                                         (string-match-p "hello to the first[^~]*hello to the second" (buffer-string)))))
      (should (= 1 (length (seq-difference (hash-table-keys assent--sessions) before))))
      (should-not assent--opening))))

;;; assent-tests.el ends here
