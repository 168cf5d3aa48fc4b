autocmd BufNewFile,BufRead *.nesl setfiletype nesl
