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

;;;###autoload
(define-derived-mode nesl-mode prog-mode "NESL"
  "Major mode for programs in NESL."
  (setq-local font-lock-defaults '(nesl-font-lock-keywords nil t))
  (setq-local syntax-propertize-function nesl-syntax-propertize)
  (setq-local comment-start "% ")
  (setq-local comment-end " %")
  (setq-local indent-tabs-mode nil)
  (setq-local tab-width 2))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.nesl\\'" . nesl-mode))

;;;###autoload
(defun run-nesl ()
  "Show the prompt of NESL, and start it if it does not run."
  (interactive)
  (pop-to-buffer (make-comint "nesl" nesl-program))
  (setq-local comint-prompt-regexp "^\\(<Nesl> \\|> \\)"))

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
