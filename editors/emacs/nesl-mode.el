;;; nesl-mode.el --- NESL: highlighting, and a prompt within Emacs  -*- lexical-binding: t -*-

;; (add-to-list 'load-path "DIRECTORY") and (require 'nesl-mode) in the init file. In a buffer with a
;; program: C-c C-z opens the prompt, C-c C-l loads the file there, C-c C-r evaluates the region, and
;; C-c C-c the paragraph around the cursor.

;;; Code:

(require 'comint)

(defgroup nesl nil "NESL programs." :group 'languages)

(defcustom nesl-program "nesl" "The command that is the prompt." :type 'string :group 'nesl)

(defconst nesl-font-lock-keywords
  `(("\\_<\\(function\\|datatype\\)\\_>\\s-+\\([[:alpha:]_][[:alnum:]_]*\\)"
     (1 font-lock-keyword-face) (2 font-lock-function-name-face))
    ("\\.\\s-*\\([[:alpha:]_][[:alnum:]_]*\\)" 1 'default) ; a field, whatever its name
    (,(regexp-opt '("if" "then" "else" "let" "in" "time" "function" "datatype" "import"
                    "and" "or" "nand" "nor" "xor" "not") 'symbols)
     . font-lock-keyword-face)
    ("\\_<\\(loop\\)\\(?:\\s-+[[:alpha:]_][[:alnum:]_, ]*\\|\\s-*([^=]*)\\)\\s-*\\(?::[^=]*\\)?=\\(?:[^=]\\|$\\)"
     1 font-lock-keyword-face)
    ("\\_<\\(while\\|do\\)\\_>\\s-*\\(?:[^(;,:)= \t]\\|$\\)" 1 font-lock-keyword-face)
    (,(concat "^\\s-*" (regexp-opt '("help" "exit" "quit" "describe" "apropos" "set" "show" "load"
                                     "dump" "edit" "shell" "cost" "profile" "trace") t)
              "\\(?:\\s-*;\\|\\s-+[[:alpha:]_\"#{]\\)")
     1 font-lock-preprocessor-face)
    ("\\_<[tf]\\_>" . font-lock-constant-face)
    ("\\_<\\(int\\|float\\|bool\\|char\\|stream\\)\\_>\\s-*\\(?:[^(]\\|$\\)" 1 font-lock-type-face)
    ("\\_<in\\s-+\\(any\\|number\\|ordinal\\|logical\\|scalar\\)\\_>" 1 font-lock-type-face)
    ("`\\(?:.\\|\n\\)" . font-lock-string-face)
    ("\\`#!.*" . font-lock-preprocessor-face))
  "The words of NESL, by kind.")

(defvar nesl-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?_ "w" table)
    (modify-syntax-entry ?% "!" table) ; begins and ends comments
    (modify-syntax-entry ?\" "\"" table)
    (modify-syntax-entry ?\\ "\\" table)
    (modify-syntax-entry ?' "." table)
    (modify-syntax-entry ?` "." table)
    (dolist (operator '(?+ ?- ?* ?^ ?< ?> ?= ?# ?@ ?| ?: ?$))
      (modify-syntax-entry operator "." table))
    table))

;; What follows a backquote means itself; // begins a comment to the end of the line.
(defconst nesl-syntax-propertize
  (syntax-propertize-rules
   ("`\\(.\\)" (1 (unless (nth 8 (save-excursion (syntax-ppss (match-beginning 0))))
                    (string-to-syntax "."))))
   ("\\(/\\)/" (1 (unless (nth 8 (save-excursion (syntax-ppss (match-beginning 0))))
                    (string-to-syntax "< b"))))
   ("\\(\n\\)" (1 (string-to-syntax "> b")))))

;; Indentation. What is open where a line begins is a list, innermost first, of (KIND COLUMN CONTENTS):
;; a bracket, `let', `if', or `body', what stands behind `in' or `else'; contents begin in that column.

(defun nesl--form-start ()
  "Go back to the beginning of the form: a line that begins in the first column."
  (while (and (zerop (forward-line -1))
              (or (looking-at "[ \t\n]\\|//") (nth 8 (syntax-ppss)) (eq (char-after) ?%))))
  (when (looking-at "#!") (forward-line)))

(defun nesl--bracket ()
  "The bracket before the cursor: its contents are aligned with what follows it."
  (let ((column (1- (current-column))))
    (skip-chars-forward " \t")
    (list 'bracket column (if (eolp) (+ 2 (current-indentation)) (current-column)))))

(defun nesl--within (kind open)
  "OPEN from its innermost KIND on; nil if a bracket is between."
  (while (and open (not (memq (caar open) (list kind 'bracket)))) (setq open (cdr open)))
  (and (eq (caar open) kind) open))

(defun nesl--behind-word (word column open before)
  "What is open behind WORD, which begins in COLUMN behind BEFORE, with OPEN before it."
  (let ((outer (nesl--within (cdr (assoc word '(("in" . let) ("else" . if)))) open)))
    (when (and (equal word "if") (equal before "else")) ; the next `else' stands below this one
      (setq column (nth 1 (car open)) open (cdr open)))
    (cond ((equal word "let") (cons (list 'let column (+ 4 column)) open))
          ((equal word "if") (cons (list 'if column (+ 2 column)) open))
          ((null outer) open)
          (t (let ((from (nth 1 (car outer))))
               (cons (list 'body from (+ from (if (equal word "in") 3 2))) (cdr outer)))))))

(defun nesl--behind-mark (mark open)
  "What is open behind MARK, a semicolon or a closing bracket, with OPEN before it."
  (while (and open (not (eq (caar open) 'bracket)) (not (and (eq mark ?\;) (eq (caar open) 'let))))
    (setq open (cdr open)))
  (if (eq mark ?\;) open (cdr open)))

(defun nesl--open-at (end)
  "What is open at END, from the cursor on, and whether a semicolon stands directly before it."
  (let ((ended t) open before)
    (while (progn (forward-comment (buffer-size)) (< (point) end))
      (let ((column (current-column)) (mark (char-after)))
        (setq ended (eq mark ?\;))
        (unless (looking-at "[[:alpha:]_]") (setq before nil))
        (cond ((looking-at "[[:alpha:]_][[:alnum:]_]*")
               (goto-char (match-end 0))
               (let ((word (downcase (match-string 0))))
                 (setq open (nesl--behind-word word column open before) before word)))
              ((eq mark ?`) (forward-char 2))
              ((eq mark ?\") (or (ignore-errors (forward-sexp) t) (goto-char end)))
              (t (forward-char)
                 (cond ((memq mark '(?\( ?\[ ?{)) (save-excursion (push (nesl--bracket) open)))
                       ((memq mark '(?\) ?\] ?} ?\;)) (setq open (nesl--behind-mark mark open))))))))
    (cons ended open)))

(defun nesl--column ()
  "The column of the line in which the cursor is at the first character."
  (let* ((end (point))
         (found (save-excursion (nesl--form-start) (nesl--open-at end)))
         (ended (car found)) (open (cdr found)) (innermost (car open))
         (word (and (looking-at "in\\_>\\|then\\_>\\|else\\_>")
                    (nesl--within (if (looking-at "in") 'let 'if) open))))
    (cond (word (nth 1 (car word)))
          ((null innermost) (if ended 0 2))
          ((looking-at "[])}]") (nth 1 (or (assq 'bracket open) innermost)))
          ((and (eq (car innermost) 'let) (not ended)) (+ 2 (nth 2 innermost)))
          (t (nth 2 innermost)))))

(defun nesl-indent-line ()
  "Indent the line."
  (interactive)
  (let ((column (save-excursion
                  (back-to-indentation)
                  (unless (nth 8 (syntax-ppss)) (nesl--column)))))
    (when column
      (if (<= (current-column) (current-indentation)) (indent-line-to column)
        (save-excursion (indent-line-to column))))))

;;;###autoload
(define-derived-mode nesl-mode prog-mode "NESL"
  "Major mode for programs in NESL."
  (setq-local font-lock-defaults '(nesl-font-lock-keywords nil t))
  (setq-local syntax-propertize-function nesl-syntax-propertize)
  (setq-local comment-start "% ")
  (setq-local comment-end " %")
  (setq-local indent-tabs-mode nil)
  (setq-local indent-line-function #'nesl-indent-line)
  (setq-local tab-width 2))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.nesl\\'" . nesl-mode))

;;;###autoload
(defun run-nesl ()
  "Show the prompt of NESL, and start it if it does not run."
  (interactive)
  (pop-to-buffer (make-comint "nesl" nesl-program))
  (setq-local comint-prompt-regexp "^\\(<Nesl> \\|\\(?:in\\|[])}\"%]\\)?> \\)"))

(defun nesl-send (text)
  "Give TEXT to the prompt."
  (save-selected-window (run-nesl))
  (comint-send-string (get-buffer-process "*nesl*") (concat text "\n")))

(defun nesl-send-region (start end)
  "Evaluate the forms between START and END."
  (interactive "r")
  (nesl-send (buffer-substring-no-properties start end)))

(defun nesl-send-paragraph ()
  "Evaluate the forms around the cursor, up to empty lines."
  (interactive)
  (save-excursion
    (let ((end (progn (forward-paragraph) (point))))
      (backward-paragraph)
      (nesl-send-region (point) end))))

(defun nesl-load-file ()
  "Load the file of this buffer."
  (interactive)
  (save-buffer)
  (nesl-send (format "load \"%s\";" (replace-regexp-in-string "[\\\"]" "\\\\\\&" buffer-file-name))))

(define-key nesl-mode-map (kbd "C-c C-z") #'run-nesl)
(define-key nesl-mode-map (kbd "C-c C-l") #'nesl-load-file)
(define-key nesl-mode-map (kbd "C-c C-r") #'nesl-send-region)
(define-key nesl-mode-map (kbd "C-c C-c") #'nesl-send-paragraph)

(provide 'nesl-mode)
;;; nesl-mode.el ends here
