import assert from 'node:assert/strict'
import { suite, test } from 'node:test'

import { compileTemplate } from '../../mail/go-template/template.ts'
import { TemplateError } from '../../mail/go-template/template-error.ts'
import { endsInTime } from '../support/runner/bounded.ts'

const variables = {
  Email: 'ada@example.org',
  Token: '123456',
  ConfirmationURL: 'https://a.example/verify?token=1&type=signup',
  RedirectTo: 'https://app.example/?a=1&b=2#c',
  Empty: '',
  Bad: 'javascript:x()',
  Parts: { host: 'https://b.example', path: '/a:b' },
  Data: {
    name: "Ada O'Neil <b>",
    admin: true,
    age: 36,
    zero: 0,
    none: null,
    items: ['a', 'b', 'c'],
    empty: [],
    map: { z: 1, y: 2 },
    rows: [{ n: 'one', tags: ['x', 'y'] }, { n: 'two' }],
    'first name': 'Ada',
    constructor: 'own',
  },
}

const valid: [name: string, source: string, expected: string][] = [
  ['literal text', 'a & b <p>', 'a & b <p>'],
  ['a value', '{{ .Email }}|{{.Email}}', 'ada@example.org|ada@example.org'],
  ['a path', '{{ .Data.map.z }}', '1'],
  ['a boolean and numbers', '{{ .Data.admin }} {{ .Data.age }} {{ .Data.zero }}', 'true 36 0'],
  ['a missing value', '[{{ .Nope }}{{ .Data.nope.deeper }}{{ .Data.none }}]', '[]'],
  ['a list as JSON', '{{ .Data.items }}', '[&#34;a&#34;,&#34;b&#34;,&#34;c&#34;]'],
  ['a value escaped for HTML', '{{ .Data.name }}', 'Ada O&#39;Neil &lt;b&gt;'],
  [
    'a value escaped once with html',
    '{{ html .Data.name }}{{ .Token | html }}',
    'Ada O&#39;Neil &lt;b&gt;123456',
  ],
  ['trimming on the left', 'a \n {{- .Token }} b', 'a123456 b'],
  ['trimming on the right', 'a {{ .Token -}} \n b', 'a 123456b'],
  ['trimming on both sides', 'a {{- .Token -}} b', 'a123456b'],
  ['a comment', 'a {{/* {{ .Email }} */}}b', 'a b'],
  ['a comment with trimming', 'a {{- /* x\ny */ -}} b', 'ab'],
  ['strings', '{{ "}}" }}{{ `a"b` }}{{ "t\\u0041" }}', '}}a&#34;btA'],
  ['Liquid syntax as text', '{% if x %}{{ .Token }}{%- raw -%}', '{% if x %}123456{%- raw -%}'],
  ['if', '{{ if .Data.admin }}yes{{ end }}{{ if .Empty }}no{{ end }}', 'yes'],
  ['if, else', '{{ if .Nope }}a{{ else }}b{{ end }}', 'b'],
  [
    'else if',
    '{{ if .Nope }}a{{ else if .Data.zero }}b{{ else if .Token }}c{{ else }}d{{ end }}',
    'c',
  ],
  [
    'empty values as false',
    '{{ if or .Data.zero .Data.empty .Data.none .Empty false }}a{{ else }}b{{ end }}',
    'b',
  ],
  ['range', '{{ range .Data.items }}({{ . }}){{ end }}', '(a)(b)(c)'],
  [
    'range with the values outside of it',
    '{{ range .Data.items }}{{ . }}{{ $.Token }} {{ end }}',
    'a123456 b123456 c123456 ',
  ],
  ['range with index', '{{ range $i, $e := .Data.items }}{{ $i }}{{ $e }}{{ end }}', '0a1b2c'],
  ['range with one name', '{{ range $e := .Data.items }}{{ $e }}{{ . }}{{ end }}', 'aabbcc'],
  [
    'range over an object, keys sorted',
    '{{ range $k, $v := .Data.map }}{{ $k }}{{ $v }}{{ end }}',
    'y2z1',
  ],
  [
    'range in range',
    '{{ range .Data.rows }}{{ .n }}:{{ range .tags }}{{ . }}{{ else }}-{{ end }};{{ end }}',
    'one:xy;two:-;',
  ],
  ['range over nothing', '{{ range .Nope }}a{{ else }}b{{ end }}', 'b'],
  ['range over a string', '{{ range .Email }}a{{ else }}b{{ end }}', 'b'],
  ['with', '{{ with .Data.map }}{{ .z }}{{ $.Token }}{{ end }}', '1123456'],
  ['with, else', '{{ with .Nope }}a{{ else }}{{ .Token }}{{ end }}', '123456'],
  ['else with', '{{ with .Nope }}a{{ else with .Data.map }}{{ .y }}{{ end }}', '2'],
  ['with a name', '{{ with $m := .Data.map }}{{ $m.z }}{{ .z }}{{ end }}', '11'],
  ['a variable', '{{ $n := .Data.age }}{{ if $n }}{{ $n }}{{ end }}', '36'],
  [
    'a variable limited to its block',
    '{{ $n := 1 }}{{ if .Token }}{{ $n := 2 }}{{ end }}{{ $n }}',
    '1',
  ],
  [
    'a variable assigned in a block',
    '{{ $n := "you" }}{{ if .Token }}{{ $n = .Token }}{{ end }}{{ $n }}',
    '123456',
  ],
  [
    'a variable assigned in a loop',
    '{{ $last := "" }}{{ range .Data.items }}{{ $last = . }}{{ end }}{{ $last }}',
    'c',
  ],
  [
    'a variable declared in a loop once per iteration',
    '{{ range .Data.items }}{{ $n := "-" }}{{ if eq . "b" }}{{ $n = . }}{{ end }}{{ $n }}{{ end }}',
    '-b-',
  ],
  [
    'eq',
    '{{ eq .Token "123456" }} {{ eq .Data.age 36 }} {{ eq .Data.age "36" }} {{ eq .Token "a" "123456" }}',
    'true true false true',
  ],
  ['ne', '{{ ne .Token "1" }}', 'true'],
  [
    'lt, gt, le and ge',
    '{{ lt 1 2 }} {{ gt .Data.age 40 }} {{ le 2 2 }} {{ ge "b" "a" }}',
    'true false true true',
  ],
  [
    'and, or, not',
    '{{ and .Token .Data.admin }} {{ or .Empty "x" }} {{ not .Empty }}',
    'true x true',
  ],
  ['parentheses', '{{ if and (eq .Token "123456") (not (eq .Email "x")) }}a{{ end }}', 'a'],
  ['a path after parentheses', '{{ (index .Data.rows 1).n }}', 'two'],
  ['index', '{{ index .Data "first name" }}{{ index .Data.items 9 }}', 'Ada'],
  ['len', '{{ len .Data.items }}{{ len "abc" }}{{ len .Nope }}', '330'],
  ['a pipeline', '{{ .Empty | not }}{{ .Token | eq "123456" }}', 'truetrue'],
  [
    'own properties of values only',
    '[{{ .Data.map.constructor }}{{ .Data.items.length }}{{ .Email.length }}{{ .Data.map.size }}{{ .Data.items.first }}{{ .__proto__ }}]{{ .Data.constructor }}',
    '[]own',
  ],
]

const places: [name: string, source: string, expected: string][] = [
  [
    'a link',
    '<a href="{{ .ConfirmationURL }}">',
    '<a href="https://a.example/verify?token=1&amp;type=signup">',
  ],
  [
    'a parameter of a link',
    '<a href="https://x/?next={{ .RedirectTo }}">',
    '<a href="https://x/?next=https%3A%2F%2Fapp.example%2F%3Fa%3D1%26b%3D2%23c">',
  ],
  [
    'a parameter encoded with urlquery',
    '<a href="https://x/?next={{ urlquery .RedirectTo }}">',
    '<a href="https://x/?next=https%3A%2F%2Fapp.example%2F%3Fa%3D1%26b%3D2%23c">',
  ],
  [
    'a parameter appended to a link',
    '<a href="{{ .ConfirmationURL }}&l={{ .RedirectTo }}">',
    '<a href="https://a.example/verify?token=1&amp;type=signup&l=https%3A%2F%2Fapp.example%2F%3Fa%3D1%26b%3D2%23c">',
  ],
  [
    'an attribute in quotes',
    "<p title='{{ .Data.name }}'>{{ .Data.name }}",
    "<p title='Ada O&#39;Neil &lt;b&gt;'>Ada O&#39;Neil &lt;b&gt;",
  ],
  [
    'an attribute without quotes',
    '<p title={{ .Data.name }}>',
    '<p title=Ada&#32;O&#39;Neil&#32;&lt;b&gt;>',
  ],
  ['text after a script', '<script>a < b</script>{{ .Token }}', '<script>a < b</script>123456'],
  [
    'text after a style',
    '<style>a{b:"<p>"}</style><p class="x">{{ .Token }}',
    '<style>a{b:"<p>"}</style><p class="x">123456',
  ],
  [
    'a link in a condition',
    '<a href="{{ if .Nope }}{{ .Nope }}{{ else }}{{ .ConfirmationURL }}{{ end }}">',
    '<a href="https://a.example/verify?token=1&amp;type=signup">',
  ],
  [
    'a link from two values',
    '<a href="{{ .Parts.host }}{{ .Parts.path }}"><a href="{{ .Parts.host }}/{{ .Parts.path }}">',
    '<a href="https://b.example/a:b"><a href="https://b.example//a:b">',
  ],
  [
    'an attribute in a condition',
    '<a {{ if .Token }}title="{{ .Token }}"{{ end }} href="{{ .Parts.host }}">',
    '<a title="123456" href="https://b.example">',
  ],
  [
    'a parameter in a condition',
    '<a href="https://x/{{ if .Token }}?t={{ .Token }}{{ end }}">{{ .Token }}</a>',
    '<a href="https://x/?t=123456">123456</a>',
  ],
  [
    'tags in conditions and loops',
    '{{ if .Nope }}<p class="a">{{ else }}<p>{{ end }}{{ range .Data.items }}<b>{{ . }}</b>{{ end }}</p>',
    '<p><b>a</b><b>b</b><b>c</b></p>',
  ],
  [
    'text after a comment with tags and quotes',
    '<!-- a <style> in the "head" is <b title="lost --><p>{{ .Token }}</p>',
    '<!-- a <style> in the "head" is <b title="lost --><p>123456</p>',
  ],
  [
    'a link after an empty or malformed comment',
    `${['<!-->', '<!--->', '<!-- x --!>', '<!-- x --->'].map((comment) => `${comment}<a href="{{ .Bad }}">`).join('')}`,
    '<!--><a href="#"><!---><a href="#"><!-- x --!><a href="#"><!-- x ---><a href="#">',
  ],
  ['a value in a comment as empty', 'a<!-- {{ .Data.name }} -->b', 'a<!--  -->b'],
  [
    'conditional comments for Outlook',
    '<!--[if mso]><v:rect href="{{ .Bad }}" title={{ .Data.name }}><![endif]--><!--[if !mso]><!--><a href="{{ .Bad }}"><!--<![endif]-->',
    '<!--[if mso]><v:rect href="#" title=Ada&#32;O&#39;Neil&#32;&lt;b&gt;><![endif]--><!--[if !mso]><!--><a href="#"><!--<![endif]-->',
  ],
  ['text with unescaped signs', 'a < b & "c {{ .Token }}', 'a < b & "c 123456'],
]

const broken: [name: string, source: string, line: number, problem: RegExp][] = [
  ['an unclosed action', 'a\nb {{ .Email\n', 2, /not closed/],
  ['an unclosed string', '{{ eq .Email "x }}', 1, /not closed/],
  ['an unclosed comment', '\n{{/* x }}', 2, /not closed/],
  ['an if without an end', 'a\n{{ if .Email }}\nx\n', 2, /no \{\{ end \}\}/],
  ['an inner if without an end', '{{ if .A }}\n{{ range .B }}\n{{ end }}', 1, /no \{\{ end \}\}/],
  ['an end without a block', 'a\n\n{{ end }}', 3, /closes nothing/],
  ['an else without a block', '{{ else }}', 1, /closes nothing/],
  ['a second else', '{{ if .A }}\n{{ else }}\n{{ else }}{{ end }}', 3, /second/],
  ['an empty action', '\n{{ }}', 2, /empty/],
  ['if without a condition', '{{ if }}{{ end }}', 1, /missing/],
  ['an unknown function', '{{ upper .Email }}', 1, /"upper" is not supported/],
  ['a name without a dot', '{{ Email }}', 1, /"Email" is not supported/],
  ['a missing argument', '\n\n{{ eq .Email }}', 3, /"eq" does not take 1/],
  ['two values in one action', '{{ .Email .Token }}', 1, /not expected/],
  ['an unknown character', '{{ .Email ? }}', 1, /not understood/],
  ['an unclosed parenthesis', '{{ if (eq .A .B }}{{ end }}', 1, /parenthesis/],
  ['an undeclared variable', '\n{{ $x }}', 2, /\$x is not declared/],
  ['a variable of another block', '{{ if .A }}{{ $x := 1 }}{{ end }}\n{{ $x }}', 2, /not declared/],
  ['an assignment to an undeclared variable', '{{ $x = 1 }}', 1, /\$x is not declared/],
  [
    'an assignment in a condition',
    '{{ $x := 1 }}\n{{ if $x = 2 }}{{ end }}',
    2,
    /= is not allowed in/,
  ],
  ['an assignment to $', '{{ $ = 1 }}', 1, /cannot be declared/],
  ['a branch that opens a comment', '{{ if .A }}<!-- {{ end }}x', 1, /branches end/],
  ['the define action', '{{ define "x" }}{{ end }}', 1, /define .*not supported/],
  ['the template action', '{{ template "x" }}', 1, /not supported/],
  ['constructor as a function', '{{ constructor .A }}', 1, /not supported/],
  ['an end with an argument', '{{ if .A }}{{ end .B }}', 1, /does not take/],
  ['a value in a script', '<script>\nvar a = "{{ .Email }}"</script>', 2, /script/],
  ['a value in a style sheet', '<style>p{color:{{ .Data.c }}}</style>', 1, /style/],
  ['a value in a style', '<p style="color:{{ .Data.c }}">', 1, /style/],
  ['a value in an event handler', '<p onclick="f({{ .Data.c }})">', 1, /script/],
  ['a value as a tag name', '<{{ .Data.c }}>', 1, /tag/],
  ['a value as an end tag name', '</{{ .Data.c }}>', 1, /tag/],
  ['a value as an attribute name', '<p {{ .Data.c }}>', 1, /tag/],
  ['a value in srcdoc', '<iframe srcdoc="{{ .Data.c }}">', 1, /style/],
  ['a second value in a link without quotes', '<a href={{ .A }}{{ .B }}>', 1, /unquoted/],
  [
    'branches that end in different attributes',
    '<a\n{{ if .A }}href="{{ else }}title="{{ end }}{{ .B }}">',
    2,
    /branches end/,
  ],
  ['a branch that opens a script', '{{ if .A }}<script>{{ end }}{{ .B }}', 1, /branches end/],
  ['a branch that leaves an attribute', '<a href="{{ if .A }}">{{ end }}x">', 1, /branches end/],
  ['a loop that opens a tag', '{{ range .A }}<p {{ end }}>', 1, /branches end/],
  ['too many parentheses', `{{ ${'('.repeat(60)} }}`, 1, /deep/],
  ['too many blocks', '{{ if .A }}'.repeat(60), 1, /deep/],
]

const attacks = {
  'template syntax': '{{ .Token }}{% assign a = 1 %}{{ "x" | upcase }}',
  'a tag': '</p><script>alert(1)</script>',
  'an attribute': '" onmouseover="alert(1)',
  'an entity': '&quot; &#34; &lt;',
  "the renderer's own names": 'root k0 t1',
}

suite('Go templates', () => {
  for (const [name, source, expected] of [...valid, ...places]) {
    test(`renders ${name}`, () => {
      assert.equal(compileTemplate(source, 'html').render(variables), expected)
    })
  }

  for (const [name, source, line, problem] of broken) {
    test(`rejects ${name}`, () => {
      assert.throws(
        () => compileTemplate(source, 'html'),
        (error) => {
          assert.ok(error instanceof TemplateError, String(error))
          assert.equal(error.line, line)
          assert.match(error.message, problem)
          return true
        },
      )
    })
  }

  for (const [name, value] of Object.entries(attacks)) {
    test(`does not interpret ${name} in a value`, () => {
      const template = compileTemplate('<p title="{{ .Data.x }}">{{ .Data.x }}</p>', 'html')

      const html = template.render({ Data: { x: value } })

      const escaped = value
        .replaceAll('&', '&amp;')
        .replaceAll('<', '&lt;')
        .replaceAll('>', '&gt;')
        .replaceAll('"', '&#34;')
      assert.equal(html, `<p title="${escaped}">${escaped}</p>`)
    })
  }

  for (const scheme of [
    'javascript:',
    ' JavaScript:',
    'java\nscript:',
    '\u0001javascript:',
    'data:text/html,',
    'vbscript:',
  ]) {
    test(`replaces a link that starts with ${JSON.stringify(scheme)}`, () => {
      const template = compileTemplate('<a href="{{ .X }}"><a href={{ .X }}>', 'html')

      assert.equal(template.render({ X: `${scheme}x` }), '<a href="#"><a href=#>')
    })
  }

  for (const attribute of ['src', 'action', 'formaction', 'xlink:href', 'data']) {
    test(`replaces a script URL in ${attribute}`, () => {
      const template = compileTemplate(`<x ${attribute}="{{ .X }}">`, 'html')

      assert.equal(template.render({ X: 'javascript:x()' }), `<x ${attribute}="#">`)
    })
  }

  const inParts = {
    'two values': '<a href="{{ .A }}{{ .B }}">',
    'two template variables': '<a href="{{ $a := .A }}{{ $a }}{{ .B }}">',
    'an untaken branch': '<a href="{{ if .No }}https://x/{{ end }}{{ .A }}{{ .B }}">',
    'a taken branch': '<a href="{{ if .A }}{{ .A }}{{ end }}{{ .B }}">',
    'a loop': '<a href="{{ range .L }}{{ . }}{{ end }}">',
    'leading blanks': '<a href=" {{ .A }}{{ .B }}">',
  }
  for (const [name, source] of Object.entries(inParts)) {
    test(`replaces a script URL assembled by ${name}`, () => {
      for (const [a, b] of [
        ['java', 'script:x()'],
        ['', 'javascript:x()'],
        ['javascript:', 'x()'],
      ]) {
        const html = compileTemplate(source, 'html').render({ A: a, B: b, L: [a, b] })

        assert.doesNotMatch(html, /"\s*javascript:/, source)
      }
    })
  }

  test('escapes nothing in text mode', () => {
    const template = compileTemplate('{{ .Data.name }} <a href="{{ .ConfirmationURL }}">', 'text')

    assert.equal(
      template.render(variables),
      `Ada O'Neil <b> <a href="${variables.ConfirmationURL}">`,
    )
  })

  test('stops unbounded output and names the line', () => {
    const loop = '{{ range $.L }}'.repeat(4)
    const template = compileTemplate(
      `a\n${loop}\nxxxxxxxxxxxxxxxx{{ end }}{{ end }}{{ end }}{{ end }}`,
      'html',
    )

    assert.throws(
      () => template.render({ L: Array.from({ length: 100 }, () => 'x') }),
      (error) =>
        error instanceof TemplateError && error.line >= 2 && /too large/.test(error.message),
    )
  })

  test('stops a loop without output', () => {
    const template = compileTemplate(
      '{{ range .L }}{{ range $.L }}{{ if . }}{{ end }}{{ end }}{{ end }}',
      'html',
    )

    // Without a limit it would run ten billion iterations.
    assert.throws(
      () => template.render({ L: Array.from({ length: 100_000 }, () => 0) }),
      TemplateError,
    )
  })

  test('parses a long template with many errors in linear time', () =>
    endsInTime(() => {
      compileTemplate(`${' '.repeat(500_000)}{{- .A }}${'<a href="'.repeat(50_000)}`, 'html')
      assert.throws(() => compileTemplate(`{{ ${'a'.repeat(500_000)}`, 'html'), TemplateError)
    }))
})
