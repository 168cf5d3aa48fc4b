" Syntax of NESL: the words and symbols of neslc/lexemes.def.
if exists('b:current_syntax')
  finish
endif
syntax case ignore

syntax match neslName /\<[a-z_][a-z0-9_]*\>/
syntax match neslNumber /\<[0-9][0-9_]*\(\.[0-9]*\)\=\(e[-+]\=[0-9]\+\)\=\>\=\|\.[0-9]\+\(e[-+]\=[0-9]\+\)\=/
syntax match neslField /\.\s*[a-z_][a-z0-9_]*/
syntax match neslNumber /\<0x[0-9a-f_]\+\>/
syntax match neslOperator /[-+*\/^<>=#@|]\|:=\|=>\|->\|<-\|++\|==\|\/=\|<=\|>=\|||/
syntax match neslStatement /\<loop\>\(\_s\+[a-z_][a-z0-9_, ]*\(:[^=]*\)\==\|\_s*([^=]*)\_s*=\(=\)\@!\)\@=/
syntax match neslStatement /\<\(while\|do\)\>\(\_s*[(;,:)=]\)\@!/
syntax keyword neslConditional if then else
syntax keyword neslStatement let in time
syntax keyword neslDefinition function datatype import
syntax keyword neslWordOperator and or nand nor xor not
syntax keyword neslConstant t f
syntax match neslType /\<\(int\|float\|bool\|char\|stream\)\>\(\s*(\)\@!/
syntax match neslClass /\(\<in\s\+\)\@<=\(any\|number\|ordinal\|logical\|scalar\)\>/
syntax match neslCommand /^\s*\(help\|exit\|quit\|describe\|apropos\|set\|show\|load\|dump\|edit\|shell\|cost\|profile\|trace\)\>\(\s*;\|\s\+[a-z_"#{]\)\@=/

syntax match neslCharacter /`\_./
syntax match neslEscape /\\./ contained
syntax region neslString start=/"/ skip=/\\./ end=/"/ contains=neslEscape
syntax region neslComment start=/%/ end=/%/
syntax region neslExpectation start=/%=/ end=/%/
syntax match neslLineComment /\/\/.*$/
syntax match neslScript /\%^#!.*/

highlight default link neslNumber Number
highlight default link neslOperator Operator
highlight default link neslConditional Conditional
highlight default link neslStatement Statement
highlight default link neslDefinition Structure
highlight default link neslWordOperator Operator
highlight default link neslConstant Boolean
highlight default link neslType Type
highlight default link neslClass Type
highlight default link neslCommand PreProc
highlight default link neslCharacter Character
highlight default link neslEscape SpecialChar
highlight default link neslString String
highlight default link neslComment Comment
highlight default link neslLineComment Comment
highlight default link neslExpectation SpecialComment
highlight default link neslScript PreProc

let b:current_syntax = 'nesl'
