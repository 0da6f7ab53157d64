"""File types by name, for searches without ripgrep: the common ones, under the names ripgrep gives them."""

_TYPES = """
bazel: *.bazel *.bzl BUILD WORKSPACE
c: *.c *.h
clojure: *.clj *.cljc *.cljs
cmake: *.cmake CMakeLists.txt
cpp: *.C *.H *.c++ *.cc *.cpp *.cxx *.h *.hh *.hpp *.hxx *.inl
cs: *.cs
css: *.css *.scss
csv: *.csv
dart: *.dart
docker: *Dockerfile*
elixir: *.ex *.exs *.eex *.heex *.leex *.livemd
elm: *.elm
erlang: *.erl *.hrl
fish: *.fish
fsharp: *.fs *.fsi *.fsx
go: *.go
gradle: *.gradle *.gradle.kts gradle.properties gradle-wrapper.* gradlew gradlew.bat
graphql: *.graphql *.graphqls
groovy: *.gradle *.groovy
haskell: *.hs *.lhs *.c2hs *.cpphs *.hs-boot
html: *.htm *.html *.ejs
java: *.java *.jsp *.jspx *.properties
js: *.js *.jsx *.vue *.cjs *.mjs
json: *.json *.sarif composer.lock
jupyter: *.ipynb *.jpynb
kotlin: *.kt *.kts
less: *.less
lua: *.lua
markdown: *.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn
md: *.markdown *.md *.mdown *.mdwn *.mdx *.mkd *.mkdn
nix: *.nix
objc: *.h *.m
ocaml: *.ml *.mli *.mll *.mly
perl: *.perl *.pl *.PL *.plh *.plx *.pm *.t
php: *.php *.php3 *.php4 *.php5 *.php7 *.php8 *.pht *.phtml
protobuf: *.proto
ps: *.cdxml *.ps1 *.ps1xml *.psd1 *.psm1
py: *.py *.pyi
python: *.py *.pyi
r: *.R *.r *.Rmd *.rmd *.Rnw *.rnw
rst: *.rst
ruby: *.rb *.rbw *.gemspec *.rake .irbrc Gemfile Rakefile config.ru
rust: *.rs
sass: *.sass *.scss
scala: *.scala *.sbt
sql: *.sql *.psql
svelte: *.svelte *.svelte.ts
swift: *.swift
tex: *.tex *.ltx *.cls *.sty *.bib *.dtx *.ins
tf: *.tf *.tf.json *.tfvars *.tfvars.json *.auto.tfvars *.auto.tfvars.json .terraformrc *.tfrc terraform.rc
toml: *.toml Cargo.lock
ts: *.ts *.tsx *.cts *.mts
txt: *.txt
typescript: *.ts *.tsx *.cts *.mts
vim: *.vim .vimrc .gvimrc vimrc gvimrc _vimrc _gvimrc
vue: *.vue
xml: *.xml *.xsd *.xsl *.xslt *.xjb *.rng *.sch *.dtd *.xml.dist *.xhtml
yaml: *.yaml *.yml
zig: *.zig
"""

FILE_TYPES: dict[str, tuple[str, ...]] = {
    name: tuple(globs.split()) for name, _, globs in (line.partition(": ") for line in _TYPES.strip().splitlines())
}
