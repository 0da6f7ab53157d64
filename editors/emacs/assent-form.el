;;; assent-form.el --- A form, asked field by field in the minibuffer  -*- lexical-binding: t; -*-

;;; Commentary:

;; A flat JSON schema describes the form, as MCP servers ask for it.  Who asks, and what the
;; answer is for, is not known here.  The server checks the answer: a value that does not fit
;; is passed on as it was typed, and what is wrong with it comes back as a reason.

;;; Code:

(require 'cl-lib)
(require 'crm)
(require 'seq)
(require 'subr-x)

(defconst assent-form--skip "Leave it empty" "The choice that gives an optional field no value.")

(defun assent-form--plain (words)
  "WORDS of a server on one line."
  (string-trim (replace-regexp-in-string "[[:cntrl:]]+" " " (format "%s" words))))

(defun assent-form--prompt (name field required problem)
  "How to ask for FIELD, called NAME: what is wrong with it is PROBLEM.
Unless it is REQUIRED, it may stay empty."
  (let* ((title (plist-get field :title))
         (notes (list (plist-get field :description) problem (unless (or required problem) "may stay empty")))
         (said (mapcar #'assent-form--plain (delq nil notes))))
    (concat (assent-form--plain (if (member title '(nil "")) name title))
            (when said (format " (%s)" (string-join said "; "))))))

(defun assent-form--choices (field)
  "What FIELD allows, as (LABEL . VALUE), or nil where anything can be typed."
  (let ((values (plist-get field :enum)) (names (plist-get field :enumNames)))
    (cond
     ((equal (plist-get field :type) "boolean") '(("yes" . t) ("no" . :json-false)))
     ((vectorp values)
      (seq-map-indexed
       (lambda (value at) (cons (assent-form--plain (if (< at (length names)) (aref names at) value)) value))
       values))
     (t (seq-keep
         (lambda (option)
           (when (plist-member option :const)
             (cons (assent-form--plain (or (plist-get option :title) (plist-get option :const)))
                   (plist-get option :const))))
         (or (plist-get field :oneOf) (plist-get field :anyOf)))))))

(defun assent-form--pick (prompt choices now required)
  "Read one of CHOICES with PROMPT; it is NOW this.  Nil: it stays empty.
Only what is not REQUIRED offers that."
  (let* ((skip (unless required (list assent-form--skip)))
         (first (or (car (rassoc now choices)) (car skip))))
    (cdr (assoc (completing-read (format-prompt "%s" first prompt) (append (mapcar #'car choices) skip)
                                 nil t nil nil first)
                choices))))

(defun assent-form--pick-several (prompt choices now)
  "Read any number of CHOICES with PROMPT; they are NOW these."
  (let* ((mark (if (seq-some (lambda (each) (string-search "," (car each))) choices) ";" ","))
         (crm-separator (format "[ \t]*%s[ \t]*" mark))
         (held (seq-filter #'identity (mapcar (lambda (value) (car (rassoc value choices))) now))))
    (vconcat (seq-keep (lambda (label) (cdr (assoc label choices)))
                       (completing-read-multiple (format "%s, separated by “%s”: " prompt mark) choices
                                                 nil t (string-join held mark))))))

(defun assent-form--number (text)
  "TEXT as a number, or as it is where it is none."
  (let ((number (and (string-match-p "\\`[-+]?[0-9]+\\(\\.[0-9]+\\)?\\([eE][-+]?[0-9]+\\)?\\'" text)
                     (string-to-number text))))
    (if (and number (< -1.0e+INF number 1.0e+INF)) number text)))

(defun assent-form--value (prompt field now required)
  "Read the value of FIELD with PROMPT; it is NOW this.  Nil: it stays empty.
Only what is not REQUIRED may stay so."
  (let ((choices (assent-form--choices field)))
    (cond
     ((equal (plist-get field :type) "array")
      (let ((chosen (assent-form--pick-several prompt (assent-form--choices (plist-get field :items)) now)))
        (when (or required (> (length chosen) 0)) chosen)))
     (choices (assent-form--pick prompt choices now required))
     (t (let ((typed (read-string (concat prompt ": ") (when (or (stringp now) (numberp now)) (format "%s" now)))))
          (cond ((string-empty-p typed) nil)
                ((member (plist-get field :type) '("integer" "number")) (assent-form--number (string-trim typed)))
                (t typed)))))))

(defun assent-form-read (schema &optional given problems)
  "Read the fields of the form that SCHEMA describes; return a property list.
After a refusal PROBLEMS says what is wrong by field: only these are
asked again, and the rest of what was GIVEN is kept."
  (let ((required (append (plist-get schema :required) nil)))
    (cl-loop
     for (key field) on (plist-get schema :properties) by #'cddr
     for name = (substring (symbol-name key) 1)
     for problem = (plist-get problems key)
     for now = (plist-get (if problems given (list key (plist-get field :default))) key)
     for value = (if (and problems (not problem)) now
                   (let ((needed (and (member name required) t)))
                     (assent-form--value (assent-form--prompt name field needed problem) field now needed)))
     when value nconc (list key value))))

(provide 'assent-form)
;;; assent-form.el ends here
